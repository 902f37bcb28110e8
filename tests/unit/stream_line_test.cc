// Lines: what parses, what is printed, and the messages about faults.
#include "stream/line.h"

#include <gtest/gtest.h>

#include <random>

namespace gt {
namespace {

std::string printed(std::string_view text) {
  Line line;
  const Status s = parse_line(text, line);
  if (!s.ok()) return "error: " + s.error().message;
  std::string out;
  append_line(out, line);
  return out;
}

TEST(Line, TakesEveryField) {
  const std::string text =
      "a b@0-3 = op x y@0,2 1 -2.5 inf nan true 0:4 ::2 f32[2,3] f32[] i64 "
      "\"a b\" k=1,2 s=\"x y\" #n #m=3 #w=\"a b\" # and so on";
  Line line;
  ASSERT_TRUE(parse_line(text, line).ok());
  EXPECT_EQ(line.kind, Line::Kind::kInstruction);
  ASSERT_EQ(line.results.size(), 2U);
  EXPECT_EQ(line.results[1].text, "b");
  EXPECT_EQ(line.results[1].ranks, "0-3");
  EXPECT_EQ(line.results[1].column, 3U);
  EXPECT_EQ(line.op, "op");
  EXPECT_EQ(line.op_column, 11U);
  ASSERT_EQ(line.operands.size(), 13U);
  using Kind = Operand::Kind;
  constexpr Kind kKinds[] = {
      Kind::kName,   Kind::kName,   Kind::kNumber, Kind::kNumber, Kind::kNumber,
      Kind::kNumber, Kind::kNumber, Kind::kRange,  Kind::kRange,  Kind::kType,
      Kind::kType,   Kind::kDtype,  Kind::kString};
  for (size_t i = 0; i < line.operands.size(); ++i) {
    EXPECT_EQ(line.operands[i].kind, kKinds[i]) << line.operands[i].text;
  }
  EXPECT_EQ(line.operands[1].text, "y");
  EXPECT_EQ(line.operands[1].ranks, "0,2");
  EXPECT_EQ(line.operands[1].column, 16U);
  ASSERT_NE(line.key("k"), nullptr);
  EXPECT_EQ(*line.key("k"), "1,2");
  EXPECT_EQ(*line.key("s"), "\"x y\"");
  EXPECT_EQ(line.key("n"), nullptr);
  ASSERT_EQ(line.notes.size(), 3U);
  EXPECT_EQ(*line.note("m"), "3");
  EXPECT_EQ(*line.note("n"), "");
  EXPECT_EQ(line.remark, "# and so on");
  EXPECT_EQ(printed(text), text);
}

TEST(Line, PrintsInOneForm) {
  EXPECT_EQ(printed("  y \t=  add   x\t1  "), "y = add x 1");
  EXPECT_EQ(printed("free x*  y"), "free x* y");
  EXPECT_EQ(printed("free *"), "free *");
  EXPECT_EQ(printed("  # a  comment "), "# a  comment ");
  EXPECT_EQ(printed(""), "");
  EXPECT_EQ(printed(" \t "), "");
  EXPECT_EQ(printed("print l   # the  loss"), "print l # the  loss");
  EXPECT_EQ(printed("print l #"), "print l #");
  EXPECT_EQ(printed("#end 0"), "#end 0");
}

TEST(Line, KnowsTheWordsOfTheLanguage) {
  EXPECT_TRUE(is_name("act/h.1_x"));
  EXPECT_TRUE(is_name("_e0"));
  EXPECT_TRUE(is_name("f32x"));
  EXPECT_TRUE(is_name("infinity"));
  for (const char* word : {"", "1a", "inf", "nan", "true", "false", "f32",
                           "bool", "bf16", "a-b", "a@0", "a b"}) {
    EXPECT_FALSE(is_name(word)) << word;
  }
  EXPECT_TRUE(is_glob("act/*"));
  EXPECT_FALSE(is_glob("act"));
  EXPECT_FALSE(is_glob("a*-b"));
}

TEST(Line, GlobsMatchAsTheShellsStar) {
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("act/*", "act/h/1"));
  EXPECT_TRUE(glob_matches("*a*b", "xaybzb"));
  EXPECT_TRUE(glob_matches("a**b", "ab"));
  EXPECT_FALSE(glob_matches("act/*", "ac"));
  EXPECT_FALSE(glob_matches("*a", "ab"));
  EXPECT_FALSE(glob_matches("", "a"));
  // A glob with more stars than the name can match must not take for ever.
  std::string glob, name(2000, 'a');
  for (int i = 0; i < 500; ++i) glob += "a*";
  EXPECT_FALSE(glob_matches(glob + "b", name));
}

struct Mistake {
  const char* line;
  size_t column;
  const char* message;
};

// For each message a line that causes it, and the column of the caret.
constexpr Mistake kMistakes[] = {
    {"= add x y", 1, "'=' without a name before it"},
    {"y =", 4, "an op is missing after '='"},
    {"y = = x", 5, "'=' is not an op; write blanks around '='"},
    {"y=add x y", 1, "'y=add' is not an op; write blanks around '='"},
    {"y= add x", 1, "'y=' is not an op; write blanks around '='"},
    {"y =add x", 3,
     "'=add' is not a name, number, range, type or string; write blanks "
     "around '='"},
    {"y = 3 x", 5,
     "'3' is not an op; numbers are written as in x = tensor f32[2] 1 2"},
    {"inf = add x y", 1,
     "'inf' is a word of the language and cannot be a name"},
    {"f32 = add x y", 1,
     "'f32' is a word of the language and cannot be a name"},
    {"1x = add x y", 1, "'1x' is not a name, number, range, type or string"},
    {"y = add x-y", 10, "'x-y' is not a name, number, range, type or string"},
    {"y = add x 1e", 11, "'1e' is not a name, number, range, type or string"},
    {"y = add x 1:2:3:4", 11,
     "'1:2:3:4' is not a name, number, range, type or string"},
    {"y@ = add x", 3, "'' is not a rank set such as 3, 0-7, 0-6:2 or 0,2"},
    {"y = add x@3-1", 11,
     "'3-1' is not a rank set such as 3, 0-7, 0-6:2 or 0,2"},
    {"y = add x@0-3,2", 11, "rank set '0-3,2' names a rank twice"},
    {"y = sum x axis=1 axis=2", 18, "key 'axis' stands twice"},
    {"y = sum x axis=1 z", 18, "operand 'z' after a key; operands come first"},
    {"y = sum x axis=", 16, "a value is missing after '='"},
    {"y = sum x axis=a\"b\"", 17,
     "a value with quotes or '#' in it must be quoted"},
    {"y = sum x axis=1#2", 17,
     "a value with quotes or '#' in it must be quoted"},
    {"y = load \"a", 10, "the string has no closing quote"},
    {"y = load \"a#b\"", 12, "write '#' inside a string as \\x23"},
    {"y = load \"a\"b", 13, "a blank is missing after the string"},
    {"y = load \"a\x01\"", 12, "control byte 1 in the line"},
    {"y = add x\x1b[31m", 10, "control byte 27 in the line"},
    {"y = add x@\x1b", 11, "control byte 27 in the line"},
    {"y = add x #1 y", 11,
     "'#1' is not a note; a note is #key or #key=value, a remark has a blank "
     "after '#'"},
    {"y = add x #n=", 14, "a value is missing after '='"},
    {"y = add x #n y", 14, "operands and keys stand before the notes"},
    {"y = add x k=1\"", 14, "a value with quotes or '#' in it must be quoted"},
};

TEST(Line, MistakesAreSaidWithTheirColumn) {
  for (const Mistake& mistake : kMistakes) {
    Line line;
    const Status s = parse_line(mistake.line, line);
    ASSERT_FALSE(s.ok()) << mistake.line;
    EXPECT_EQ(s.error().message, mistake.message) << mistake.line;
    EXPECT_EQ(s.error().column, mistake.column) << mistake.line;
  }
}

TEST(Line, MessagesQuoteLittleOfALongLine) {
  const std::string word = std::string(1000, 'a') + "-";
  const std::string message = printed("y = add " + word);
  EXPECT_LT(message.size(), 120U);
  EXPECT_LT(printed("y = add x@" + std::string(1000, '1')).size(), 120U);
}

// Lines of random fields print as they were written, and parse the same again.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::string line() {
    std::string out;
    if (chance(2)) {
      do {
        out += name() + blanks();
      } while (chance(3));
      out += "=" + blanks();
    }
    out += ident();
    while (!chance(3)) out += blanks() + operand();
    for (int i = 0; chance(2) && i < 3; ++i) {
      out += blanks() + "k" + std::to_string(i) + "=" + value();
    }
    while (chance(3)) {
      out += blanks() + "#" + ident() + (chance(2) ? "=" + value() : "");
    }
    if (chance(4)) out += blanks() + "# a remark \"# x";
    return out;
  }

 private:
  bool chance(unsigned n) { return random_() % n == 0; }
  std::string pick(std::initializer_list<const char*> words) {
    return *(words.begin() + random_() % words.size());
  }
  std::string blanks() { return pick({" ", " ", "  ", "\t", " \t "}); }
  std::string ident() {
    return pick({"x", "act/h.1", "_e0", "W2", "a_b", "c1/_s3", "nanx"});
  }
  std::string name() {
    return ident() + (chance(4) ? pick({"@0", "@0-7", "@0-6:2", "@3,1"}) : "");
  }
  std::string value() {
    return pick({"1", "2,-1", "tp:0,dp:1*64", "\"a b\"", "\"\\\"\\x23\"", "a=b",
                 "-inf"});
  }
  std::string operand() {
    return chance(2) ? name()
                     : pick({"1", "-2.5e-3", "+inf", "nan", "true", "0:4", ":",
                             "1:10:2", "f32[2,3]", "bool[]", "bf16",
                             "\"a # b\"", "\"\"", "\"a\\\\\"", "act/*"});
  }

  std::mt19937_64 random_;
};

