// The lines of gt-route's messages, with blocks and rounds.
#include <gtest/gtest.h>

#include "exec/remote/received_lines.h"

namespace gt::exec {
namespace {

class ReceivedLinesTest : public testing::Test, private ReceivedLines::Sink {
 protected:
  // What is wrong with a message, or "".
  std::string take(const std::string& fields, std::string_view body = {}) {
    const std::string bytes = fields + " size=" + std::to_string(body.size()) +
                              "\n" + std::string(body);
    const auto message = net::parse_message(bytes);
    if (!message.ok()) return "no message: " + message.error().message;
    const Status status = lines_.take(message.value(), *this);
    return status.ok() ? "" : status.error().message;
  }

  ReceivedLines lines_;
  std::string taken_;  // "SEQ:TEXT " of each, "( " and ") " around rounds
  bool wants_more_ = true;

 private:
  bool begin_round() override {
    taken_ += "( ";
    return wants_more_;
  }
  bool take(const ReceivedLines::Item& item) override {
    taken_ += std::to_string(item.seq) + ":" + std::string(item.text) + " ";
    return wants_more_;
  }
  void end_round(bool is_last) override { taken_ += is_last ? ")\n" : ") "; }
};

TEST_F(ReceivedLinesTest, LinesHaveTheirNumbers) {
  EXPECT_EQ(take("lines seq=1 line=1 after=0", "#file \"p\"\na\nb\n"), "");
  EXPECT_EQ(taken_, "( 1:#file \"p\" 1:a 2:b )\n");
  EXPECT_EQ(lines_.last_seq(), 2U);
}

TEST_F(ReceivedLinesTest, ABlockComesAgainInRounds) {
  EXPECT_EQ(take("block id=3 seq=1 line=1 after=0", "a\nb\n"), "");
  EXPECT_EQ(take("hot id=3 seq=3 line=3 after=2 times=2 seq_by=4 line_by=2"),
            "");
  EXPECT_EQ(taken_, "( 1:a 2:b )\n( 3:a 4:b ) ( 7:a 8:b )\n");
  EXPECT_EQ(take("forget id=3"), "");
  EXPECT_EQ(take("hot id=3 seq=9 line=7 after=8"), "hot: no block has id=3");
  EXPECT_EQ(take("forget id=3"), "forget: there is no such block");
}

TEST_F(ReceivedLinesTest, AReaderThatWantsNoMoreGetsNoMore) {
  wants_more_ = false;
  EXPECT_EQ(take("lines seq=1 line=1 after=0", "a\nb\n"), "");
  EXPECT_EQ(taken_, "( )\n");
}

TEST_F(ReceivedLinesTest, AMissingMessageIsFound) {
  EXPECT_EQ(take("lines seq=1 line=1 after=0", "a\n"), "");
  EXPECT_EQ(take("lines seq=5 line=5 after=4", "b\n"),
            "lines follows on seq 4, but 1 came last: a message is missing");
}

}  // namespace
}  // namespace gt::exec
