#include "exec/backend/philox.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace gt::exec::philox {
namespace {

std::array<uint32_t, 4> words_of(Words counter, uint32_t key0, uint32_t key1) {
  return std::to_array(block(counter, key0, key1).at);
}

// The answers are from Random123's kat_vectors, philox4x32 of 10 rounds.
TEST(Philox, GivesThePublishedAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(words_of({}, 0, 0),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(words_of({{ones, ones, ones, ones}}, ones, ones),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words_of({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                     0xa4093822, 0x299f31d0),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformStaysBelowOne) {
  EXPECT_EQ(uniform(0, 53), 0.0);
  for (const int digits : {8, 11, 24, 53}) {
    const double most = uniform(~uint64_t{0}, digits);
    EXPECT_EQ(most, 1 - std::ldexp(1.0, -digits));
  }
}

// The bounds are a few units in the last place of the C library's results.
TEST(Philox, LogarithmAndCircleAreAccurate) {
  for (uint64_t i = 0; i < 100000; ++i) {
    const double u = 1 - uniform(word(3, i), 53);
    const double log = std::log(u);
    EXPECT_NEAR(log_unit(u), log, 5e-16 * std::abs(log) + 1e-300) << u;
    const Circle c = circle(u < 1 ? u : 0);
    const double angle = u < 1 ? u * 6.28318530717958647692 : 0;
    EXPECT_NEAR(c.cos, std::cos(angle), 1e-15) << u;
    EXPECT_NEAR(c.sin, std::sin(angle), 1e-15) << u;
  }
  EXPECT_EQ(log_unit(1.0), 0.0);
  EXPECT_NEAR(log_unit(0x1p-53), std::log(0x1p-53), 1e-14);
  EXPECT_EQ(circle(0.25).sin, 1.0);
  EXPECT_EQ(circle(0.5).cos, -1.0);
}

TEST(Philox, NormalHasTheMomentsOfANormal) {
  constexpr int kBlocks = 200000;
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  for (uint64_t b = 0; b < kBlocks; ++b) {
    const Circle z = normal(pair(7, b));
    for (const double x : {z.cos, z.sin}) {
      ASSERT_TRUE(std::isfinite(x));
      sum += x;
      squares += x * x;
      fourths += x * x * x * x;
    }
  }
  const double n = 2 * kBlocks;
  EXPECT_NEAR(sum / n, 0, 0.005);
  EXPECT_NEAR(squares / n, 1, 0.01);
  EXPECT_NEAR(fourths / n, 3, 0.06);
}

}  // namespace
}  // namespace gt::exec::philox