TEST(Line, PrintingIsStable) {
  Generator generator(7);
  size_t good = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = generator.line();
    Line first;
    if (!parse_line(text, first).ok()) continue;  // "# b" in a string
    ++good;
    std::string once;
    append_line(once, first);
    Line second;
    ASSERT_TRUE(parse_line(once, second).ok()) << once;
    ASSERT_EQ(first.operands.size(), second.operands.size()) << text;
    for (size_t k = 0; k < first.operands.size(); ++k) {
      EXPECT_EQ(first.operands[k].kind, second.operands[k].kind) << text;
      EXPECT_EQ(first.operands[k].text, second.operands[k].text) << text;
      EXPECT_EQ(first.operands[k].ranks, second.operands[k].ranks) << text;
    }
    EXPECT_EQ(first.results.size(), second.results.size()) << text;
    EXPECT_EQ(first.keys.size(), second.keys.size()) << text;
    EXPECT_EQ(first.notes.size(), second.notes.size()) << text;
    EXPECT_EQ(first.remark, second.remark) << text;
    std::string twice;
    append_line(twice, second);
    EXPECT_EQ(once, twice);
  }
  EXPECT_GT(good, 10000U);
}

TEST(Line, AnyBytesParseOrAreRefused) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t n = random() % 24; n > 0; --n) {
      constexpr std::string_view kLikely = " =#\"\\@*[]:,-.x1f32\t";
      text += random() % 4 == 0 ? static_cast<char>(random())
                                : kLikely[random() % kLikely.size()];
    }
    Line line;
    const Status s = parse_line(text, line);
    if (!s.ok()) {
      EXPECT_GE(s.error().column, 1U) << text;
      EXPECT_LE(s.error().column, text.size() + 1) << text;
      continue;
    }
    std::string once, twice;
    append_line(once, line);
    Line again;
    ASSERT_TRUE(parse_line(once, again).ok()) << once;
    append_line(twice, again);
    EXPECT_EQ(once, twice);
  }
}

