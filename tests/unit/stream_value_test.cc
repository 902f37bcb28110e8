// Numbers, types and sets of ranks as text.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <regex>

#include "stream/number.h"
#include "stream/ranks.h"
#include "stream/type.h"

namespace gt {
namespace {

std::string text_of(double v) {
  std::string out;
  append_number(out, v);
  return out;
}
std::string text_of(float v) {
  std::string out;
  append_number(out, v);
  return out;
}

// The grammar as a regular expression is compared with all words of up to four
// of the letters that numbers have, and with random ones.
TEST(Number, LengthIsThatOfTheGrammar) {
  const std::regex grammar(
      "true|false|nan|[+-]?(inf|([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?"
      ")");
  const std::vector<std::string> words = {
      "0", "7",   "12345678", "9876543210", "+",     "-", ".", "e",
      "E", "inf", "nan",      "true",       "false", " ", ":", "\xfa"};
  std::mt19937 random(1);
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (size_t n = random() % 7; n > 0; --n) {
      text += words[random() % words.size()];
    }
    std::smatch match;
    const auto at_front = std::regex_constants::match_continuous;
    const bool is_found = std::regex_search(text, match, grammar, at_front);
    const size_t length =
        is_found ? static_cast<size_t>(match.length()) : size_t{0};
    EXPECT_EQ(number_length(text), length) << text;
    EXPECT_EQ(is_number(text), parse_number(text).has_value()) << text;
  }
}

TEST(Number, IsOneWhereItHasAValue) {
  constexpr std::string_view kLetters = "019+-.eEinftrua)";
  std::string text;
  const std::function<void(size_t)> try_all = [&](size_t more) {
    EXPECT_EQ(is_number(text), parse_number(text).has_value()) << text;
    if (more == 0) return;
    for (const char letter : kLetters) {
      text.push_back(letter);
      try_all(more - 1);
      text.pop_back();
    }
  };
  try_all(4);
  for (const std::string_view beginning : {"1.5e", "-inf", "tru", "1e+30"}) {
    text = beginning;
    try_all(3);
  }
}

TEST(Number, HasTheCategoryOfItsSpelling) {
  using Kind = Number::Kind;
  EXPECT_EQ(parse_number("1")->kind, Kind::kInteger);
  EXPECT_EQ(parse_number("-9223372036854775808")->integer, INT64_MIN);
  EXPECT_EQ(parse_number("+7")->integer, 7);
  EXPECT_EQ(parse_number("1.0")->kind, Kind::kFloat);
  EXPECT_EQ(parse_number("1e3")->kind, Kind::kFloat);
  EXPECT_EQ(parse_number(".5")->real, 0.5);
  EXPECT_EQ(parse_number("5.")->real, 5.0);
  EXPECT_EQ(parse_number("-inf")->real, -HUGE_VAL);
  EXPECT_EQ(parse_number("+inf")->real, HUGE_VAL);
  EXPECT_TRUE(std::isnan(parse_number("nan")->real));
  EXPECT_EQ(parse_number("true")->kind, Kind::kBool);
  EXPECT_EQ(parse_number("true")->integer, 1);
  EXPECT_TRUE(std::signbit(parse_number("-0.0")->real));
}

TEST(Number, RefusesWhatIsNone) {
  for (const char* text :
       {"",    "+",   "-",    "--1",  "+-1",      "1e",  "e1",  "0x10",
        "1_0", "1,0", "-nan", "+nan", "infinity", "INF", "NaN", "nan(1)",
        "1f",  "1 ",  " 1",   "1:2",  "True",     "."}) {
    EXPECT_FALSE(parse_number(text).has_value()) << text;
  }
}

TEST(Number, BeyondTheRangeIsTheNearest) {
  EXPECT_EQ(parse_number("9223372036854775808")->kind, Number::Kind::kFloat);
  EXPECT_EQ(parse_number("12345678901234567168")->real, 12345678901234567168.0);
  EXPECT_EQ(parse_number("1e400")->real, HUGE_VAL);
  EXPECT_EQ(parse_number("-1e400")->real, -HUGE_VAL);
  EXPECT_EQ(parse_number("1e-400")->real, 0.0);
  EXPECT_TRUE(std::signbit(parse_number("-1e-400")->real));
  const std::string zeros(400, '0');
  EXPECT_EQ(parse_number("0." + zeros + "1")->real, 0.0);
  EXPECT_EQ(parse_number("1" + zeros)->real, HUGE_VAL);
  EXPECT_EQ(parse_number("1" + zeros + "e-400")->real, 1.0);
  EXPECT_EQ(parse_number("0." + zeros + "1e401")->real, 1.0);
  EXPECT_EQ(parse_number("1e-99999999999999999999")->real, 0.0);
  EXPECT_EQ(parse_number("1e99999999999999999999")->real, HUGE_VAL);
  EXPECT_EQ(parse_number("0e99999999999999999999")->real, 0.0);
}

TEST(Number, PrintsShortestDigits) {
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(0.1F), "0.1");
  EXPECT_EQ(text_of(3.0), "3");
  EXPECT_EQ(text_of(1e-8), "1e-08");
  EXPECT_EQ(text_of(-0.0), "-0");
  EXPECT_EQ(text_of(std::nan("")), "nan");
  EXPECT_EQ(text_of(-std::nan("")), "nan");
  EXPECT_EQ(text_of(-HUGE_VAL), "-inf");
  std::string out;
  append_number(out, int64_t{INT64_MIN});
  EXPECT_EQ(out, "-9223372036854775808");
}

