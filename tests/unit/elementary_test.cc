// Compares the elementary functions in the cpu backend's loops with the C
// library's functions in a wider type, in units in the last place. GT_EVERY=1
// takes every f32.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "exec/backend/backend.h"
#include "exec/backend/cpu/cpu.h"

namespace gt::exec {
namespace {

struct Function {
  const char* op;
  double most32, most64;  // units by which a result may be off
  double (*wide32)(double x);
  long double (*wide64)(long double x);
};

#define GT_WIDE(name)                    \
  [](double x) { return std::name(x); }, \
      [](long double x) { return std::name(x); }
constexpr Function kFunctions[] = {
    {"exp", 1, 1, GT_WIDE(exp)},     {"log", 1, 1, GT_WIDE(log)},
    {"sin", 1, 1, GT_WIDE(sin)},     {"cos", 1, 1, GT_WIDE(cos)},
    {"log1p", 1, 1, GT_WIDE(log1p)}, {"expm1", 2, 2, GT_WIDE(expm1)},
    {"tanh", 1, 2.5, GT_WIDE(tanh)}, {"erf", 1, 3, GT_WIDE(erf)},
    {"erfc", 6, 4, GT_WIDE(erfc)},
};
#undef GT_WIDE

// The loops of the instruction sets with fma that this machine has.
std::vector<const cpu::Loops*> loops_with_fma() {
  std::vector<const cpu::Loops*> found;
  for (const auto& [isa, loops] :
       {std::pair{"avx2", &cpu::avx2_loops}, {"avx512", &cpu::avx512_loops}}) {
    BackendOptions options;
    options.isa = isa;
    if (make_cpu_backend(options).ok()) found.push_back(&loops());
  }
  return found;
}

template <typename T>
cpu::Loop loop_of(const cpu::Loops& loops, const char* op) {
  for (size_t i = 0; i < loops.pointwise_count; ++i) {
    const cpu::PointwiseRow& row = loops.pointwise[i];
    if (std::strcmp(row.op, op) == 0) {
      return sizeof(T) == sizeof(float) ? row.f32 : row.f64;
    }
  }
  return nullptr;
}

// How far y is from the value, in units in the last place of the value as a T.
template <typename T, typename W>
double units(T y, W value) {
  const T rounded = static_cast<T>(value);
  if (std::isnan(rounded) || std::isnan(y)) {
    return std::isnan(rounded) && std::isnan(y) ? 0 : INFINITY;
  }
  if (std::signbit(rounded) != std::signbit(y)) return INFINITY;
  if (y == rounded && std::isinf(y)) return 0;
  using Limits = std::numeric_limits<T>;
  if (std::isinf(y)) y = Limits::max();  // inf counts as the largest
  if (std::isinf(value)) return INFINITY;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int least = Limits::min_exponent - Limits::digits;
  const W unit = std::ldexp(W{1}, std::max(exponent - Limits::digits, least));
  return static_cast<double>(std::abs(static_cast<W>(y) - value) / unit);
}

constexpr size_t kBlock = 4096;

// Zero, the ends of the subnormal and the normal numbers, and what is not
// finite.
template <typename T>
std::vector<T> ends() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x = {0,
                      Limits::denorm_min(),
                      std::nextafter(Limits::min(), T{0}),
                      Limits::min(),
                      Limits::max(),
                      Limits::infinity(),
                      Limits::quiet_NaN()};
  for (size_t i = 0; i < 7; ++i) x.push_back(-x[i]);
  x.resize(kBlock);
  return x;
}

// Checks the largest error over the ends, and over blocks that `next` fills
// until it returns false.
template <typename T, typename W, typename Next>
void check(const Function& f, W (*wide)(W), double most, const Next& next) {
  const auto all = loops_with_fma();
  if (all.empty()) GTEST_SKIP() << "this machine has no fma";
  std::vector<T> x = ends<T>(), y(kBlock), first(kBlock);
  double worst = 0;
  T where = 0;
  do {
    for (const cpu::Loops* loops : all) {
      const void* in[] = {x.data()};
      const bool repeat[] = {false};
      loop_of<T>(*loops, f.op)(in, repeat, y.data(), kBlock);
      if (loops != all[0]) continue;
      first = y;
      for (size_t i = 0; i < kBlock; ++i) {
        const double off = units(y[i], wide(static_cast<W>(x[i])));
        if (off > worst) worst = off, where = x[i];
      }
    }
    if (sizeof(T) == sizeof(float)) {
      for (size_t i = 0; i < kBlock; ++i) {
        const bool same =
            y[i] == first[i] || (std::isnan(y[i]) && std::isnan(first[i]));
        ASSERT_TRUE(same) << f.op << " " << x[i]
                          << " depends on the instruction set";
      }
    }
  } while (next(x));
  EXPECT_LE(worst, most) << f.op << " of " << where;
  testing::Test::RecordProperty(f.op, std::to_string(worst));
}

TEST(Elementary, F32IsWithinItsUnitsAndOneOnAllSetsWithFma) {
  const uint64_t step = std::getenv("GT_EVERY") != nullptr ? 1 : 4099;
  for (const Function& f : kFunctions) {
    uint64_t at = 0;
    check<float>(f, f.wide32, f.most32, [&](std::vector<float>& x) {
      if (at >> 32 != 0) return false;
      for (float& value : x) {
        const auto bits = static_cast<uint32_t>(at);
        std::memcpy(&value, &bits, sizeof value);
        at += step;
      }
      return true;
    });
  }
}

TEST(Elementary, F64IsWithinItsUnits) {
  const int blocks = std::getenv("GT_EVERY") != nullptr ? 20000 : 20;
  for (const Function& f : kFunctions) {
    std::mt19937_64 random(1);
    int left = blocks;
    check<double>(f, f.wide64, f.most64, [&](std::vector<double>& x) {
      // Most values are near 1; the others have any magnitude.
      std::uniform_real_distribution<double> near(-30, 30);
      for (double& value : x) {
        const uint64_t bits = random();
        std::memcpy(&value, &bits, sizeof value);
        if (bits % 4 != 0) value = near(random);
        if (bits % 4 == 1)
          value = std::ldexp(value, -static_cast<int>(bits / 4 % 30));
      }
      return left-- > 0;
    });
  }
}

}  // namespace
}  // namespace gt::exec
