#include "shard/gathers_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gt::shard {
namespace {

const Machine kMachine{.flops = 1, .memory_bandwidth = 1e300};

std::string ordered(const std::string& lines) {
  GathersAhead order(kMachine);
  std::string out;
  order.take(lines, out);
  order.finish(out);
  return out;
}

std::string gather(const std::string& to, const std::string& from) {
  return to + "@0-1 = all_gather " + from + "@0-1 over=tp src=S0 dst=R\n";
}

const std::string kBegin =
    "mesh tp=2\n"
    "v@0-1 = zeros f32[8] split=tp:0\nw@0-1 = zeros f32[8] split=tp:0\n";

TEST(GathersAhead, WritesAGatherBehindTheOneBefore) {
  EXPECT_EQ(ordered(kBegin + gather("a", "v") +
                    "x@0-1 = tanh a@0-1\nfree a@0-1\n" + gather("b", "w") +
                    "y@0-1 = mul x@0-1 b@0-1\n" + gather("a", "v")),
            kBegin + gather("a", "v") + gather("b", "w") +
                "x@0-1 = tanh a@0-1\nfree a@0-1\n" + gather("a", "v") +
                "y@0-1 = mul x@0-1 b@0-1\n");
}

TEST(GathersAhead, StaysBehindWhatItNeedsAndWhatNeedsItsName) {
  for (const std::string between :
       {"w@0-1 = mul w@0-1 2\n",  // makes what it gathers
        "b@0-1 = tanh a@0-1\n",   // binds its name
        "x@0-1 = tanh b@0-1\n",   // reads its name
        "free b@0-1\n"}) {
    const std::string begin =
        kBegin + "b@0-1 = zeros f32[8]\n" + gather("a", "v");
    EXPECT_EQ(
        ordered(begin + between + "z@0-1 = tanh a@0-1\n" + gather("b", "w")),
        begin + between + gather("b", "w") + "z@0-1 = tanh a@0-1\n");
  }
}

TEST(GathersAhead, HoldsNothingBackBeyondWhatIsShown) {
  for (const std::string shown :
       {"print x@0\n", "free x@0-1 y\n", "#sync a/1\n", "# a comment\n",
        "z = zeros f32[2]\n", "mesh dp=2\n"}) {
    const std::string lines =
        kBegin + gather("a", "v") + "x@0-1 = tanh a@0-1\n" + shown;
    GathersAhead order(kMachine);
    std::string out;
    order.take(lines, out);
    EXPECT_EQ(out, lines);
    order.take(gather("b", "w"), out);
    EXPECT_EQ(out, lines + gather("b", "w"));
  }
}

TEST(GathersAhead, HoldsAFewLines) {
  GathersAhead order(kMachine);
  std::string out;
  const std::string begin = kBegin + gather("a", "v");
  order.take(begin, out);
  EXPECT_EQ(out, begin);
  for (int i = 0; i < 64; ++i) order.take("x@0-1 = tanh a@0-1\n", out);
  EXPECT_EQ(out, begin);
  order.take("x@0-1 = tanh a@0-1\n", out);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'),
            std::count(begin.begin(), begin.end(), '\n') + 65);
}

TEST(GathersAhead, CountsTheBytesInItsOwnOrder) {
  GathersAhead order(kMachine);
  std::string out;
  order.take(kBegin + gather("a", "v") + "free a@0-1\n" + gather("b", "w"),
             out);
  EXPECT_EQ(order.peak_bytes(), 16U + 16U + 32U + 32U);
}

// A round that comes again is answered from what it gave before.
TEST(GathersAhead, RoundsGiveWhatTheirLinesGive) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto any = [&](int n) {
      return static_cast<int>(random() % static_cast<unsigned>(n));
    };
    std::string round;
    for (int i = 2 + any(30); i > 0; --i) {
      const std::string to(1, static_cast<char>('a' + any(4)));
      const std::string from(1, static_cast<char>('v' + any(2)));
      const int kind = any(20);
      if (kind < 6) {
        round += gather(to, from);
      } else if (kind == 6) {
        round += "print v@0\n";
      } else if (kind < 10) {
        round += from + "@0-1 = tanh " + from + "@0-1\n";
      } else {
        round += "x@0-1 = tanh " + from + "@0-1\n";
      }
    }
    // After a round all names hold what they held before it.
    std::string begin = kBegin + "x@0-1 = tanh v@0-1\n";
    for (const char to : {'a', 'b', 'c', 'd'}) begin += gather({to}, "v");
    GathersAhead lines(kMachine), rounds(kMachine);
    std::string wanted, found;
    lines.take(begin, wanted);
    rounds.take(begin, found);
    for (int i = 0; i < 6; ++i) {
      lines.take(round, wanted);
      rounds.take_round(round, found);
    }
    lines.finish(wanted);
    rounds.finish(found);
    EXPECT_EQ(found, wanted) << round;
    EXPECT_EQ(rounds.peak_bytes(), lines.peak_bytes());
  }
}

}  // namespace
}  // namespace gt::shard