TEST(Number, DoublesReadBack) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (std::isnan(value)) continue;
    const auto back = parse_number(text_of(value));
    ASSERT_TRUE(back.has_value()) << text_of(value);
    ASSERT_EQ(std::bit_cast<uint64_t>(back->real),
              std::bit_cast<uint64_t>(value))
        << text_of(value);
  }
}

TEST(Number, FloatsReadBack) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isnan(value)) continue;
    const auto back = parse_number(text_of(value));
    ASSERT_TRUE(back.has_value()) << text_of(value);
    ASSERT_EQ(std::bit_cast<uint32_t>(static_cast<float>(back->real)),
              std::bit_cast<uint32_t>(value))
        << text_of(value);
  }
}

// All 65536 values of each 16-bit float are tested.
TEST(Number, HalvesReadBack) {
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBf16}) {
    const bool f16 = dtype == Dtype::kF16;
    for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
      const auto half = static_cast<uint16_t>(bits);
      const float value = f16 ? float_from_f16(half) : float_from_bf16(half);
      if (std::isnan(value)) {
        const float again = f16 ? float_from_f16(f16_from_float(value))
                                : float_from_bf16(bf16_from_float(value));
        ASSERT_TRUE(std::isnan(again)) << bits;
        continue;
      }
      ASSERT_EQ(f16 ? f16_from_float(value) : bf16_from_float(value), half);
      std::string text;
      append_half_number(text, value, dtype);
      const auto back = parse_number(text);
      ASSERT_TRUE(back.has_value()) << text;
      const auto real = static_cast<float>(back->real);
      ASSERT_EQ(f16 ? f16_from_float(real) : bf16_from_float(real), half)
          << text;
      ASSERT_LE(text.size(), text_of(value).size()) << text;
    }
  }
}

