#include "program/line_sizes.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "program/walker.h"

namespace gt {
namespace {

// Takes lines, and says what the last one takes.
class Sizes {
 public:
  LineSize take(const std::string& text) {
    Line line;
    EXPECT_TRUE(parse_line(text, line).ok()) << text;
    return sizes_.take(line, line_ranks(line).value());
  }

 private:
  LineSizes sizes_{Machine{.flops = 1, .memory_bandwidth = 1e300}};
};

using Bytes = std::vector<uint64_t>;

TEST(LineSizes, KnowsTheBytesOfEachPieceAndTheSecondsOfTheSlowestRank) {
  Sizes sizes;
  sizes.take("mesh tp=3");
  EXPECT_EQ(sizes.take("x@0-2 = zeros f32[8] split=tp:0").bytes[0],
            (Bytes{12, 12, 8}));
  EXPECT_EQ(sizes.take("y@0-2 = mul x@0-2 2").seconds, 3);
  sizes.take("w@0-2 = zeros f32[9] split=tp:0");
  EXPECT_EQ(
      sizes.take("y@0-2 = all_gather w@0-2 over=tp src=S0 dst=R").bytes[0],
      (Bytes{36, 36, 36}));
  EXPECT_EQ(sizes.take("z@1-2 = mul x@1-2 2").bytes[0], (Bytes{12, 8}));
}

// What is sent takes what its exchange takes, be its pieces even or not.
TEST(LineSizes, KnowsTheSecondsOfAnExchange) {
  LineSizes sizes(Machine{.bandwidth = 100, .latency = 1});
  const auto take = [&](const std::string& text) {
    Line line;
    EXPECT_TRUE(parse_line(text, line).ok()) << text;
    return sizes.take(line, line_ranks(line).value()).seconds;
  };
  take("mesh tp=3");
  take("x@0-2 = zeros f32[300]");
  EXPECT_DOUBLE_EQ(take("y@0-2 = all_reduce x@0-2"), 1 + 24);
  EXPECT_DOUBLE_EQ(take("y@0-2 = reduce_scatter x@0-2 dst=S0"), 1 + 8);
  EXPECT_DOUBLE_EQ(take("z@0-2 = all_gather y@0-2 src=S0 dst=R"), 1 + 8);
  EXPECT_DOUBLE_EQ(take("z@1-2 = copy y@0-1"), 1 + 4);
  take("x@0-2 = zeros f32[7,4] split=tp:0");
  EXPECT_DOUBLE_EQ(
      take("y@0-2 = all_gather x@0-2 src=S0 dst=R split=tp:0 shape=7,4"),
      1 + 0.8);
  take("x@0-2 = zeros f32[30000]");
  EXPECT_DOUBLE_EQ(take("y@0-2 = all_reduce x@0-2"), 2 + 1600);
}

TEST(LineSizes, ALineLikeOneBeforeWithOtherPiecesHasOtherBytes) {
  Sizes sizes;
  sizes.take("x@0-1 = zeros f32[4]");
  EXPECT_EQ(sizes.take("y@0-1 = mul x@0-1 2").bytes[0], (Bytes{16, 16}));
  sizes.take("x@1 = zeros f32[6]");
  EXPECT_EQ(sizes.take("y@0-1 = mul x@0-1 2").bytes[0], (Bytes{16, 24}));
  sizes.take("free x@0");
  EXPECT_EQ(sizes.take("y@0-1 = mul x@0-1 2").bytes[0], (Bytes{0, 0}));
  EXPECT_EQ(sizes.take("y@1 = mul x@1 2").bytes[0], (Bytes{24}));
  EXPECT_EQ(sizes.take("y@0-1 = mul nothing@0-1 2").seconds, 0);
}

// Random binds and frees of parts of names, beside the Walker, which follows
// each rank by itself.
TEST(LineSizes, AreThoseOfTheTypesThatTheWalkerFinds) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return std::to_string(random() % n); };
  Sizes sizes;
  Walker walker;
  for (int i = 0; i < 2000; ++i) {
    const int first = static_cast<int>(random() % 4);
    const std::string ranks = "@" + std::to_string(first) + "-" +
                              std::to_string(first + 1 + random() % 3);
    const std::string a = "a" + pick(3) + ranks, b = "a" + pick(3) + ranks;
    const std::string texts[] = {a + " = zeros f32[" + pick(3) + "]",
                                 a + " = add " + b + " 1", "free " + a,
                                 a + " = concat " + b + " " + b + " axis=0"};
    const std::string& text = texts[random() % 4];
    Line line;
    ASSERT_TRUE(parse_line(text, line).ok()) << text;
    const LineSize size = sizes.take(text);
    for (const WalkedPart& made : walker.take(line).writes) {
      if (line.results.empty()) continue;
      const bool is_known = made.stamp.type != kNoType;
      EXPECT_EQ(size.bytes[0][static_cast<size_t>(made.rank - first)],
                is_known ? walker.type(made.stamp.type).bytes() : 0)
          << text;
    }
  }
}

}  // namespace
}  // namespace gt
