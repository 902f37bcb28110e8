// What ran and when, as workers tell it, and how far their clocks are apart.
#include "net/ran.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace gt::net {
namespace {

TEST(Ran, RowsAreReadAsTheyAreWritten) {
  std::string body;
  append_ran(body, {RanRow::Kind::kCompute, 3, 9, 100, 250, 0, 0, {}});
  append_ran(body, {RanRow::Kind::kComm, 7, 7, 120, 130, 0, 0, {}});
  append_ran(body, {RanRow::Kind::kTransfer, 7, 7, 121, 129, 2, 4096, "x@1"});
  EXPECT_EQ(body,
            "compute 3 9 100 250\ncomm 7 7 120 130\n"
            "transfer 7 2 4096 121 129 x@1\n");
  const auto rows = parse_ran(body);
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows.value().size(), 3u);
  std::string again;
  for (const RanRow& row : rows.value()) append_ran(again, row);
  EXPECT_EQ(again, body);
}

TEST(Ran, WhatIsNoneIsRefused) {
  for (const char* body :
       {"", "compute 1 2 3 4\n", "transfer 1 0 5 6 7\n", "comm 1 1 2 3"}) {
    EXPECT_TRUE(parse_ran(body).ok()) << body;
  }
  for (const char* body :
       {"\n", "compute 1 2 3\n", "compute 1 2 3 4 5\n", "compute a 2 3 4\n",
        "sleep 1 2 3 4\n", "transfer 1 -1 5 6 7 x\n",
        "transfer 1 0 5 6 7 x y\n", "compute 1 2 3 99999999999999999999\n",
        "comm 1 1 2 3\nx"}) {
    EXPECT_FALSE(parse_ran(body).ok()) << body;
  }
}

// Messages go both ways with any delay, between clocks that differ.
int64_t offset_of(int64_t ahead, uint64_t least_delay, unsigned seed) {
  std::mt19937 random(seed);
  ClockOffset clock;
  ToldTime best;
  uint64_t now = 1'000'000'000;
  for (int i = 0; i < 200; ++i) {
    const auto delay = [&] { return least_delay + random() % 5000; };
    const uint64_t sent = now;
    now += delay();
    const ToldTime told{sent, now + static_cast<uint64_t>(ahead)};
    if (best.told == 0 || told.is_better_than(best)) best = told;
    const uint64_t answered = now + static_cast<uint64_t>(ahead);
    now += delay();
    clock.take(answered, now, best);
  }
  return clock.value();
}

TEST(ClockOffset, IsFoundToWithinTheLeastDelay) {
  for (const int64_t ahead : {3'000'000, -3'000'000, 70'000}) {
    EXPECT_LE(std::abs(offset_of(ahead, 200, 1) + ahead), 500) << ahead;
  }
}

TEST(ClockOffset, ClocksThatMayAgreeAreTakenTo) {
  EXPECT_EQ(offset_of(0, 30, 2), 0);
  EXPECT_EQ(offset_of(20, 30, 3), 0);
}

TEST(ClockOffset, AClockThatIsSetIsFollowed) {
  ClockOffset clock;
  clock.take(1000, 1100, {900, 950});  // -50 to 100
  EXPECT_EQ(clock.value(), 0);
  clock.take(9'001'000, 1200, {1150, 9'001'050});
  EXPECT_LE(std::abs(clock.value() + 9'000'000), 300);
}

}  // namespace
}  // namespace gt::net