// Between two neighbours the nearest number is chosen, and of equally near ones
// the even.
TEST(Number, HalvesRoundToNearestEven) {
  for (const bool f16 : {true, false}) {
    const uint32_t top = f16 ? 0x7bff : 0x7f7f;  // the largest finite number
    for (uint32_t bits = 0; bits < top; ++bits) {
      const auto low = static_cast<uint16_t>(bits);
      const auto high = static_cast<uint16_t>(bits + 1);
      const float a = f16 ? float_from_f16(low) : float_from_bf16(low);
      const float b = f16 ? float_from_f16(high) : float_from_bf16(high);
      const float middle = static_cast<float>(
          (static_cast<double>(a) + static_cast<double>(b)) / 2);
      const auto round = [f16](float v) {
        return f16 ? f16_from_float(v) : bf16_from_float(v);
      };
      ASSERT_EQ(round(middle), bits % 2 == 0 ? low : high) << bits;
      ASSERT_EQ(round(std::nextafter(middle, 0.0F)), low) << bits;
      ASSERT_EQ(round(std::nextafter(middle, HUGE_VALF)), high) << bits;
    }
  }
  EXPECT_EQ(f16_from_float(65519.0F), 0x7bff);
  EXPECT_EQ(f16_from_float(65520.0F), 0x7c00);
  EXPECT_EQ(f16_from_float(-1e30F), 0xfc00);
  EXPECT_EQ(bf16_from_float(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(Number, HalvesPrintTheirOwnDigits) {
  std::string text;
  append_half_number(text, float_from_f16(f16_from_float(0.1F)), Dtype::kF16);
  EXPECT_EQ(text, "0.1");
  text.clear();
  append_half_number(text, float_from_bf16(bf16_from_float(0.1F)),
                     Dtype::kBf16);
  EXPECT_EQ(text, "0.1");
  text.clear();
  append_half_number(text, 65504, Dtype::kF16);
  EXPECT_EQ(text, "65504");
  text.clear();
  append_half_number(text, 9984, Dtype::kBf16);
  EXPECT_EQ(text, "9984");
}

std::string type_text(std::string_view text) {
  const auto type = parse_type(text);
  return type.ok() ? to_string(type.value()) : type.error().message;
}

TEST(Type, PrintsAsItParses) {
  for (const char* text : {"f32[]", "f64[0]", "bool[1,2,3]", "i64[0,5]",
                           "bf16[1,1,1,1,1,1,1,1]"}) {
    EXPECT_EQ(type_text(text), text);
  }
}

TEST(Type, RefusesWhatIsNone) {
  EXPECT_EQ(type_text("f33[2]"),
            "unknown dtype 'f33'; known: f32 f64 f16 bf16 i64 i32 u8 bool");
  EXPECT_EQ(type_text("f32"), "'f32' is not a type such as f32[128,64]");
  EXPECT_EQ(type_text("f32[2,]"), "'2,' is not a list of sizes such as 128,64");
  EXPECT_EQ(type_text("f32[a]"), "'a' is not a list of sizes such as 128,64");
  EXPECT_EQ(type_text("f32[-1]"), "size -1 is negative");
  EXPECT_EQ(type_text("f32[99999999999999999999]"),
            "size in '99999999999999999999' is out of range");
  EXPECT_EQ(type_text("f32[1,1,1,1,1,1,1,1,1]"), "more than 8 dimensions");
  EXPECT_EQ(type_text("f64[4294967296,4294967296]"),
            "f64[4294967296,4294967296] is too large: over 2^60 bytes");
  EXPECT_EQ(type_text("f32[0,4611686018427387904]"),
            "f32[0,4611686018427387904] is too large: over 2^60 bytes");
}

TEST(Type, CountsElementsAndBytes) {
  EXPECT_EQ(parse_type("f64[2,3]").value().bytes(), 48U);
  EXPECT_EQ(parse_type("f32[]").value().elements(), 1);
  EXPECT_EQ(parse_type("f32[0,7]").value().elements(), 0);
}

TEST(Shape, InsertsAndErases) {
  Shape shape{2, 3};
  shape.insert(1, 5);
  EXPECT_EQ(to_string(shape), "2,5,3");
  shape.insert(3, 7);
  EXPECT_EQ(to_string(shape), "2,5,3,7");
  shape.erase(0);
  EXPECT_EQ(to_string(shape), "5,3,7");
  EXPECT_EQ(shape.back(), 7);
  EXPECT_FALSE(shape == (Shape{5, 3}));
}

std::string ranks_text(std::string_view text) {
  const auto ranks = parse_ranks(text);
  return ranks.ok() ? to_string(ranks.value()) : ranks.error().message;
}

TEST(Ranks, PrintTheirCanonicalSpelling) {
  EXPECT_EQ(ranks_text("3"), "3");
  EXPECT_EQ(ranks_text("0,1,2,3"), "0-3");
  EXPECT_EQ(ranks_text("0-6:2"), "0-6:2");
  EXPECT_EQ(ranks_text("0,2,4"), "0-4:2");
  EXPECT_EQ(ranks_text("0,2"), "0,2");
  EXPECT_EQ(ranks_text("0-7:2"), "0-6:2");
  EXPECT_EQ(ranks_text("4,0-1"), "4,0-1");
  EXPECT_EQ(ranks_text("5-5"), "5");
  EXPECT_EQ(ranks_text("3,2,1"), "3,2,1");
}

TEST(Ranks, RefuseWhatIsNone) {
  for (const char* text : {"", "a", "-1", "3-1", "0-", "0,", ",0", "0-4:0",
                           "1048576", "0-3:-1", "0 1"}) {
    EXPECT_FALSE(parse_ranks(text).ok()) << text;
  }
  EXPECT_EQ(ranks_text("0-3,2"), "rank set '0-3,2' names a rank twice");
}

TEST(Ranks, RandomSetsReadBack) {
  std::mt19937_64 random(17);
  for (int i = 0; i < 5000; ++i) {
    std::vector<int64_t> ranks(16);
    for (size_t k = 0; k < ranks.size(); ++k) {
      ranks[k] = static_cast<int64_t>(k);
    }
    if (random() % 2 == 0) std::shuffle(ranks.begin(), ranks.end(), random);
    std::erase_if(ranks, [&](int64_t) { return random() % 3 == 0; });
    if (ranks.empty()) continue;
    const auto back = parse_ranks(to_string(ranks));
    ASSERT_TRUE(back.ok()) << to_string(ranks);
    EXPECT_EQ(back.value(), ranks);
  }
}

}  // namespace
}  // namespace gt
