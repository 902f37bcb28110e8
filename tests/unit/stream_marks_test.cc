#include "stream/marks.h"

#include <gtest/gtest.h>

namespace gt {
namespace {

using Mark = Marks::Mark;

TEST(Marks, AnOpenedStreamMustEnd) {
  Marks marks;
  EXPECT_FALSE(marks.cut_short());
  EXPECT_EQ(marks.take("#gt 1"), Mark::kOpen);
  EXPECT_TRUE(marks.opened());
  EXPECT_TRUE(marks.cut_short());
  EXPECT_EQ(marks.take("#end 0"), Mark::kEnd);
  EXPECT_FALSE(marks.cut_short());
  EXPECT_TRUE(marks.opened());
}

TEST(Marks, KeepTheLargestStatus) {
  Marks marks;
  for (const char* text : {"#gt 1", "#end 3", "#gt 1", "#end 1"}) {
    EXPECT_NE(marks.take(text), Mark::kNone) << text;
  }
  EXPECT_EQ(marks.status(), Exit::kRejected);
  EXPECT_FALSE(marks.cut_short());
}

TEST(Marks, AStreamThatFollowsACutOneDoesNotHideIt) {
  Marks marks;
  marks.take("#gt 1");
  marks.take("#gt 1");
  marks.take("#end 0");
  EXPECT_TRUE(marks.cut_short());
}

TEST(Marks, CommentsThatLookLikeMarksAreComments) {
  Marks marks;
  for (const char* text : {"#", "# gt 1", "#gt", "#gtx 1", "#end of part one",
                           "#end", "#end -1", "#end 1 2", "#end 256"}) {
    EXPECT_EQ(marks.take(text), Mark::kNone) << text;
  }
  EXPECT_FALSE(marks.opened());
}

TEST(Marks, AnUnknownVersionIsSaid) {
  Marks marks;
  EXPECT_EQ(marks.take("#gt 2"), Mark::kBadVersion);
}

TEST(Marks, AreWrittenAsTheyAreRead) {
  Marks marks;
  EXPECT_EQ(marks.take(kOpenMark), Mark::kOpen);
  EXPECT_EQ(marks.take(end_mark(Exit::kLost)), Mark::kEnd);
  EXPECT_EQ(marks.status(), Exit::kLost);
}

}  // namespace
}  // namespace gt