// A line without its notes is what sed 's/ #.*//' leaves.
TEST(Line, NotesCanBeStripped) {
  Generator generator(13);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = generator.line();
    Line line;
    if (!parse_line(text, line).ok()) continue;
    std::string whole, bare;
    append_line(whole, line);
    append_instruction(bare, line);
    EXPECT_EQ(whole.substr(0, whole.find(" #")), bare);
  }
}

TEST(Quote, RoundTripsAllBytes) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  const std::string quoted = quote(all);
  EXPECT_EQ(unquote(quoted), all);
  EXPECT_EQ(quoted.find('#'), std::string::npos);
  Line line;
  EXPECT_TRUE(parse_line("y = fail " + quoted, line).ok());
  EXPECT_EQ(quote("a\"b\\c#d\n"), "\"a\\\"b\\\\c\\x23d\\n\"");
  EXPECT_EQ(unquote("bare"), "bare");
  EXPECT_EQ(unquote("\"\""), "");
  EXPECT_EQ(unquote("\"\\q\\x2\""), "qx2");
}

std::string range_text(std::string_view text) {
  const auto range = parse_range(text);
  if (!range.ok()) return "no";
  const auto part = [](std::optional<int64_t> n) {
    return n ? std::to_string(*n) : "-";
  };
  return part(range.value().start) + " " + part(range.value().stop) + " " +
         part(range.value().step);
}

TEST(Range, HasThreeOptionalParts) {
  EXPECT_EQ(range_text(":"), "- - -");
  EXPECT_EQ(range_text("1:"), "1 - -");
  EXPECT_EQ(range_text(":-2"), "- -2 -");
  EXPECT_EQ(range_text("::2"), "- - 2");
  EXPECT_EQ(range_text("1:10:-3"), "1 10 -3");
  EXPECT_EQ(range_text("1"), "no");
  EXPECT_EQ(range_text(""), "no");
  EXPECT_EQ(range_text(":::"), "no");
  EXPECT_EQ(range_text("a:b"), "no");
  EXPECT_EQ(range_text("1:99999999999999999999"), "no");
}

}  // namespace
}  // namespace gt
