#include <gtest/gtest.h>

#include "base/reported.h"

namespace gt {
namespace {

TEST(Reported, TellsOncePerPlaceOfAFile) {
  Reported reported;
  EXPECT_TRUE(reported.is_first({"p.gt", 3}, "why", "y = f x"));
  EXPECT_TRUE(reported.is_first({"p.gt", 4}, "why", "y = f x"));
  EXPECT_FALSE(reported.is_first({"p.gt", 3}, "why", "z = f x"));
  EXPECT_EQ(reported.take_counts("gt", true),
            "gt: 1 more like the one at p.gt:3\n");
  EXPECT_EQ(reported.take_counts("gt", true), "");
}

// A line of a client's source may write several lines, whose names differ from
// round to round.
TEST(Reported, TellsEachReasonAtOnePlace) {
  Reported reported;
  EXPECT_TRUE(reported.is_first({"p.py", 3}, "t1 is divided by 0", ""));
  EXPECT_TRUE(reported.is_first({"p.py", 3}, "save: no such folder", ""));
  EXPECT_FALSE(reported.is_first({"p.py", 3}, "t27 is divided by 0", ""));
}

TEST(Reported, TellsOncePerTextOfAStream) {
  Reported reported;
  const auto is_first = [&](size_t line, const char* why, const char* text) {
    return reported.is_first({"<stdin>", line}, why, text);
  };
  EXPECT_TRUE(
      is_first(4, "index 7 is out of range, which is 0 to 1", "y = f t x"));
  EXPECT_FALSE(
      is_first(9, "index 12 is out of range, which is 0 to 1", "y = f t x"));
  EXPECT_TRUE(is_first(9, "size 3 from 7 is out of range", "y = f t x"));
  EXPECT_FALSE(
      is_first(14, "index 0 is out of range, which is 0 to 1", "y = f t x"));
  // Digits that are part of a name tell lines apart; numbers do not.
  EXPECT_TRUE(
      is_first(5, "index 7 is out of range, which is 0 to 1", "y1 = f t x"));
  EXPECT_TRUE(
      is_first(6, "index 7 is out of range, which is 0 to 1", "y2 = f t x"));
  EXPECT_TRUE(is_first(7, "why", "w = sgd w g 0.25"));
  EXPECT_FALSE(is_first(8, "why", "w = sgd w g 0.1"));
  EXPECT_FALSE(is_first(8, "why", "w = sgd w g 12"));
  EXPECT_EQ(
      reported.take_counts("gt", true),
      "gt: 2 more like the one at <stdin>:4\n"
      "gt: 2 more like the one at <stdin>:7\n"
      "gt: note: a place in <stdin> is a line of the stream that came in, "
      "or with gt-emit --at one of the program\n");
}

TEST(Reported, TellsWhatPlacesAreWhereAProgramWroteTheStream) {
  Reported by_hand;
  EXPECT_TRUE(by_hand.is_first({"<stdin>", 4}, "why", "y = f x"));
  EXPECT_EQ(by_hand.take_counts("gt", false), "");
  EXPECT_NE(by_hand.take_counts("gt", true), "");
  Reported of_files;
  EXPECT_TRUE(of_files.is_first({"p.gt", 4}, "why", "y = f x"));
  EXPECT_EQ(of_files.take_counts("gt", true), "");
}

}  // namespace
}  // namespace gt
