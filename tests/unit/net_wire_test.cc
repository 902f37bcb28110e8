// Messages between gt-route and its workers are read back as they were written,
// and nothing else is read.
#include <gtest/gtest.h>

#include "net/wire.h"

namespace gt::net {
namespace {

TEST(Wire, AMessageIsReadAsItWasWritten) {
  const std::string bytes = MessageWriter(Verb::kLines)
                                .field("seq", 812)
                                .field("name", "a b\n\"#")
                                .field("empty", "")
                                .finish("x = zeros f32[2]\n");
  EXPECT_EQ(bytes,
            "lines seq=812 name=\"a b\\n\\\"\\x23\" empty=\"\" size=17\n"
            "x = zeros f32[2]\n");
  const auto message = parse_message(bytes);
  ASSERT_TRUE(message.ok()) << message.error().message;
  EXPECT_EQ(message.value().verb, Verb::kLines);
  EXPECT_EQ(number(message.value(), "seq").value(), 812u);
  EXPECT_EQ(message.value().text("name"), "a b\n\"#");
  EXPECT_EQ(message.value().text("empty"), "");
  EXPECT_EQ(message.value().body, "x = zeros f32[2]\n");
  EXPECT_EQ(message.value().find("size"), nullptr);
}

TEST(Wire, EveryVerbHasItsName) {
  for (auto verb = Verb::kHello; verb <= Verb::kAbort;
       verb = static_cast<Verb>(static_cast<int>(verb) + 1)) {
    const auto message = parse_message(MessageWriter(verb).finish());
    ASSERT_TRUE(message.ok());
    EXPECT_EQ(message.value().verb, verb);
  }
}

TEST(Wire, WhatIsNoMessageIsRefusedInWords) {
  const struct {
    std::string bytes;
    const char* says;
  } cases[] = {
      {"", "no header line"},
      {"beat size=0", "no header line"},
      {std::string(kMaxHeader, 'x') + "\n", "no header line"},
      {std::string(kMaxMessage + 1, '\n'), "the most is 1048576"},
      {"GET / HTTP/1.1\r\n", "'GET' is not what a message begins with"},
      {"beats size=0\n", "'beats' is not what"},
      {"beat\n", "beat: no size="},
      {"beat size=0 a=1\n", "no size= at the header's end"},
      {"beat size=1\n", "size=1, but the body has 0 bytes"},
      {"beat size=0\nx", "size=0, but the body has 1 bytes"},
      {"beat size=-1\n", "no size="},
      {"beat size=18446744073709551616\n", "no size="},
      {"beat  size=0\n", "where a field key=value is expected"},
      {"beat size=0 \n", "where a field"},
      {"beat Seq=1 size=0\n", "where a field"},
      {"beat a= size=0\n", "where a field"},
      {"beat a=\"x size=0\n", "where a field"},
      {"beat a=\"x\"y size=0\n", "where a field"},
      {"beat a=\"\\q\" size=0\n", "where a field"},
      {"beat a=x\ry size=0\n", "where a field"},
      {"beat a=1 a=2 size=0\n", "field a= twice"},
  };
  for (const auto& c : cases) {
    const auto message = parse_message(c.bytes);
    ASSERT_FALSE(message.ok()) << c.bytes;
    EXPECT_NE(message.error().message.find(c.says), std::string::npos)
        << message.error().message;
  }
}

TEST(Wire, FieldsAreBounded) {
  std::string header = "beat";
  for (char a = 'a'; a <= 'z'; ++a) {
    for (char b : {'a', 'b'}) header += std::string(" ") + a + b + "=1";
  }
  EXPECT_EQ(parse_message(header + " size=0\n").error().message,
            "beat: more than 32 fields");
}

TEST(Wire, ANumberThatIsMissingOrNoneIsNamed) {
  const auto message = parse_message("done seq=x7 size=0\n");
  EXPECT_EQ(number(message.value(), "seq").error().message,
            "done: seq=x7 is not a number");
  EXPECT_EQ(number(message.value(), "bytes").error().message,
            "done: no bytes=");
}

struct Numbered {
  std::string text;
  uint64_t seq;
  int64_t line;
  bool operator==(const Numbered&) const = default;
};

std::vector<Numbered> lines_of(std::string_view body, uint64_t seq,
                               int64_t line) {
  std::vector<Numbered> out;
  NumberedLines lines(body, seq, line);
  NumberedLines::Item item;
  while (lines.next(item).value()) {
    out.push_back({std::string(item.text), item.seq, item.line});
  }
  return out;
}

TEST(Wire, ABodySaysTheNumbersOfItsLines) {
  BodyWriter writer;
  EXPECT_TRUE(writer.empty());
  writer.add(0, 0, "#ranks - 0-1=0");
  writer.add(7, 3, "a = zeros f32[2]");
  writer.add(8, 4, "b = neg a");
  writer.add(12, 9, "c = neg b");
  writer.add(0, 0, "#file \"next.gt\"");
  writer.add(13, 0, "#fence 0 1");
  writer.add(14, 1, "free c");
  EXPECT_EQ(writer.first_seq(), 7u);
  EXPECT_EQ(writer.first_line(), 3);
  EXPECT_EQ(writer.last_seq(), 14u);
  const std::string body = writer.take();
  EXPECT_EQ(body,
            "#ranks - 0-1=0\na = zeros f32[2]\nb = neg a\n#+3 4\nc = neg b\n"
            "#file \"next.gt\"\n#+0 -10\n#fence 0 1\nfree c\n");
  EXPECT_TRUE(writer.empty());
  EXPECT_EQ(lines_of(body, 7, 3),
            (std::vector<Numbered>{{"#ranks - 0-1=0", 7, 3},
                                   {"a = zeros f32[2]", 7, 3},
                                   {"b = neg a", 8, 4},
                                   {"c = neg b", 12, 9},
                                   {"#file \"next.gt\"", 13, 10},
                                   {"#fence 0 1", 13, 0},
                                   {"free c", 14, 1}}));
}

TEST(Wire, TheSameLinesAreTheSameBodyWhereverTheyStand) {
  BodyWriter here;
  BodyWriter there;
  for (uint64_t i = 0; i < 4; ++i) {
    here.add(10 + 2 * i, 5, "x = add x 1");
    there.add(99 + 2 * i, 77, "x = add x 1");
  }
  EXPECT_EQ(here.take(), there.take());
}

TEST(Wire, ALineWithoutItsNewlineSaysSo) {
  NumberedLines lines("a\nb", 1, 1);
  NumberedLines::Item item;
  ASSERT_TRUE(lines.next(item).value());
  EXPECT_TRUE(item.is_whole);
  ASSERT_TRUE(lines.next(item).value());
  EXPECT_EQ(item.text, "b");
  EXPECT_FALSE(item.is_whole);
  EXPECT_FALSE(lines.next(item).value());
}

TEST(Wire, AMarkThatIsNoneIsAnError) {
  for (const char* body :
       {"#+\n", "#+1\n", "#+1 \n", "#+ 1\n", "#+x 1\n", "#+-1 1\n", "#+1 1 \n",
        "#+18446744073709551615 0\n", "#+0 9223372036854775807\n"}) {
    NumberedLines lines(body, 1, 1);
    NumberedLines::Item item;
    EXPECT_FALSE(lines.next(item).ok()) << body;
  }
}

}  // namespace
}  // namespace gt::net
