// Programs with ranks on one worker: registers by rank, collectives, and
// failures.
#include <gtest/gtest.h>

#include "exec_harness.h"

namespace gt::exec {
namespace {

TEST(Placed, RegistersAreByNameAndRank) {
  const Outcome r = run_text(
      "x@0-3 = tensor f32[] 1\n"
      "x@1-2 = tensor f32[] 2\n"
      "y@0-3 = add x@0-3 x@0-3\n"
      "x = tensor f32[] 9\n"
      "free x@0,2\n"
      "print y@0-3\nprint x@1\nprint x@3 as=z\nprint x\n");
  EXPECT_EQ(r.out,
            "y@0 = tensor f32[] 2\ny@1 = tensor f32[] 4\n"
            "y@2 = tensor f32[] 4\ny@3 = tensor f32[] 2\n"
            "x@1 = tensor f32[] 2\nz = tensor f32[] 1\nx = tensor f32[] 9\n");
  EXPECT_EQ(r.messages, "");
}

TEST(Placed, CopyMovesByPositionAllAtOnce) {
  const Outcome r = run_text(
      "x@0 = tensor f32[] 1\nx@1 = tensor f32[] 2\nx@2 = tensor f32[] 3\n"
      "x@1-2 = copy x@0-1\n"
      "y@4-5 = copy x@2\n"
      "print x@0-2\nprint y@4-5\n");
  EXPECT_EQ(r.out,
            "x@0 = tensor f32[] 1\nx@1 = tensor f32[] 1\n"
            "x@2 = tensor f32[] 2\ny@4 = tensor f32[] 2\n"
            "y@5 = tensor f32[] 2\n");
}

// The tree of three is (a + b) + c.
TEST(Placed, SumsAreTakenInOneTree) {
  const Outcome r = run_text(
      "x@0 = tensor f32[] 1e8\nx@1 = tensor f32[] -1e8\n"
      "x@2 = tensor f32[] 1\n"
      "y@0-2 = all_reduce x@0-2\nprint y@0\n"
      "x@3 = tensor f32[] 1e8\n"
      "z@0-3 = all_reduce x@0-3\nprint z@0\n"
      "w@2,0,1 = all_reduce x@2,0,1\nprint w@0\n");
  EXPECT_EQ(r.out,
            "y@0 = tensor f32[] 1\nz@0 = tensor f32[] 1e+08\n"
            "w@0 = tensor f32[] 0\n");
}

TEST(Placed, AFailureStaysOnItsRank) {
  const Outcome r = run_text(
      "x@0-1 = tensor i64[] 3\nx@1 = tensor i64[] 0\n"
      "y@0-1 = mod 7 x@0-1\n"
      "z@0-1 = add y@0-1 1\nprint z@0-1\n"
      "s@0-1 = all_reduce y@0-1\nprint s@0\n");
  EXPECT_EQ(r.out,
            "z@0 = tensor i64[] 2\n"
            "z@1 = fail \"t:3: mod: integer division by zero\"\n"
            "s@0 = fail \"t:3: mod: integer division by zero\"\n");
}

TEST(Placed, ARejectedLineFailsOnAllItsRanks) {
  const Outcome r = run_text(
      "x@0-1 = ones f32[2]\nw@0-1 = ones f32[3]\n"
      "y@0-1 = add x@0-1 w@0-1\nprint y@0-1\n"
      "z@0-1 = neg y@0-1\nprint z@1\n");
  EXPECT_EQ(r.out,
            "y@0 = fail \"t:3: add: x f32[2] and w f32[3] do not broadcast\"\n"
            "y@1 = fail \"t:3: add: x f32[2] and w f32[3] do not broadcast\"\n"
            "z@1 = fail \"t:3: add: x f32[2] and w f32[3] do not "
            "broadcast\"\n");
}

TEST(Placed, RepeatedLinesFollowTheirMeshAndTypes) {
  std::string text = "mesh tp=2\n";
  for (int i = 0; i < 4; ++i) {
    text +=
        "x@0-1 = arange f32[3] split=tp:0\ny@0-1 = sum x@0-1\n"
        "z@0-1 = all_reduce y@0-1 over=tp\nprint z@1\n";
  }
  text += "mesh dp=2\n";
  text += "x@0-1 = arange f32[3] split=tp:0\nprint x@0\n";
  const Outcome r = run_text(text);
  EXPECT_EQ(r.out,
            "z@1 = tensor f32[] 3\nz@1 = tensor f32[] 3\n"
            "z@1 = tensor f32[] 3\nz@1 = tensor f32[] 3\n"
            "x@0 = fail \"t:19: arange: no axis 'tp' in mesh dp=2; did you "
            "mean 'dp'?\"\n");
}

TEST(Placed, PrintsPutPiecesTogether) {
  const Outcome r = run_text(
      "mesh dp=2 tp=2\n"
      "x@0-3 = arange f32[5] split=dp:0\n"
      "x@0-3 = unsqueeze x@0-3 axis=1\n"
      "w@0-3 = arange f32[3] split=tp:0\n"
      "y@0-3 = mul x@0-3 w@0-3\n"
      "print y@0-3 split=dp:0,tp:1\n"
      "print y@0-3 split=dp:0,tp:1 shape=5,3 as=z\n"
      "print y@0-3 split=tp:1\n"
      "print y@0-3 split=dp:0,tp:1 shape=5,4\n");
  EXPECT_EQ(r.out,
            "y = tensor f32[5,3] 0 0 0 0 1 2 0 2 4 0 3 6 0 4 8\n"
            "z = tensor f32[5,3] 0 0 0 0 1 2 0 2 4 0 3 6 0 4 8\n"
            "y = fail \"t:8: print: the piece on rank 2 is [2,2], but split= "
            "of [3,3] gives it [3,2]\"\n"
            "y = fail \"t:9: print: shape=5,4, but the pieces make [5,3]\"\n");
}

TEST(Placed, SaysWhatIsWrong) {
  const auto error_of = [](const std::string& line) {
    const Outcome r = run_text(
        "mesh tp=2\nx@0-1 = ones f32[3]\nv = ones f32[3]\n" + line + "\n");
    const size_t at = r.messages.find("t:4: ");
    if (at == std::string::npos) return r.messages;
    return r.messages.substr(at + 5, r.messages.find('\n') - at - 5);
  };
  EXPECT_EQ(error_of("y@0-1 = add x@0-1 v"),
            "add: 'v' has no ranks, but other names of the line have; write "
            "v@ and the ranks");
  EXPECT_EQ(error_of("y@0-2 = neg x@0-1"),
            "neg: 'x' is wanted on ranks 0-2, where the line runs, but read on "
            "0-1; copy it there first");
  EXPECT_EQ(error_of("y@0-1 z@0 = split x@0-1 sizes=1,2"),
            "split: results live on ranks 0-1 and 0; a line has one set");
  EXPECT_EQ(error_of("y@0-1 = reduce_scatter x@0-1 over=tp dst=S0"),
            "reduce_scatter: size 3 of dimension 0 is no multiple of 2 ranks; "
            "say how to cut it with split= and shape=, or with split_sizes=");
  EXPECT_EQ(error_of("y@0-1 = convert x@0-1 over=tp src=P dst=R"),
            "convert: src=P dst=R cannot be known without communication; use "
            "all_reduce");
  EXPECT_EQ(error_of("y@0-1 = convert x@0-1 over=tp src=R dst=I"),
            "convert: src=R dst=I is rarely meant; if it is, say expert=1");
  EXPECT_EQ(error_of("y@0-1 = all_reduce x@0-1 over=tp src=Q"),
            "all_reduce: 'Q' is none of R, I, V, P, S0, S1, S-1");
  EXPECT_EQ(error_of("y = all_reduce v"),
            "all_reduce: works between ranks: its names need some, as in "
            "y@0-3 = all_reduce x@0-3");
  EXPECT_EQ(error_of("y@2-3 = ones f32[3] split=tp:0"),
            "ones: rank 2 is outside mesh tp=2, whose ranks are 0 to 1");
  EXPECT_EQ(error_of("y@0-1 = dropout x@0-1 0.5 1 split=tp:0"),
            "dropout: split= needs shape=, the sizes of the whole");
  EXPECT_EQ(error_of("y@0-99999 = ones f32[3]"),
            "rank 99999 is above 65535, the last there is");
  EXPECT_EQ(error_of("print x@3"),
            "print: 'x' has no piece on rank 3; it lives on x@0-1");
  EXPECT_EQ(error_of("print x@0-2 split=tp:0"),
            "print: rank 2 is outside mesh tp=2, whose ranks are 0 to 1");
  EXPECT_EQ(error_of("y@0-1 = reduce_scatter x@0-1 dst=S0 "
                     "split_sizes=9223372036854775807+9223372036854775807"),
            "reduce_scatter: split_sizes=9223372036854775807+"
            "9223372036854775807 are no sizes such as 2+3+1");
  EXPECT_EQ(error_of("y@0-1 = retype x@0-1 src=Q dst=R"),
            "retype: 'Q' is none of R, I, V, P, S0, S1, S-1");
  EXPECT_EQ(error_of("print w@1"), "print: unknown name 'w@1'");
}

}  // namespace
}  // namespace gt::exec
