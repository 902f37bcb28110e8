// The clock of an imagined machine says when its work ends, however late a
// sleeper wakes.
#include "exec/backend/null/pace.h"

#include <gtest/gtest.h>

namespace gt::exec {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Time = Pace::Clock::time_point;

const Time kStart = Time{} + std::chrono::hours(1);

TEST(Pace, LatenessDoesNotAddUp) {
  Pace pace;
  Time now = kStart;
  for (int i = 1; i <= 100; ++i) {
    const auto until = pace.work(0.001, now);
    ASSERT_TRUE(until);
    EXPECT_EQ(*until, kStart + milliseconds(i));
    now = *until + microseconds(90);  // woken too late
    pace.woke(now);
    now += microseconds(50);  // before the next piece of work
  }
}

TEST(Pace, WhatComesLaterBeginsWhenItComes) {
  Pace pace;
  pace.woke(*pace.work(0.001, kStart));
  const Time later = kStart + milliseconds(5);
  EXPECT_EQ(pace.work(0.002, later), later + milliseconds(2));
}

TEST(Pace, ShortPiecesAddUpBeforeAnybodySleeps) {
  Pace pace;
  EXPECT_EQ(pace.work(0.00004, kStart), std::nullopt);
  EXPECT_EQ(pace.work(0.00004, kStart + microseconds(1)), std::nullopt);
  EXPECT_EQ(pace.work(0.00004, kStart + microseconds(2)),
            kStart + microseconds(120));
}

}  // namespace
}  // namespace gt::exec
