#include "emit_harness.h"

namespace gt::emit {
namespace {

// A layer whose gradient reads x, w and h.
constexpr char kLayer[] =
    "w = ones f32[2]\nx = ones f32[2]\nh = mul x w\nh2 = mul h h\n";

TEST(EmitSession, AnAliasStandsBeforeTheLineThatBindsAgain) {
  FedSession fed;
  fed.feed(kLayer);
  EXPECT_EQ(fed.feed("h = neg h2"), "_e0 = copy h\nh = neg h2\n");
}

TEST(EmitSession, AnAliasStandsBeforeAFree) {
  FedSession fed;
  fed.feed(kLayer);
  EXPECT_EQ(fed.feed("free h"), "_e0 = copy h\nfree h\n");
}

TEST(EmitSession, ALineThatReadsWhatItBindsNeedsAnAliasOnlyOfData) {
  FedSession fed;
  fed.feed("w = ones f32[2]");
  EXPECT_EQ(fed.feed("w = add w 1"), "w = add w 1\n");
  fed.feed("x = ones f32[2]\nh = add x w");
  EXPECT_EQ(fed.feed("h = add h h"), "h = add h h\n");
  EXPECT_EQ(fed.feed("h = mul h h"), "_e0 = copy h\nh = mul h h\n");
  EXPECT_EQ(fed.feed("h = exp h"), "h = exp h\n");
  EXPECT_EQ(fed.feed("h = neg h"), "_e1 = copy h\nh = neg h\n");
}

TEST(EmitSession, AnAliasIsFreedWhenTheLastNameThatNeedsItDies) {
  FedSession fed;
  fed.feed(kLayer);
  fed.feed("free h");
  EXPECT_EQ(fed.feed("free h2"), "free h2\nfree _e0\n");
  EXPECT_EQ(fed.feed("h2 = neg w"), "h2 = neg w\n");
}

TEST(EmitSession, AnAliasIsFreedWhenNoTargetIsLeft) {
  FedSession fed;
  fed.feed(kLayer);
  fed.feed("free h\nfree x");
  EXPECT_EQ(fed.feed("w = ones f32[2]"), "w = ones f32[2]\nfree _e0 _e1\n");
}

TEST(EmitSession, AnAliasIsFreedAfterTheLastGradientLineThatReadsIt) {
  FedSession fed;
  fed.feed("w = ones f32[2]\nh = exp w\nl = sum h\nfree h");
  const std::string out = fed.feed("g = grad l w");
  const size_t read = out.find("g = mul _e2 _e0 #bwd #grad=w\n");
  ASSERT_NE(read, std::string::npos) << out;
  EXPECT_EQ(out.substr(read), "g = mul _e2 _e0 #bwd #grad=w\nfree _e2 _e0\n");
}

TEST(EmitSession, AValueThatAUserKeepsIsNotCopied) {
  FedSession fed;
  const std::string out =
      fed.feed(std::string(kLayer) + "l = sum h2\ng = grad l w");
  EXPECT_EQ(out.find("copy"), std::string::npos) << out;
  EXPECT_EQ(out.find("free h"), std::string::npos) << out;
}

TEST(EmitSession, NumbersOfOurNamesComeBackSmallestFirst) {
  FedSession fed;
  fed.feed("w = ones f32[2]\na = exp w\nb = exp w\nc = exp w");
  EXPECT_EQ(fed.feed("p = mul a b\nq = mul p c\nfree a b c"),
            "_e0 = copy a\n_e1 = copy b\n_e2 = copy c\nfree a b c\n");
  FedSession again;
  again.feed(
      "w = ones f32[2]\na = exp w\nb = exp w\nfree a\nd = exp w\nfree d");
  EXPECT_EQ(again.feed("free b"), "free b\n");
}

TEST(EmitSession, AHistoryThatOnlyReadsItselfIsNone) {
  FedSession fed;
  fed.feed("w = ones f32[2]\na = exp w");
  EXPECT_EQ(fed.feed("free a"), "free a\n");
  fed.feed("a = exp w");
  EXPECT_EQ(fed.feed("a = ones f32[2]"), "a = ones f32[2]\n");
}

TEST(EmitSession, DetachOptimizersAndIntegersKeepNothing) {
  FedSession fed;
  fed.feed(kLayer);
  fed.feed("d = detach h2\ni = cast h2 i64\nw = sgd w h2 0.1\nfree x");
  EXPECT_EQ(fed.feed("free h2"), "free h2\n") << fed.state();
}

TEST(EmitSession, AnEmittedStreamGetsNothingAdded) {
  FedSession fed;
  fed.session.set_emitted(true);
  fed.feed(kLayer);
  EXPECT_EQ(fed.feed("h = neg h2"), "h = neg h2\n");
  EXPECT_EQ(fed.feed("_e0 = copy h"), "_e0 = copy h\n");
  EXPECT_EQ(fed.feed("free h h2 _e0"), "free h h2 _e0\n");
}

TEST(EmitSession, RetainKeepsWhatALaterGradReads) {
  FedSession fed;
  fed.feed("x = ones f32[2]\ny = exp x\ny = mul y x\nl = sum y");
  const std::string first = fed.feed("g = grad l x retain=1");
  EXPECT_EQ(fed.said, "");
  fed.feed("s = sum g");
  fed.feed("h = grad s x");
  fed.feed("k = grad l x");
  EXPECT_NE(fed.said.find("was consumed by the grad at p:7"), std::string::npos)
      << fed.said;
  EXPECT_EQ(first.find("free g"), std::string::npos);
}

TEST(EmitSession, ARoundThatBringsItsStateBackHasOneState) {
  FedSession fed;
  fed.feed("w = ones f32[2]\nx = ones f32[2]");
  const std::string round =
      "h = mul x w\nh = exp h\nl = sum h\ng = grad l w\nw = sgd w g 0.1\n";
  fed.feed(round);
  const std::string first = fed.state();
  fed.feed(round);
  EXPECT_EQ(fed.state(), first);
  fed.feed("q = neg w");
  EXPECT_NE(fed.state(), first);
}

TEST(EmitSession, ALoopWithoutGradKeepsNothing) {
  FedSession fed;
  fed.feed("w = ones f32[2]\nx = ones f32[2]\nt = zeros f32[]");
  const std::string round =
      "h = mul x w\nh = exp h\nl = sum h\nd = detach l\nt = add t d\n";
  for (int i = 0; i < 3; ++i) fed.feed(round);
  const size_t size = fed.session.state_size();
  for (int i = 0; i < 1000; ++i) fed.feed(round);
  // State that is no longer needed is removed from time to time.
  EXPECT_LT(fed.session.state_size(), size + 100);
}

TEST(EmitSession, DataThatIsBoundAgainHidesNoWeights) {
  FedSession fed;
  fed.feed("w = ones f32[2]\nx = ones f32[2]\nx = neg x\nx = exp x");
  fed.feed("p = mul x w\nl = sum p");
  const std::string out = fed.feed("g = grad l w");
  EXPECT_EQ(fed.said, "");
  EXPECT_NE(out.find("g = mul _e1 x #bwd #grad=w\n"), std::string::npos) << out;
}

TEST(EmitSession, ATargetThatIsOlderThanTheLossWasNotBoundSince) {
  FedSession fed;
  fed.feed("q = ones f32[2]\nq = neg q\nz = ones f32[2]\nl = sum q");
  EXPECT_EQ(fed.feed("g = grad l z"), "g = zeros f32[2] #bwd #grad=z\n");
  EXPECT_NE(fed.said.find("warning: grad: the loss does not depend on z"),
            std::string::npos)
      << fed.said;
  EXPECT_EQ(fed.session.status(), Exit::kDone);
}

TEST(EmitSession, ATargetThatWasBoundSinceTheLossIsAnError) {
  FedSession fed;
  fed.feed("w = ones f32[2]\nu = ones f32[2]\nh = add w u\nl = sum h");
  fed.feed("u = neg u\nw = neg w");
  fed.feed("g = grad l u");
  EXPECT_EQ(fed.session.status(), Exit::kRejected) << fed.said;
}

// ---- names that had values behind the loss ----------------------------------

// Feeds lines, of which only the last may have a message, and returns that
// message.
std::string said_of_last(std::string_view lines) {
  FedSession fed;
  const size_t last = lines.rfind('\n') + 1;
  fed.feed(lines.substr(0, last));
  EXPECT_EQ(fed.said, "");
  fed.feed(lines.substr(last));
  return fed.said;
}

TEST(EmitSession, ATargetBoundAgainSinceItsHistoryWasConsumedIsAnError) {
  const std::string said = said_of_last(
      "w = ones f32[2]\nl = sum w\ng = grad l w\nw = sgd w g 0.1\n"
      "g = grad l w");
  EXPECT_NE(said.find("p:5: grad: l, computed at p:2, depends on a value that "
                      "w had before p:4, and not on the one that it has now; "
                      "take grad before that line, or bind another name there"),
            std::string::npos)
      << said;
}

TEST(EmitSession, AllNamesBehindAnEndedHistoryAreKnown) {
  // Here the loss is bound again last, and the target before it.
  EXPECT_NE(said_of_last("a = ones f32[]\nl = mul a 1\na = neg a\nl = neg l\n"
                         "g = grad l a")
                .find("depends on a value that a had before p:3"),
            std::string::npos);
  // Here the target is bound again before the loss is computed.
  EXPECT_NE(said_of_last("a = ones f32[]\nh = mul a 1\na = ones f32[]\n"
                         "h = neg h\nl = sum h\ng = grad l a")
                .find("depends on a value that a had before p:3"),
            std::string::npos);
  // Here the target is bound again on a part of its ranks.
  EXPECT_NE(said_of_last("mesh dp=2\na@0-1 = ones f32[]\nl@0-1 = mul a@0-1 1\n"
                         "a@0-1 = neg a@0-1\nl@0-1 = neg l@0-1\n"
                         "l@0-1 = all_reduce l@0-1 over=dp\n"
                         "g@1 = grad l@1 a@1")
                .find("depends on a value that a@0-1 had before p:4"),
            std::string::npos);
}

TEST(EmitSession, ATargetThatIsNewIsNotTakenForWhatWasBoundAgain) {
  for (const char* lines :
       {"x = ones f32[4]\nx = mul x 2\nl = sum x\nw = ones f32[3]\ng = grad l "
        "w",
        "x = ones f32[4]\nl = sum x\nx = mul x 2\nl = mul l 2\n"
        "w = ones f32[3]\ng = grad l w",
        "x = ones f32[4]\nl = sum x\ng = grad l x\nw = ones f32[3]\n"
        "g = grad l w"}) {
    const std::string said = said_of_last(lines);
    EXPECT_NE(said.find("warning: grad: the loss does not depend on w"),
              std::string::npos)
        << lines << said;
  }
}

TEST(EmitSession, MoreNamesThanAreKeptMayBeAnyTargetBoundSince) {
  std::string lines = "w = ones f32[]\nz = ones f32[]\nh = mul w 2\n";
  for (int i = 0; i < 1100; ++i) {
    const std::string name = "a" + std::to_string(i);
    lines += name + " = neg h\nh = copy " + name + "\nfree " + name + "\n";
    if (i == 0) lines += "w = ones f32[]\n";
  }
  EXPECT_NE(said_of_last(lines + "g = grad h z").find("warning"),
            std::string::npos);
  EXPECT_NE(said_of_last(lines + "v = ones f32[]\ng = grad h v")
                .find("from the values of too many names to tell whether v, "
                      "bound at p:"),
            std::string::npos);
}

TEST(EmitSession, AFailureSpreadsAndIsSaidOnce) {
  FedSession fed;
  EXPECT_EQ(fed.feed("y = neg x"), "y = fail \"p:1: neg: unknown name 'x'\"\n");
  EXPECT_EQ(fed.feed("a b = split y"),
            "a = fail \"p:1: neg: unknown name 'x'\"\n"
            "b = fail \"p:1: neg: unknown name 'x'\"\n");
  EXPECT_EQ(fed.feed("print b"), "print b\n");
  EXPECT_EQ(fed.feed("print c"),
            "_e0 = fail \"p:4: print: unknown name 'c'\"\n"
            "print _e0 as=c\nfree _e0\n");
  EXPECT_EQ(fed.feed("int b"), "");
  EXPECT_EQ(fed.session.status(), Exit::kRejected);
  EXPECT_EQ(fed.session.messages(), 3U) << fed.said;
}

TEST(EmitSession, AFailedNameThatIsBoundAgainHasNoFailure) {
  FedSession fed;
  fed.feed("y = neg x\ny = ones f32[2]");
  EXPECT_EQ(fed.feed("z = neg y"), "z = neg y\n");
}

// ---- what a grad consumed ---------------------------------------------------

// Both losses go through xb, which is computed from a named tensor.
constexpr char kBatch[] =
    "v = ones f32[2]\nw = ones f32[2]\nx = ones f32[2]\nxb = mul x 2\n"
    "h = mul xb w\nl = sum h\ng = grad l w\n";

TEST(EmitSession, ASecondLossMayGoThroughWhatWasConsumedBesideItsTarget) {
  FedSession fed;
  fed.feed(kBatch);
  fed.feed("k = mul xb v\nm = sum k\ng = grad m v");
  EXPECT_EQ(fed.said, "");
  fed.feed("k = mul h v\nm = sum k\ng = grad m v");
  EXPECT_EQ(fed.said, "");
}

TEST(EmitSession, ATargetBehindWhatWasConsumedIsAnError) {
  for (const char* target : {"w", "x", "xb"}) {
    FedSession fed;
    fed.feed(kBatch);
    fed.feed("k = mul h v\nm = sum k\ng = grad m " + std::string(target));
    EXPECT_NE(fed.said.find("the history of h, computed at p:5, was consumed "
                            "by the grad at p:7"),
              std::string::npos)
        << target << fed.said;
  }
}

TEST(EmitSession, WhatWasConsumedStaysKnownThroughASecondGrad) {
  FedSession fed;
  fed.feed(kBatch);
  // What was behind h is now behind k.
  fed.feed("k = mul h v\nm = sum k\ng = grad m v\nn = sum k\n");
  fed.said.clear();
  fed.feed("g = grad n w");
  EXPECT_NE(fed.said.find("cannot reach w"), std::string::npos) << fed.said;
  fed.said.clear();
  fed.feed("u = ones f32[2]\np = mul k u\nn = sum p\ng = grad n u");
  EXPECT_EQ(fed.said, "");
}

// The lines of a gradient can be too large although those of the program are
// not.
TEST(EmitSession, AGradientThatIsTooLargeFailsItsLineAlone) {
  FedSession fed;
  fed.feed(
      "q = zeros f32[1000000000,1]\no = attention q q q\ns = sum o\n"
      "g = grad s q retain=1\nt = sum g");
  EXPECT_EQ(fed.said, "");
  EXPECT_TRUE(fed.feed("h = grad t q").starts_with("h = fail "));
  EXPECT_NE(fed.said.find("p:6: grad: matmul: f32[1000000000,1000000000] is "
                          "too large: over 2^60 bytes"),
            std::string::npos)
      << fed.said;
  EXPECT_EQ(fed.feed("u = sum q"), "u = sum q\n");
}

}  // namespace
}  // namespace gt::emit
