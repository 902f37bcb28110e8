#include "program/walker.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace gt {
namespace {

// For each line the types of its results, "x f32[2]" or "x@0 f32[2]", or "?".
std::string walked(Walker& walker, const std::string& text, int* calls = {}) {
  std::istringstream lines(text);
  std::string out;
  for (std::string one; std::getline(lines, one);) {
    Line line;
    EXPECT_TRUE(parse_line(one, line).ok()) << one;
    const WalkedLine& known = walker.take(line, [&](const Call&) {
      if (calls != nullptr) ++*calls;
    });
    if (!known.is_typed) out += "untyped ";
    for (const WalkedPart& part : known.writes) {
      if (known.statement == Statement::kFree) continue;
      out += std::string(line.results[part.place].text);
      if (part.rank >= 0) out += "@" + std::to_string(part.rank);
      const TypeId type = part.stamp.type;
      out +=
          " " + (type == kNoType ? "?" : to_string(walker.type(type))) + "; ";
    }
  }
  return out;
}

TEST(Walker, KnowsWhatNamesHold) {
  Walker walker;
  EXPECT_EQ(walked(walker,
                   "x = ones f32[8,4]\n"
                   "w = ones f32[4,2]\n"
                   "y = matmul x w\n"
                   "v i = topk y size=1\n"
                   "free x y\n"
                   "z = neg y\n"),
            "x f32[8,4]; w f32[4,2]; y f32[8,2]; v f32[8,1]; i i64[8,1]; "
            "untyped z ?; ");
  EXPECT_EQ(walker.type_of({"y", {}, 0}), nullptr);
  EXPECT_EQ(to_string(*walker.type_of({"w", {}, 0})), "f32[4,2]");
}

TEST(Walker, KnowsThePiecesOfEveryRank) {
  Walker walker;
  int calls = 0;
  EXPECT_EQ(walked(walker,
                   "mesh tp=2\n"
                   "x@0-1 = ones f32[5] split=tp:0\n"
                   "y@0-1 = neg x@0-1\n",
                   &calls),
            "x@0 f32[3]; x@1 f32[2]; y@0 f32[3]; y@1 f32[2]; ");
  EXPECT_EQ(calls, 4);
  // An op that crosses ranks is not a call of a single rank.
  EXPECT_EQ(
      walked(walker,
             "z@0-1 = all_gather x@0-1 over=tp src=S0 split=tp:0 shape=5\n",
             &calls),
      "z@0 f32[5]; z@1 f32[5]; ");
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(walked(walker, "free y@1\nu@0-1 = add x@0-1 y@0-1\n"),
            "untyped u@0 ?; u@1 ?; ");
}

TEST(Walker, ALineHoldsWhileWhatItReadsIsOfTheSameTypes) {
  Walker walker;
  walked(walker, "x = ones f32[2]\n");
  Line line;
  ASSERT_TRUE(parse_line("y = neg x", line).ok());
  const WalkedLine known = walker.take(line);
  walked(walker, "x = zeros f32[2]\n");
  EXPECT_TRUE(walker.still_holds(known));
  walked(walker, "x = ones f32[3]\n");
  EXPECT_FALSE(walker.still_holds(known));
}

TEST(Walker, AGlobFreesAllThatItMatches) {
  Walker walker;
  walked(walker, "a1 = ones f32[]\na2@0-1 = ones f32[]\nb = ones f32[]\n");
  walked(walker, "free a*\n");
  EXPECT_EQ(walker.type_of({"a1", {}, 0}), nullptr);
  EXPECT_EQ(walker.type_of({"a2", "0-1", 0}), nullptr);
  EXPECT_NE(walker.type_of({"b", {}, 0}), nullptr);
}

}  // namespace
}  // namespace gt
