// Every number of every line is checked, and missing lines are found.
#include <gtest/gtest.h>

#include "tools/line_check.h"

namespace gt::net {
namespace {

class LineCheckTest : public testing::Test {
 protected:
  // What is wrong with a message, or "".
  std::string take(const std::string& fields, std::string_view body = {}) {
    const std::string bytes = fields + " size=" + std::to_string(body.size()) +
                              "\n" + std::string(body);
    const auto message = parse_message(bytes);
    if (!message.ok()) return "no message: " + message.error().message;
    const Status status = check_.take(message.value());
    return status.ok() ? "" : status.error().message;
  }

  BodyPool pool_;
  std::string heeded_;
  LineCheck check_{pool_, [this](std::string_view line) {
                     heeded_.append(line).append("\n");
                     return ok_status();
                   }};
};

TEST_F(LineCheckTest, NumbersGoOnOverMarksFencesAndFiles) {
  EXPECT_EQ(take("lines seq=1 line=1 after=0",
                 "#file \"p.gt\"\n#ranks - 0-1=0\na\nb\n#+2 3\nc\n"),
            "");
  EXPECT_EQ(check_.last_seq(), 5U);
  EXPECT_EQ(take("lines seq=9 line=7 after=5", "#fence 0 1\nprint a\n"), "");
  EXPECT_EQ(
      take("lines seq=11 line=9 after=10", "a\n#file \"q.gt\"\n#+0 -9\nb\n"),
      "");
  EXPECT_EQ(take("lines seq=0 line=0 after=12", "#ranks - 2-3=1\n"), "");
  EXPECT_EQ(check_.last_seq(), 12U);
  EXPECT_EQ(check_.lines(), 7U);
  EXPECT_EQ(take("end after=12"), "");
  EXPECT_EQ(heeded_, "#ranks - 0-1=0\n#fence 0 1\nprint a\n#ranks - 2-3=1\n");
}

TEST_F(LineCheckTest, AMessageThatIsMissingIsFound) {
  EXPECT_EQ(take("lines seq=1 line=1 after=0", "a\nb\n"), "");
  EXPECT_EQ(take("lines seq=9 line=9 after=8", "c\n"),
            "lines follows on seq 8, but 2 came last: a message is missing");
  EXPECT_EQ(take("end after=3"),
            "end follows on seq 3, but 2 came last: a message is missing");
}

TEST_F(LineCheckTest, NumbersThatGoBackAreFound) {
  EXPECT_EQ(take("lines seq=5 line=5 after=0", "a\nb\n"), "");
  EXPECT_EQ(take("lines seq=6 line=7 after=6", "c\n"),
            "seq=6 line=7: these numbers came before");
  EXPECT_EQ(take("lines seq=7 line=9 after=6", "c\n#+0\nd\n"),
            "'#+0' is not a mark #+SEQ LINE");
  EXPECT_EQ(take("lines seq=7 line=9 after=6", "c"), "'c' has no end");
  EXPECT_EQ(take("lines seq=7 line=9 after=6", "#what\nc\n"),
            "'#what' is no line for a worker");
  EXPECT_EQ(take("lines seq=7 line=9 after=6", "#file \"q\"\n#+0 -8\nd\n"), "");
  EXPECT_EQ(take("lines seq=8 line=0 after=7", "#file \"q\"\nd\n"),
            "seq=8 line=0: there is no such place");
}

TEST_F(LineCheckTest, BlocksRunAgainUnderTheirId) {
  EXPECT_EQ(take("block id=3 seq=1 line=1 after=0", "a\nprint b\n"), "");
  EXPECT_EQ(take("hot id=3 seq=3 line=3 after=2 times=3 seq_by=4 line_by=2"),
            "");
  EXPECT_EQ(check_.last_seq(), 12U);
  EXPECT_EQ(check_.lines(), 8U);
  EXPECT_EQ(heeded_, "print b\nprint b\nprint b\nprint b\n");
  EXPECT_EQ(take("hot id=3 seq=13 line=9 after=12 times=2 seq_by=1 line_by=2"),
            "seq=13 line=9: the rounds of a block overlap");
  EXPECT_EQ(take("hot id=3 seq=13 line=9 after=12 times=0"),
            "hot: its numbers are no numbers of lines");
  EXPECT_EQ(take("hot id=3 seq=13 line=9 after=12 times=9 "
                 "seq_by=4611686018427387904 line_by=2"),
            "hot: its numbers are no numbers of lines");
  EXPECT_EQ(take("hot id=4 seq=13 line=9 after=12"), "hot: no block has id=4");
  EXPECT_EQ(take("block id=3 seq=13 line=9 after=12", "c\n"),
            "block: there is one with id=3");
  EXPECT_EQ(take("forget id=3"), "");
  EXPECT_EQ(take("forget id=3"), "forget: no block has id=3");
  EXPECT_EQ(take("hot id=3 seq=13 line=9 after=12"), "hot: no block has id=3");
}

}  // namespace
}  // namespace gt::net
