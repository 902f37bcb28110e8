// Types and costs are derived from the text alone.
#include "log/typing.h"

#include <gtest/gtest.h>

#include <string>

namespace gt::log {
namespace {

// "op typed bytes flops" for each line.
std::string priced(Typing& typing, const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const Priced& one = typing.take(text.substr(at, end - at));
    out += one.op + " " + (one.typed ? "yes" : "no") + " " +
           std::to_string(static_cast<int64_t>(one.bytes)) + " " +
           std::to_string(static_cast<int64_t>(one.flops)) + "\n";
    at = end + 1;
  }
  return out;
}

std::string type_of(const Typing& typing, std::string_view name,
                    std::string_view ranks = {}) {
  const Type* type = typing.type_of(Name{name, ranks, 0});
  return type == nullptr ? "none" : to_string(*type);
}

TEST(Typing, PricesALineByItsTypes) {
  Typing typing;
  EXPECT_EQ(priced(typing,
                   "x = ones f32[8,4]\n"
                   "w = ones f32[4,2]\n"
                   "y = matmul x w\n"
                   "y = add y 1\n"),
            "ones yes 128 0\n"
            "ones yes 32 0\n"
            "matmul yes 224 128\n"
            "add yes 128 16\n");
  EXPECT_EQ(type_of(typing, "y"), "f32[8,2]");
}

TEST(Typing, AKnownLineIsPricedAnewWhenItsOperandsChange) {
  Typing typing;
  EXPECT_EQ(priced(typing,
                   "x = ones f32[2]\n"
                   "y = neg x\n"
                   "y = neg x\n"
                   "x = ones f64[3]\n"
                   "y = neg x\n"
                   "x = ones f32[2]\n"
                   "y = neg x\n"),
            "ones yes 8 0\nneg yes 16 2\nneg yes 16 2\n"
            "ones yes 24 0\nneg yes 48 3\n"
            "ones yes 8 0\nneg yes 16 2\n");
}

TEST(Typing, ALineThatCannotBeTypedSpreadsNoFurtherThanItsReaders) {
  Typing typing;
  EXPECT_EQ(priced(typing,
                   "x = load \"x.npy\"\n"
                   "y = relu x\n"
                   "z = ones f32[1]\n"
                   "not a line = = \"\n"
                   "y = relu z\n"),
            "load no 0 0\n"
            "relu no 0 0\n"
            "ones yes 4 0\n"
            " no 0 0\n"
            "relu yes 8 1\n");
}

TEST(Typing, FreeFailAndGradChangeWhatNamesAre) {
  Typing typing;
  priced(typing,
         "w = ones f32[3]\n"
         "l = sum w\n"
         "g = grad l w\n"
         "a/x = ones f32[1]\n"
         "a/y = ones f32[1]\n"
         "b = ones f32[1]\n");
  EXPECT_EQ(type_of(typing, "g"), "f32[3]");
  for (int i = 0; i < 2; ++i) {  // the second time the line is known
    priced(typing,
           "a/x = ones f32[1]\n"
           "free a/*\n"
           "b = fail \"no\"\n");
    EXPECT_EQ(type_of(typing, "a/x"), "none");
    EXPECT_EQ(type_of(typing, "a/y"), "none");
    EXPECT_EQ(type_of(typing, "b"), "none");
    EXPECT_EQ(type_of(typing, "w"), "f32[3]");
    priced(typing, "b = ones f32[1]\na/y = ones f32[1]");
  }
}

TEST(Typing, PiecesHaveTypesOfTheirOwn) {
  Typing typing;
  EXPECT_EQ(priced(typing,
                   "mesh dp=3\n"
                   "x@0-2 = ones f32[7,2] split=dp:0\n"
                   "y@0-2 = mul x@0-2 2\n"
                   "y@1-2 = all_gather y@1-2 src=S0\n"
                   "x@1 = copy y@2\n"
                   "free y@0-1\n"),
            "mesh yes 0 0\n"
            "ones yes 56 0\n"
            "mul yes 112 14\n"
            "all_gather yes 96 0\n"
            "copy yes 64 0\n"
            "free yes 0 0\n");
  EXPECT_EQ(type_of(typing, "x", "0"), "f32[3,2]");
  EXPECT_EQ(type_of(typing, "x", "1"), "f32[4,2]");
  EXPECT_EQ(type_of(typing, "x", "2"), "f32[2,2]");
  EXPECT_EQ(type_of(typing, "y", "0"), "none");
  EXPECT_EQ(type_of(typing, "y", "2"), "f32[4,2]");
}

TEST(Typing, ANewMeshMakesOldPricesVoid) {
  Typing typing;
  EXPECT_EQ(priced(typing,
                   "mesh dp=2\n"
                   "x@0-1 = ones f32[4] split=dp:0\n"
                   "mesh dp=1 tp=2\n"
                   "x@0-1 = ones f32[4] split=dp:0\n"
                   "y@0-1 = relu q@0-1\n"
                   "y@0-1 = relu q\n"),
            "mesh yes 0 0\n"
            "ones yes 16 0\n"
            "mesh yes 0 0\n"
            "ones yes 32 0\n"
            "relu no 0 0\n"
            "relu no 0 0\n");
}

TEST(Typing, SignalsAreUnquoted) {
  Typing typing;
  EXPECT_EQ(typing.take("x = ones f32[1] #bwd #signal=a/b").signal, "a/b");
  EXPECT_EQ(typing.take("x = ones f32[1] #signal=\"a b\"").signal, "a b");
  EXPECT_EQ(typing.take("x = ones f32[1]").signal, "");
}

// A stream of new names, all of which are freed, and of new lines.
TEST(Typing, LongStreamsAreTypedToTheEnd) {
  Typing typing;
  for (int i = 0; i < 60'000; ++i) {
    const std::string x = "x" + std::to_string(i);
    typing.take(x + " = ones f32[2]");
    EXPECT_TRUE(typing.take("y = neg " + x).typed);
    typing.take("free " + x);
  }
}

}  // namespace
}  // namespace gt::log
