// Programs with ranks: names, added lines, and gradients as text.
#include "emit_harness.h"

namespace gt::emit {
namespace {

TEST(EmitPlaced, LinesPassAsTheyAre) {
  FedSession fed;
  for (const char* line : {
           "mesh dp=2 tp=2",
           "axis world=dp*tp",
           "x@0-3 = randn f32[4,6] 1 split=dp:0,tp:1",
           "y@0-3 = all_reduce x@0-3 over=world",
           "z@1 = neg y@1",
           "y@0,2 = copy y@2,0",
           "print y@0-3 split=dp:0",
           "free x@0-1 y@0-3 z@1",
           "endmesh",
       }) {
    EXPECT_EQ(fed.feed(line), std::string(line) + "\n");
  }
  EXPECT_EQ(fed.said, "");
}

TEST(EmitPlaced, NamesWithRanksAreOthersThanThoseWithout) {
  FedSession fed;
  fed.feed("x = ones f32[2]\nx@0-1 = ones f32[3]");
  EXPECT_EQ(fed.feed("y = add x 1"), "y = add x 1\n");
  EXPECT_EQ(fed.feed("z@0-1 = add x@0-1 x"),
            "z@0-1 = fail \"p:4: add: 'x' has no ranks, but other names of the "
            "line have; write x@ and the ranks\"\n");
  EXPECT_EQ(fed.feed("free *"), "free x y\nfree x@0-1 z@0-1\n");
}

TEST(EmitPlaced, APieceThatIsNotThereIsNamed) {
  FedSession fed;
  fed.feed("x@0-1 = ones f32[2]\nx@4 = ones f32[2]\ny = ones f32[2]");
  EXPECT_EQ(fed.feed("z@0-4 = neg x@0-4"),
            "z@0-4 = fail \"p:4: neg: 'x' has no piece on ranks 2-3; it lives "
            "on x@0-1,4\"\n");
  EXPECT_EQ(fed.feed("z@0 = neg y@0"),
            "z@0 = fail \"p:5: neg: 'y' has no piece on rank 0; there is 'y', "
            "without ranks\"\n");
  // An operand may live on more ranks than its line.
  EXPECT_EQ(fed.feed("z@1 = neg x@0-1"), "z@1 = neg x@0-1\n");
  fed.feed("x@1 = ones i64[2]");
  EXPECT_EQ(fed.feed("z@0-1 = neg x@0-1"),
            "z@0-1 = fail \"p:8: neg: the pieces of 'x' hold f32 on rank 0 and "
            "i64 on rank 1\"\n");
}

// A pattern that was seen before is known for the mesh, types and pieces that
// it was seen with.
TEST(EmitPlaced, KnownPatternsAreAskedForWhatTheyReadNow) {
  FedSession fed;
  fed.feed("mesh tp=2\nx@0-1 = ones f32[2]");
  for (const char* name : {"a", "b", "c"}) {
    const std::string line =
        std::string(name) + "@0-1 = all_reduce x@0-1 over=tp";
    EXPECT_EQ(fed.feed(line), line + "\n");
    const std::string local = std::string(name) + "@0-1 = neg x@0-1";
    EXPECT_EQ(fed.feed(local), local + "\n");
  }
  EXPECT_EQ(fed.feed("free a@0-1 b@0-1"), "free a@0-1 b@0-1\n");
  fed.feed("free a@0-1 c@0-1");
  EXPECT_NE(fed.said.find("unknown name 'a@0-1'"), std::string::npos);
  EXPECT_EQ(fed.feed("free c@0-1"), "free c@0-1\n");
  fed.feed("x@1 = ones i64[2]");
  EXPECT_NE(fed.feed("d@0-1 = neg x@0-1").find("hold f32 on rank 0"),
            std::string::npos);
  fed.feed("x@0-1 = ones f32[2]\nendmesh");
  EXPECT_NE(fed.feed("d@0-1 = all_reduce x@0-1 over=tp").find("fail"),
            std::string::npos);
  EXPECT_EQ(fed.feed("d@0-1 = neg x@0-1"), "d@0-1 = neg x@0-1\n");
}

TEST(EmitPlaced, AFreeNamesEachPieceOnce) {
  FedSession fed;
  fed.feed("x@0-1 = ones f32[2]\ny = ones f32[2]\nz = ones f32[2]");
  EXPECT_EQ(fed.feed("free y y"), "free y\n");
  fed.feed("free z x@0-1");
  EXPECT_NE(fed.said.find("no ranks"), std::string::npos) << fed.said;
  EXPECT_EQ(fed.feed("free x@0 x@0-1"), "free x@0 x@1\n");
  EXPECT_EQ(fed.feed("free z"), "free z\n");
}

TEST(EmitPlaced, AFailureSpreadsAndPrintsOnEachRank) {
  FedSession fed;
  fed.feed("x@0-3 = fail \"no\"\nx@1 = ones f32[2]");
  EXPECT_EQ(fed.feed("y@0-1 = neg x@0-1"), "y@0-1 = fail \"no\"\n");
  EXPECT_EQ(fed.feed("y@1 = neg x@1"), "y@1 = neg x@1\n");
  EXPECT_EQ(fed.feed("print y@0-1"), "print y@0-1\n");
  EXPECT_EQ(fed.feed("print q@0-1"),
            "q@0-1 = fail \"p:6: print: unknown name 'q@0-1'\"\nprint "
            "q@0-1\nfree q@0-1\n");
  EXPECT_EQ(fed.feed("print x@1 split=tp:0"),
            "_e0 = fail \"p:7: print: axis 'tp' has no mesh; declare one "
            "before, as in: mesh dp=2 tp=2\"\nprint _e0 as=x\nfree _e0\n");
}

TEST(EmitPlaced, RanksOutsideTheMeshFailWhereAxesAreNamed) {
  FedSession fed;
  fed.feed("mesh tp=2");
  EXPECT_EQ(fed.feed("x@1-2 = ones f32[2] split=tp:0"),
            "x@1-2 = fail \"p:2: ones: rank 2 is outside mesh tp=2, whose "
            "ranks are 0 to 1\"\n");
  EXPECT_EQ(fed.feed("print x@1-2 split=tp:0"),
            "_e0 = fail \"p:3: print: rank 2 is outside mesh tp=2, whose ranks "
            "are 0 to 1\"\nprint _e0 as=x\nfree _e0\n");
  EXPECT_EQ(fed.feed("free x@1-2"), "free x@1-2\n");
}

TEST(EmitPlaced, WhatCrossesRanksIsATensor) {
  FedSession fed;
  EXPECT_EQ(fed.feed("x@0-1 = broadcast 1"),
            "x@0-1 = fail \"p:1: broadcast: expected a tensor's name, got '1'; "
            "usage: y = broadcast x [over=] root=0\"\n");
}

TEST(EmitPlaced, APartBoundAgainLeavesTheRest) {
  FedSession fed;
  fed.feed("x@0-3 = ones f32[2]\ny@0-3 = mul x@0-3 x@0-3");
  EXPECT_EQ(fed.feed("x@0-1 = ones f32[2]"),
            "_e0@0-3 = copy x@0-3\nx@0-1 = ones f32[2]\n");
  EXPECT_EQ(fed.feed("free x@3"), "free x@3\n");
  EXPECT_EQ(fed.feed("free y@0-3"), "free y@0-3\nfree _e0@0-3\n");
  EXPECT_EQ(fed.feed("z@0-2 = neg x@0-2"), "z@0-2 = neg x@0-2\n");
}

TEST(EmitPlaced, WhatIsPutTogetherHasANameIfAHistoryNeedsItsData) {
  FedSession fed;
  fed.feed("x@0 = ones f32[2]\nx@1 = ones f32[2]");
  EXPECT_EQ(fed.feed("y@0-1 = neg x@0-1"), "y@0-1 = neg x@0-1\n");
  EXPECT_EQ(fed.feed("y@0-1 = mul x@0-1 x@0-1"),
            "_e0@0-1 = copy x@0-1\ny@0-1 = mul x@0-1 x@0-1\n");
  EXPECT_EQ(fed.feed("z@0-1 = exp x@0-1"), "z@0-1 = exp x@0-1\n");
  EXPECT_EQ(fed.feed("q@0-1 = mul y@0-1 x@0-1"), "q@0-1 = mul y@0-1 x@0-1\n");
  EXPECT_EQ(fed.feed("free y@0-1 q@0-1"),
            "_e1@0-1 = copy y@0-1\nfree y@0-1 q@0-1\nfree _e1@0-1 _e0@0-1\n");
}

TEST(EmitPlaced, AGradientThatARowDoesNotHaveIsNotTakenForZeros) {
  FedSession fed;
  fed.feed(
      "mesh dp=2\nx@0-1 = ones f32[2] #type=I\ns@0-1 = sum x@0-1\n"
      "m@0-1 = redistribute s@0-1 op=max src=P dst=I\n"
      "l@0-1 = add m@0-1 s@0-1");
  EXPECT_EQ(fed.feed("g@0-1 = grad l@0-1 x@0-1"),
            "g@0-1 = fail \"p:6: grad: redistribute with op=max has no "
            "gradient by its operand x; if none is meant, detach what it "
            "reads there\"\n");
  fed.feed(
      "d@0-1 = detach s@0-1\nm@0-1 = redistribute d@0-1 op=max src=P "
      "dst=I\nl@0-1 = add m@0-1 s@0-1");
  EXPECT_EQ(from(fed.feed("g@0-1 = grad l@0-1 x@0-1"), "g@0-1"),
            "g@0-1 = expand _e0@0-1 shape=2 #bwd #grad=x\nfree _e0@0-1\n");
}

TEST(EmitPlaced, AReductionToOneHasOneDtype) {
  FedSession fed;
  fed.feed("x@0-1 = ones bf16[2]\ny@0-1 = reduce x@0-1 acc=f32");
  EXPECT_EQ(fed.feed("z@0-1 = neg y@0-1"), "z@0-1 = neg y@0-1\n");
  EXPECT_EQ(fed.said, "");
}

// A line that is added for a value of the larger mesh may name all its ranks.
TEST(EmitPlaced, ValuesOutliveTheirMesh) {
  FedSession fed;
  fed.feed(
      "mesh dp=4\nx@0-3 = randn f32[4] split=dp:0\n"
      "y@0-3 = mul x@0-3 x@0-3\nmesh dp=2");
  EXPECT_EQ(fed.feed("x@0-1 = randn f32[4] split=dp:0"),
            "_e0@0-3 = copy x@0-3\n"
            "x@0-1 = randn f32[4] _eseed@0-1 split=dp:0\n"
            "_eseed@0-3 = add _eseed@0-3 1\n");
  EXPECT_EQ(fed.feed("z@2-3 = neg y@2-3"), "z@2-3 = neg y@2-3\n");
  EXPECT_EQ(fed.feed("print y@0-3"), "print y@0-3\n");
  EXPECT_EQ(fed.feed("free y@0-3 z@2-3"), "free y@0-3 z@2-3\nfree _e0@0-3\n");
  EXPECT_EQ(fed.said, "");
  const std::string stream =
      "mesh dp=4\n_e0@0-3 = tensor i64[] 5\nmesh dp=2\n"
      "_e1@0-3 = add _e0@0-3 1\nfree _e0@0-3\nprint _e1@3 as=y\n";
  fed.session.set_emitted(true);
  EXPECT_EQ(fed.feed(stream), "print _e1@3 as=y\n");
  EXPECT_EQ(fed.said, "");
}

TEST(EmitPlaced, GradientLinesRunWhereTheirForwardLinesDid) {
  FedSession fed;
  fed.feed("w@0-3 = ones f32[2]\ny@0-3 = exp w@0-3\nl@0-1 = sum y@0-1 #mb=1\n");
  EXPECT_EQ(fed.feed("g@0-3 = grad l@0-1 w@0-3"),
            "_e0@0-1 = ones f32[] #bwd\n"
            "_e1@0-1 = expand _e0@0-1 shape=2 #mb=1 #bwd\n"
            "free _e0@0-1\n"
            "g@0-1 = mul _e1@0-1 y@0-1 #bwd #grad=w\n"
            "free _e1@0-1\n"
            "g@2-3 = zeros f32[2] #bwd #grad=w\n");
}

TEST(EmitPlaced, UnevenPiecesAreCutAsTheirValueIs) {
  FedSession fed;
  fed.feed(
      "mesh tp=3\nw@0-2 = ones f32[5] split=tp:0\ns@0-2 = sum w@0-2 "
      "#partial=tp");
  EXPECT_EQ(fed.feed("g@0-2 = grad s@0-2 w@0-2"),
            "_e0@0-2 = ones f32[] #bwd\n"
            "g@0-2 = expand _e0@0-2 shape=5 split=tp:0 #bwd #grad=w\n"
            "free _e0@0-2\n");
}

TEST(EmitPlaced, ACopyGoesBackAndFromManyAsASum) {
  FedSession fed;
  fed.feed("x@0-1 = ones f32[]\ny@2-3 = copy x@1,0");
  EXPECT_EQ(fed.feed("g@0-1 = grad y@2-3 x@0-1"),
            "_e0@2-3 = ones f32[] #bwd\n"
            "g@1,0 = copy _e0@2-3 #bwd #grad=x\n"
            "free _e0@2-3\n");
}

TEST(EmitPlaced, ACopyToManyGoesBackAsASum) {
  FedSession fed;
  fed.feed("x@0 = ones f32[]\ny@2-3 = copy x@0");
  EXPECT_EQ(fed.feed("g@0 = grad y@2-3 x@0"),
            "_e0@2-3 = ones f32[] #bwd\n"
            "_e1@2-3 = reduce _e0@2-3 #bwd\n"
            "free _e0@2-3\n"
            "g@0 = copy _e1@2 #bwd #grad=x\n"
            "free _e1@2-3\n");
  FedSession inside;
  inside.feed("x@1 = ones f32[]\ny@0-2 = copy x@1");
  EXPECT_EQ(inside.feed("g@1 = grad y@0-2 x@1"),
            "_e0@0-2 = ones f32[] #bwd\n"
            "_e1@0-2 = reduce _e0@0-2 root=1 #bwd\n"
            "free _e0@0-2\n"
            "g@1 = copy _e1@1 #bwd #grad=x\n"
            "free _e1@0-2\n");
}

TEST(EmitPlaced, SplitIsPassedOn) {
  FedSession fed;
  fed.feed(
      "mesh dp=2\nx@0-1 = rand f32[3] 1 split=dp:0\n"
      "y@0-1 = dropout x@0-1 0.5 7 split=dp:0 shape=3\n"
      "l@0-1 = sum y@0-1 #partial=dp");
  EXPECT_EQ(from(fed.feed("g@0-1 = grad l@0-1 x@0-1"), "g@"),
            "g@0-1 = dropout _e1@0-1 0.5 7 split=dp:0 shape=3 #bwd #grad=x\n"
            "free _e1@0-1\n");
}

TEST(EmitPlaced, AMeshThatIsGoneStandsForItsLine) {
  FedSession fed;
  fed.feed(
      "mesh dp=2 tp=2\naxis world=dp*tp\nx@0-3 = ones f32[] #type=V\n"
      "y@0-3 = all_reduce x@0-3 over=world src=V dst=I\nendmesh\n");
  EXPECT_EQ(fed.feed("g@0-3 = grad y@0-3 x@0-3"),
            "_e0@0-3 = ones f32[] #bwd\n"
            "mesh dp=2 tp=2\n"
            "_e1@0-3 = convert _e0@0-3 over=dp+tp src=I dst=R #bwd\n"
            "endmesh\n"
            "free _e0@0-3\n"
            "mesh dp=2 tp=2\n"
            "g@0-3 = reinterpret _e1@0-3 over=dp+tp src=R dst=V expert=1 #bwd "
            "#grad=x\n"
            "endmesh\n"
            "free _e1@0-3\n");
}

TEST(EmitPlaced, TheSumThatAReplicatedValueIsOwedIsNoted) {
  FedSession fed;
  fed.feed(
      "mesh dp=2\nx@0-1 = ones f32[4] split=dp:0\nw@0-1 = ones f32[]\n"
      "y@0-1 = mul x@0-1 w@0-1\nl@0-1 = sum y@0-1 #partial=dp");
  EXPECT_EQ(from(fed.feed("g@0-1 = grad l@0-1 w@0-1"), "g@"),
            "g@0-1 = sum _e0@0-1 axis=0 #bwd #partial=dp #grad=w\n"
            "free _e0@0-1\n");
}

// ---- the loss ---------------------------------------------------------------

std::string refusal(const std::string& loss) {
  FedSession fed;
  fed.feed("mesh dp=2\nx@0-1 = ones f32[] split=\"\"\n");
  fed.feed("mesh dp=2\nw@0-1 = ones f32[]\nx@0-1 = ones f32[2] split=dp:0\n" +
           loss);
  fed.said.clear();
  fed.feed("g@0-1 = grad l@0-1 w@0-1");
  return fed.said.substr(0, fed.said.find('\n'));
}

TEST(EmitPlaced, ALossThatIsNoSumAndNotOneNumberIsRefused) {
  EXPECT_EQ(
      refusal("v@0 = ones f32[2]\nv@1 = ones f32[2]\nl@0-1 = sum v@0-1"),
      "gt-emit: p:9: grad: the loss l is V on axis dp, and must be I (one "
      "number, computed on each rank) or P (a sum over the ranks); fix: "
      "l1@0-1 = reinterpret l@0-1 over=dp src=V dst=P #local, and "
      "take the gradient of that [loss]");
  EXPECT_EQ(
      refusal("p@0-1 = mul w@0-1 2 #type=dp:P\n"
              "q@0-1 = reinterpret w@0-1 over=dp src=R dst=P expert=1\n"
              "l@0-1 = all_reduce q@0-1 over=dp"),
      "gt-emit: p:9: grad: the loss l is R on axis dp, and must be I (one "
      "number, computed on each rank) or P (a sum over the ranks); fix: "
      "l@0-1 = all_reduce q@0-1 over=dp src=P dst=I, or skip the "
      "reduction and take the gradient of q [loss]");
  EXPECT_EQ(refusal("i@0-1 = ones f32[] #type=dp:I\nl@0-1 = mul w@0-1 i@0-1"),
            "gt-emit: p:8: grad: the loss l has no known type on axis dp: mul "
            "at p:7 reads R and I; it must be I or P there: where all ranks "
            "compute the same from the same, claim #type=dp:I where the R is "
            "made; else convert the I (src=I dst=R) and reduce what comes of "
            "it (all_reduce dst=I) [loss]");
  EXPECT_TRUE(refusal("l@0-1 = all_reduce w@0-1 over=dp")
                  .ends_with("; fix: skip the reduction, since w is the same "
                             "on all ranks already, and claim #type=dp:I where "
                             "its data are made [loss]"));
}

TEST(EmitPlaced, ALossIsRightAsASumOrAsOneNumber) {
  FedSession fed;
  fed.feed(
      "mesh dp=2 tp=2\nw@0-3 = ones f32[] #type=tp:I\n"
      "x@0-3 = ones f32[2] split=dp:0 #type=tp:I\ny@0-3 = mul w@0-3 x@0-3\n"
      "l@0-3 = sum y@0-3 #partial=dp");
  EXPECT_EQ(from(fed.feed("g@0-3 = grad l@0-3 w@0-3"), "_e0").substr(0, 41),
            "_e0@0-3 = ones f32[] #bwd #type=tp:I\n_e1@");
  EXPECT_EQ(fed.said, "");
  // On an axis along which the ranks of the loss do not differ, its type does
  // not matter.
  fed.feed("m@1,3 = mul w@1,3 2 #type=dp:P\n");
  fed.feed("s@2 = mul w@2 2\nh@0-3 = grad s@2 w@0-3");
  EXPECT_EQ(fed.said, "");
}

// ---- results that a gradient wants ------------------------------------------

TEST(EmitSession, AResultThatTheGradientReadsIsAdded) {
  FedSession fed;
  fed.feed("q = ones f32[2,3]\nk = ones f32[2,3]\n");
  EXPECT_EQ(fed.feed("o = attention q k k"), "o _e0 = attention q k k\n");
  EXPECT_EQ(fed.feed("p s = attention q k k"), "p s = attention q k k\n");
  EXPECT_EQ(fed.feed("o = neg q"), "o = neg q\nfree _e0\n");
  fed.feed("q = detach q\nl = sum p");
  EXPECT_EQ(from(fed.feed("g = grad l k"), "_e1 _e3 _e4 ="),
            "_e1 _e3 _e4 = attention_grad _e0 k k p s _e2 #bwd\n"
            "free _e0 _e2 _e1\n"
            "g = add _e3 _e4 #bwd #grad=k\nfree _e3 _e4\n");
}

TEST(EmitSession, AStreamThatWasEmittedGetsNoResultAdded) {
  FedSession fed;
  fed.session.set_emitted(true);
  fed.feed("q = ones f32[2,3]");
  EXPECT_EQ(fed.feed("o = attention q q q"), "o = attention q q q\n");
  fed.feed("l = sum o");
  EXPECT_NE(fed.feed("g = grad l q").find("_e0 _e2 = attention q q q #bwd\n"),
            std::string::npos)
      << "computed again";
}

// gt-work says the same of such a line.
TEST(EmitPlaced, APrintThatFailsPrintsALineForEachRank) {
  FedSession fed;
  fed.feed("mesh dp=2\nx@0-1 = ones f32[2]");
  EXPECT_TRUE(fed.feed("print x@0-4 as=u")
                  .ends_with("print _e0@0-4 as=u\nfree _e0@0-4\n"));
}

}  // namespace
}  // namespace gt::emit
