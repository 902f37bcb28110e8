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

template <typename Number>
std::string text_of(Number v) {
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

template <typename Half>
class Halves : public testing::Test {};
using BothHalves = testing::Types<F16, Bf16>;
TYPED_TEST_SUITE(Halves, BothHalves);

// All 65536 values of a 16-bit float are tested.
TYPED_TEST(Halves, ReadBack) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const TypeParam half{static_cast<uint16_t>(bits)};
    const auto value = static_cast<float>(half);
    if (std::isnan(value)) {
      const auto again = static_cast<float>(TypeParam::from(value));
      ASSERT_TRUE(std::isnan(again)) << bits;
      continue;
    }
    ASSERT_EQ(TypeParam::from(value).bits, bits);
    std::string text;
    append_number(text, half);
    const auto back = parse_number(text);
    ASSERT_TRUE(back.has_value()) << text;
    ASSERT_EQ(TypeParam::from(static_cast<float>(back->real)).bits, bits)
        << text;
    ASSERT_LE(text.size(), text_of(value).size()) << text;
  }
}

// Between two neighbours the nearest number is chosen, and of equally near ones
// the even.
TYPED_TEST(Halves, RoundToNearestEven) {
  const auto largest = std::is_same_v<TypeParam, F16> ? 0x7bffU : 0x7f7fU;
  for (uint32_t bits = 0; bits < largest; ++bits) {
    const TypeParam low{static_cast<uint16_t>(bits)};
    const TypeParam high{static_cast<uint16_t>(bits + 1)};
    const auto middle = static_cast<float>(
        (static_cast<double>(low) + static_cast<double>(high)) / 2);
    const auto round = [](float v) { return TypeParam::from(v).bits; };
    ASSERT_EQ(round(middle), bits % 2 == 0 ? low.bits : high.bits) << bits;
    ASSERT_EQ(round(std::nextafter(middle, 0.0F)), low.bits) << bits;
    ASSERT_EQ(round(std::nextafter(middle, HUGE_VALF)), high.bits) << bits;
  }
}

TEST(Number, HalvesEndInInfinity) {
  EXPECT_EQ(F16::from(65519.0F).bits, 0x7bff);
  EXPECT_EQ(F16::from(65520.0F).bits, 0x7c00);
  EXPECT_EQ(F16::from(-1e30F).bits, 0xfc00);
  EXPECT_EQ(Bf16::from(std::numeric_limits<float>::max()).bits, 0x7f80);
}

TEST(Number, HalvesPrintTheirOwnDigits) {
  EXPECT_EQ(text_of(F16::from(0.1F)), "0.1");
  EXPECT_EQ(text_of(Bf16::from(0.1F)), "0.1");
  EXPECT_EQ(text_of(F16::from(65504)), "65504");
  EXPECT_EQ(text_of(Bf16::from(9984)), "9984");
}

TEST(Dtype, RangesAreThoseOfTheElements) {
  EXPECT_EQ(least_of(Dtype::kI64), INT64_MIN);
  EXPECT_EQ(greatest_of(Dtype::kI64), INT64_MAX);
  EXPECT_EQ(least_of(Dtype::kI32), INT32_MIN);
  EXPECT_EQ(greatest_of(Dtype::kI32), INT32_MAX);
  EXPECT_EQ(least_of(Dtype::kU8), 0);
  EXPECT_EQ(greatest_of(Dtype::kU8), 255);
  EXPECT_FALSE(holds(Dtype::kBool, 2));
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
  // Sums of runs, where they are shorter.
  EXPECT_EQ(ranks_text("0-1,8-9"), "0-1,8-9");
  EXPECT_EQ(ranks_text("0-1,8-9,16-17"), "0-1+0-16:8");
  EXPECT_EQ(ranks_text("2-3,10-11,18-19"), "2-3+0-16:8");
  EXPECT_EQ(ranks_text("5,7,13,15,21,23"), "5-7:2+0-16:8");
  EXPECT_EQ(ranks_text("0-1+0-16:8+0-96:32"), "0-1+0-16:8+0-96:32");
  EXPECT_EQ(ranks_text("0+4-6+0-100:100"), "4-6,104-106");
  EXPECT_EQ(ranks_text("0-1,8-9,16-18"), "0-1,8-9,16-18");
  EXPECT_EQ(ranks_text("0-1+0-16:8,40"), "0-1,8-9,16-17,40");
  EXPECT_EQ(ranks_text("1+0-2+0-3"), "rank set '1+0-2+0-3' names a rank twice");
  EXPECT_EQ(ranks_text("0-1+"),
            "'0-1+' is not a rank set such as 3, 0-7, 0-6:2 or 0,2");
}

// Any part of a mesh that its axes bound comes back as it was, and its text
// does not become longer with the number of ranks.
TEST(Ranks, OfMeshesHaveShortTexts) {
  for (int axis = 0; axis < 16; ++axis) {  // bit a: the part has all of axis a
    std::vector<int64_t> ranks;
    for (int64_t rank = 0; rank < 16 * 8 * 4 * 2; ++rank) {
      const int64_t at[] = {rank / 64, rank / 8 % 8, rank / 2 % 4, rank % 2};
      bool is_in = true;
      for (int a = 0; a < 4; ++a) is_in &= (axis >> a & 1) != 0 || at[a] == 1;
      if (is_in) ranks.push_back(rank);
    }
    const std::string text = to_string(ranks);
    EXPECT_LE(text.size(), 24U) << text;
    const auto again = parse_ranks(text);
    ASSERT_TRUE(again.ok()) << text;
    EXPECT_EQ(again.value(), ranks) << text;
  }
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
