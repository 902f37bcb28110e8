#include "base/number_pool.h"

#include <gtest/gtest.h>

#include "base/number_set.h"

namespace gt {
namespace {

TEST(NumberPool, TheSmallestFreeOneComesFirst) {
  NumberPool numbers;
  for (size_t n = 0; n < 5; ++n) EXPECT_EQ(numbers.take(), n);
  numbers.give(3);
  numbers.give(0);
  numbers.give(4);
  EXPECT_EQ(numbers.take(), 0U);
  EXPECT_EQ(numbers.take(), 3U);
  EXPECT_EQ(numbers.take(), 4U);
  EXPECT_EQ(numbers.take(), 5U);
}

TEST(NumberPool, AKeptNumberIsNotGiven) {
  NumberPool numbers;
  numbers.keep(1);
  numbers.keep(1000);
  EXPECT_EQ(numbers.take(), 0U);
  EXPECT_EQ(numbers.take(), 2U);
  numbers.give(0);
  numbers.keep(0);  // it was free
  EXPECT_EQ(numbers.take(), 3U);
  numbers.give(0);
  numbers.give(1);
  EXPECT_EQ(numbers.take(), 0U);
  EXPECT_EQ(numbers.take(), 1U);
  EXPECT_TRUE(numbers.is_used(1000));
  EXPECT_FALSE(numbers.is_used(999));
}

TEST(NumberSet, TheSmallestComesFirst) {
  NumberSet set;
  EXPECT_EQ(set.take(), NumberSet::kNone);
  // The numbers come in any order, and fill several words of the summary.
  for (size_t i = 0; i < 10'000; ++i) set.add(i * 1237 % 10'000);
  set.add(3);  // is there already
  set.remove(5);
  set.remove(5);
  set.remove(1'000'000);  // was never there
  for (size_t n = 0; n < 10'000; ++n) {
    if (n != 5) {
      ASSERT_EQ(set.take(), n);
    }
    if (n == 9'000) {
      set.add(70);
      EXPECT_EQ(set.take(), 70U);
    }
  }
  EXPECT_EQ(set.take(), NumberSet::kNone);
}

}  // namespace
}  // namespace gt
