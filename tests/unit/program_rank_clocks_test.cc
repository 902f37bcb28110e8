#include "program/rank_clocks.h"

#include <gtest/gtest.h>

namespace gt {
namespace {

TEST(RankClocks, ARankComputesOneLineAfterTheOther) {
  RankClocks clocks;
  EXPECT_EQ(clocks.compute(0, 0, 2), 2);
  EXPECT_EQ(clocks.compute(0, 1, 3), 5);
  EXPECT_EQ(clocks.compute(0, 7, 1), 8);  // what it reads comes at 7
  EXPECT_EQ(clocks.computed(0), 8);
  EXPECT_EQ(clocks.computed(5), 0);
}

TEST(RankClocks, AnExchangeWaitsForAllOfItsRanksAndHidesBehindCompute) {
  RankClocks clocks;
  clocks.compute(0, 0, 2);
  clocks.compute(1, 0, 5);
  EXPECT_EQ(clocks.exchange({0, 1}, {0, 1}, 2, 10), 15);
  // Meanwhile ranks go on computing.
  EXPECT_EQ(clocks.compute(0, 0, 1), 3);
  // The next exchange waits for the first, also on a rank that only receives.
  EXPECT_EQ(clocks.exchange({2}, {1}, 0, 1), 16);
  EXPECT_EQ(clocks.pass(0, 0), 15);
}

// What is sent is there for whoever comes to receive it.
TEST(RankClocks, ASenderWaitsForNobody) {
  RankClocks clocks;
  clocks.compute(1, 0, 5);
  EXPECT_EQ(clocks.exchange({0}, {1}, 2, 10), 15);
  EXPECT_EQ(clocks.exchange({3}, {0}, 0, 1), 3);
  EXPECT_EQ(clocks.exchange({3}, {1}, 0, 1), 16);
}

}  // namespace
}  // namespace gt
