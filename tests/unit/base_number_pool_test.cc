#include "base/number_pool.h"

#include <gtest/gtest.h>

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

TEST(NumberPool, WhatIsKeptIsNotGiven) {
  NumberPool numbers;
  numbers.keep(1);
  numbers.keep(1000);
  EXPECT_EQ(numbers.take(), 0U);
  EXPECT_EQ(numbers.take(), 2U);
  numbers.give(0);
  numbers.keep(0);  // though it was free
  EXPECT_EQ(numbers.take(), 3U);
  numbers.give(0);
  numbers.give(1);
  EXPECT_EQ(numbers.take(), 0U);
  EXPECT_EQ(numbers.take(), 1U);
  EXPECT_TRUE(numbers.is_used(1000));
  EXPECT_FALSE(numbers.is_used(999));
}

}  // namespace
}  // namespace gt
