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
  Pace pace(kStart);
  Time now = kStart;
  for (int i = 1; i <= 100; ++i) {
    const auto until = pace.work(0.001, now);
    ASSERT_TRUE(until);
    EXPECT_EQ(*until, kStart + milliseconds(i));
    now = *until + microseconds(690);  // woken too late
  }
  // Much too late: it is over already.
  EXPECT_EQ(pace.work(0.001, now + milliseconds(5)), std::nullopt);
  EXPECT_EQ(pace.done_at(), kStart + milliseconds(101));
}

TEST(Pace, WhatComesLaterBeginsWhenItComes) {
  Pace pace(kStart);
  pace.work(0.001, kStart);
  const Time later = kStart + milliseconds(5);
  pace.begin_at(later);
  EXPECT_EQ(pace.work(0.002, later), later + milliseconds(2));
  pace.begin_at(kStart);  // it has long been there
  EXPECT_EQ(pace.work(0.002, later), later + milliseconds(4));
}

TEST(Pace, ShortPiecesAddUpBeforeAnybodySleeps) {
  Pace pace(kStart);
  EXPECT_EQ(pace.work(0.00004, kStart), std::nullopt);
  EXPECT_EQ(pace.work(0.00004, kStart + microseconds(1)), std::nullopt);
  EXPECT_EQ(pace.work(0.00004, kStart + microseconds(2)),
            kStart + microseconds(120));
}

TEST(Pace, WorkWithoutEndEnds) {
  Pace pace(kStart);
  EXPECT_GT(pace.work(1e300, kStart), kStart + std::chrono::hours(24 * 365));
}

}  // namespace
}  // namespace gt::exec
