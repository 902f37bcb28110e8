#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "check/checker.h"

namespace gt::check {
namespace {

// The lines with findings, and their kinds, as "4: src-type".
std::string findings(Checker& checker, std::string_view text) {
  std::string out;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const Checker::Checked& line = checker.take(text.substr(0, end));
    if (line.is_unreadable) out += line.error.message + "\n";
    for (const Problem& problem : line.problems) {
      out += (out.empty() ? "" : "; ") + std::to_string(number) + ": " +
             problem.kind;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string findings(std::string_view text) {
  Checker checker({});
  return findings(checker, text);
}

// The findings where x is on ranks 0 to 3 of a grid, and is copied to the ranks
// `to`.
std::string copied(const std::string& x, const std::string& to) {
  return findings("mesh pp=2 dp=2 tp=2\n" + x + "\ny@" + to +
                  " = copy x@0-3\n");
}

TEST(Check, CopiesToOtherCoordinatesOfOneAxis) {
  const std::string x =
      "mesh workers=4\nx@0-1 = ones f32[4,2] split=workers:0\n";
  EXPECT_EQ("", findings(x + "y@2-3 = copy x@0-1\nz@1,3 = copy y@2-3\n"
                             "print z@1,3 split=workers:0 as=z\n"));
  EXPECT_EQ("3: src-type", findings(x + "y@3,2 = copy x@0-1\n"));
  EXPECT_EQ("", findings(x + "y@1,0 = copy x@1,0\n"));
}

TEST(Check, CopiesThatTurnAGrid) {
  const std::string cut = "x@0-3 = ones f32[4,4] split=dp:0,tp:1";
  EXPECT_EQ("", copied(cut, "4-7"));
  EXPECT_EQ("3: src-type", copied(cut, "4,6,5,7"));
  EXPECT_EQ("3: src-type", copied(cut, "5,4,7,6"));
  // Summands may change places within their sum, but not go to another sum.
  const std::string sum = "x@0-3 = ones f32[4,4] #type=tp:P,dp:R";
  EXPECT_EQ("", copied(sum, "4-7"));
  EXPECT_EQ("", copied(sum, "5,4,7,6"));
  EXPECT_EQ("3: src-type", copied(sum, "4,6,5,7"));
  EXPECT_EQ("", copied("x@0-3 = ones f32[4,4]", "4,6,5,7"));
}

TEST(Check, EqualLinesOverOtherTypes) {
  Checker checker({});
  const std::string step = "y@0-1 = relu x@0-1\n";
  EXPECT_EQ("", findings(checker, "mesh tp=2\nx@0-1 = ones f32[4,2]\n" + step +
                                      step + step));
  EXPECT_EQ("2: part-nonlin",
            findings(checker, "x@0-1 = ones f32[4,2] #type=tp:P\n" + step));
  EXPECT_EQ("2: part-nonlin",
            findings(checker, "x@0-1 = ones f32[4,2] #type=tp:P\n" + step));
  EXPECT_EQ("", findings(checker, "x@0-1 = ones f32[4,2] split=tp:0\n" + step));
}

TEST(Check, ANameInPartsOnSomeRanks) {
  const std::string mesh = "mesh pp=2 tp=2\n";
  const std::string parts =
      mesh +
      "x@0-1 = ones f32[4] split=tp:0\nx@2-3 = zeros f32[4] split=tp:0\n";
  EXPECT_EQ("", findings(parts + "y@2-3 = relu x@2-3\n"));
  // The parts are unrelated along pp, and no dimension is cut there.
  EXPECT_EQ("4: vary-global", findings(parts + "y@0-3 = relu x@0-3\n"));
  EXPECT_EQ("3: unbound", findings(mesh + "x@0-1 = ones f32[4]\n"
                                          "y@0-3 = relu x@0-3\n"));
  EXPECT_EQ("", findings(parts + "free x@0-1\ny@2-3 = relu x@2-3\n"));
  EXPECT_EQ("5: unbound", findings(parts + "free x@0-1\ny@0-1 = relu x@0-1\n"));
}

TEST(Check, TheGradientOfAValueOnOtherRanks) {
  const std::string text =
      "mesh tp=3\nw@0-2 = ones f32[4]\nx@0-2 = ones f32[4] #type=tp:I\n";
  const std::string gradient = "g@0-2 = neg x@0-2 #grad=w\n";
  EXPECT_EQ("4: dual", findings(text + gradient));
  EXPECT_EQ("", findings(text + "w@2 = mul w@2 2\n" + gradient));
  EXPECT_EQ("", findings(text + "g@1-2 = neg x@1-2 #grad=w\n"));
}

TEST(Check, TheGradientOfASummand) {
  const std::string text =
      "mesh tp=2\nw@0-1 = ones f32[4] #type=tp:P\nx@0-1 = ones f32[4]";
  EXPECT_EQ("", findings(text + "\ng@0-1 = neg x@0-1 #grad=w\n"));
  EXPECT_EQ("", findings(text + " split=tp:0\ng@0-1 = neg x@0-1 #grad=w\n"));
  EXPECT_EQ("4: dual",
            findings(text + " #type=tp:I\ng@0-1 = neg x@0-1 #grad=w\n"));
}

// What is said of y, which reads an x that was typed on the axes of another
// mesh.
std::string on_other_axes(const std::string& x, const std::string& type,
                          const std::string& y) {
  Checker checker({});
  findings(checker, "mesh " + x + "\nx = load \"x\" f32[4] #type=" + type +
                        "\nmesh " + y + "\n");
  const Checker::Checked& line = checker.take("y = neg x");
  if (line.problems.empty()) return "";
  return line.problems[0].kind + ": " + line.problems[0].message;
}

TEST(Check, AxesOfAnotherMeshThatAreParts) {
  EXPECT_EQ("",
            on_other_axes("dp=2 cp=2 tp=2", "dp:R,cp:R,tp:R", "dp_cp=4 tp=2"));
  EXPECT_EQ(
      "axis-missing: x: axes dp and dp_cp do not cover the same ranks; "
      "of dp_cp, cp is missing",
      on_other_axes("dp=2 cp=2 tp=2", "dp:R,tp:R", "dp_cp=4 tp=2"));
}

}  // namespace
}  // namespace gt::check
