#include "route_harness.h"

namespace gt::route {
namespace {

TEST(RouteDispatcher, ALoneWorkerTakesAll) {
  RouteHarness route(1);
  const std::string program =
      "x = randn f32[4,4] 7\n"
      "y = add x x #signal=a/b  # a remark\n"
      "print y\n"
      "free x y\n";
  route.feed("#gt 1\n# a comment\n\n" + program + "#end 0\n");
  EXPECT_EQ(route.text(0), program);
  EXPECT_EQ(route.messages(), "");
  EXPECT_EQ(route.sent(0)[0].text, "#file \"p.gt\"");
  EXPECT_EQ(route.sent(0)[1].seq, 1U);
  EXPECT_EQ(route.sent(0)[1].line, 4);
  EXPECT_FALSE(route.client().marks.cut_short());
}

TEST(RouteDispatcher, AWrongLineOfALogIsShownAsItWasWritten) {
  RouteHarness route(2);
  route.feed("y = exp   z #from=0 #mb=1\n");
  EXPECT_EQ(route.messages().substr(route.messages().find('\n')),
            "\n  y = exp   z #from=0 #mb=1\n            ^\n");
}

TEST(RouteDispatcher, ARepeatedLineIsDecodedTwiceAtMost) {
  RouteHarness route(2);
  route.feed("x = zeros f32[4,4]\n");
  for (int i = 0; i < 1000; ++i) {
    route.feed("x = add x 1 #at=p.gt:" + std::to_string(i) + "\n");
  }
  EXPECT_LE(route.dispatcher().decoded(), 4U);
  EXPECT_EQ(route.sent(0).size() + route.sent(1).size(), 1003U);
  EXPECT_EQ(route.sent(0).back().text, "x = add x 1 #at=p.gt:999");
}

TEST(RouteDispatcher, IndependentChainsSpreadAndEachStays) {
  RouteHarness route(4);
  std::string program;
  for (int chain = 0; chain < 8; ++chain) {
    program += "c" + std::to_string(chain) + " = zeros f32[64,64]\n";
  }
  for (int round = 0; round < 50; ++round) {
    for (int chain = 0; chain < 8; ++chain) {
      const std::string name = "c" + std::to_string(chain);
      program += name + " = matmul " + name + " " + name + "\n";
    }
  }
  route.feed(program);
  for (uint32_t w = 0; w < 4; ++w) {
    EXPECT_EQ(route.text(w).find("copy"), std::string::npos);
    EXPECT_EQ(route.sent(w).size(), 1 + 2 * 51U) << w;  // its #file is one more
  }
}

TEST(RouteDispatcher, AMissingOperandIsCopiedOnce) {
  RouteHarness route(2);
  route.feed(
      "a = zeros f32[512,512]\n"
      "a = exp a\n"
      "b = zeros f32[512,512]\n"
      "b = exp b\n"
      "c = add b 1\n"
      "d = matmul b a\n"
      "e = add c a\n"
      "free a\n");
  EXPECT_EQ(route.text(0),
            "a = zeros f32[512,512]\n"
            "a = exp a\n"
            "a = copy a #from=0 #to=1 #pieces=f32[512,512]\n"
            "free a\n");
  EXPECT_NE(route.text(1).find("a = copy a #from=0 #to=1 #pieces=f32[512,512]\n"
                               "d = matmul b a\n"),
            std::string::npos);
  EXPECT_EQ(route.text(1).find("copy"), route.text(1).rfind("copy"));
  EXPECT_NE(route.text(1).find("free a\n"), std::string::npos);
}

TEST(RouteDispatcher, ABoundNameLeavesNoCopyBehind) {
  RouteHarness route(2);
  route.feed(
      "a = zeros f32[512,512]\n"
      "a = exp a\n"
      "b = zeros f32[512,512]\n"
      "b = exp b\n"
      "c = add b 1\n"
      "d = matmul c a\n"
      "a = sum d axis=0\n"
      "print a\n");
  EXPECT_TRUE(route.text(0).ends_with(
      "a = copy a #from=0 #to=1 #pieces=f32[512,512]\nfree a\n"));
  EXPECT_NE(route.text(1).find("a = sum d axis=0\nprint a\n"),
            std::string::npos);
}

TEST(RouteDispatcher, ARejectedLineFailsAndSpreads) {
  RouteHarness route(2);
  route.feed(
      "x = zeros f32[2,3]\n"
      "y = matmul x x\n"
      "z = add y 1\n"
      "print z\n"
      "print nosuch\n"
      "w = matmull x x\n"
      "v = load \"a.npy\"\n"
      "g = grad x x\n"
      "free x*\n");
  EXPECT_EQ(route.client().status, Exit::kRejected);
  EXPECT_NE(route.messages().find("gt-route: p.gt:2: matmul: "),
            std::string::npos);
  EXPECT_NE(route.messages().find("p.gt:5: print: unknown name 'nosuch'"),
            std::string::npos);
  EXPECT_NE(
      route.messages().find("unknown op 'matmull'; did you mean 'matmul'?"),
      std::string::npos);
  EXPECT_NE(route.messages().find("p.gt:7: load: type is missing; run this "
                                  "through gt-emit"),
            std::string::npos);
  EXPECT_NE(route.messages().find("p.gt:8: grad: run this through gt-emit"),
            std::string::npos);
  EXPECT_NE(route.messages().find("p.gt:9: free: x* stands for many names"),
            std::string::npos);
  const std::string all = route.text(0) + route.text(1);
  EXPECT_NE(all.find("y = fail \"p.gt:2: matmul: "), std::string::npos);
  EXPECT_NE(all.find("z = fail \"p.gt:2: matmul: "), std::string::npos);
  // A worker answers the print of z. gt-route itself answers the print of an
  // unknown name, in its turn.
  const uint32_t printer =
      route.text(0).find("print z") != std::string::npos ? 0 : 1;
  EXPECT_EQ(route.results(), "");
  EXPECT_TRUE(route.sources().take(printer, "z = fail \"\"\n").ok());
  EXPECT_EQ(route.results(),
            "z = fail \"\"\n"
            "nosuch = fail \"p.gt:5: print: unknown name 'nosuch'\"\n");
}

TEST(RouteDispatcher, AnErrorIsSaidOnceForItsPlace) {
  RouteHarness route(1);
  for (int i = 0; i < 3; ++i) route.feed("x = neg q #at=model.gt:7\n");
  EXPECT_EQ(route.messages(),
            "gt-route: model.gt:7: neg: unknown name 'q'\n"
            "  x = neg q #at=model.gt:7\n"
            "          ^\n");
}

TEST(RouteDispatcher, APathOrdersLikeAName) {
  RouteHarness route(2);
  route.feed(
      "a = zeros f32[512,512]\n"
      "a = exp a\n"
      "b = zeros f32[512,512]\n"
      "b = exp b\n"
      "save a \"t/x.npy\"\n"
      "save b \"./t/x.npy\"\n"
      "save b \"t/y.npy\"\n");
  EXPECT_EQ(route.all(0).substr(route.all(0).find("save")),
            "save a \"t/x.npy\"\n#fence 0 1 \"./t/x.npy\"\n");
  EXPECT_EQ(
      route.all(1).substr(route.all(1).find("#fence")),
      "#fence 0 1 \"./t/x.npy\"\nsave b \"./t/x.npy\"\nsave b \"t/y.npy\"\n");
}

TEST(RouteDispatcher, NotesOfOursInTheInputAreDropped) {
  RouteHarness route(1);
  route.feed(
      "x = zeros f32[4]\n"
      "x = copy x #mb=1\n"
      "x = copy x #mb=2\n"
      "x = copy x #from=0 #to=1 #pieces=f32[4] #mb=3\n"
      "x = copy x #signal=a #mb=4\n");
  EXPECT_EQ(route.text(0),
            "x = zeros f32[4]\nx = copy x #mb=1\nx = copy x #mb=2\n"
            "x = copy x #mb=3\nx = copy x #signal=a #mb=4\n");
}

// Names, types, files and failures are new in every round.
TEST(RouteDispatcher, MemoryIsFlatOverNewNames) {
  RouteHarness route(2);
  size_t most[2] = {0, 0};  // in the first half, and in the second
  for (int i = 0; i < 40'000; ++i) {
    const std::string n = "n" + std::to_string(i);
    const std::string type = " f32[" + std::to_string(i + 1) + "]";
    route.feed(n + " = zeros" + type + "\nfree " + n + "\n" + n +
               "@0-3 = zeros" + type + "\nsave " + n + "@0 \"" + n +
               ".npy\"\nfree " + n + "@0-3\n");
    size_t& peak = most[i / 20'000];
    peak = std::max(peak, route.dispatcher().kept());
  }
  EXPECT_EQ(route.messages(), "");
  EXPECT_LE(most[1], most[0]);
  EXPECT_LT(most[1], 40'000U);
}

// Users of a shared stream come and go, even before a worker got a line of
// theirs, and others get their places.
TEST(RouteDispatcher, UsersWhoAreOwedNothingAreForgotten) {
  RouteHarness route(2);
  const auto emit = [&] {
    std::string out;
    route.client().users.emit(out, SIZE_MAX,
                              [](const Awaited&) { return true; });
    route.dispatcher().forget_users(route.client().users);
    return out;
  };
  route.feed("#reports\n");
  for (int user = 1; user <= 300; ++user) {
    const std::string c = "c" + std::to_string(user);
    if (user % 3 == 0) {
      route.feed(c + "/x = ones f32[2]\nfree " + c + "/x\n");
    }
    route.feed("#sync " + c + "/1\n");
    EXPECT_EQ(emit(), "#sync " + c + "/1\n");
  }
  EXPECT_EQ(route.messages(), "");
}

// ---- lines with ranks -------------------------------------------------------

TEST(RoutePlaced, RanksAreSpreadInBlocksAndAllAreTold) {
  RouteHarness route(2);
  route.feed(
      "mesh dp=2 tp=2\n"
      "x@0-3 = randn f32[4,6] 1 split=dp:0\n"
      "y@0-1 = neg x@0-1\n"
      "z@2-3 = neg x@2-3\n");
  const std::string start =
      "#file \"p.gt\"\nmesh dp=2 tp=2\n#ranks - 0-1=0 2-3=1\n"
      "x@0-3 = randn f32[4,6] 1 split=dp:0\n";
  EXPECT_EQ(route.all(0), start + "y@0-1 = neg x@0-1\n");
  EXPECT_EQ(route.all(1), start + "z@2-3 = neg x@2-3\n");
  EXPECT_EQ(route.messages(), "");
}

TEST(RoutePlaced, LinesAcrossWorkersSayTheTypesOfPieces) {
  RouteHarness route(2);
  route.feed(
      "mesh tp=4\n"
      "x@0-3 = randn f32[6,8] 1 split=tp:0\n"
      "y@2-3 = copy x@0-1 #at=a.gt:7\n"
      "w@0-3 = all_gather x@0-3 src=S0 split=tp:0 shape=6,8\n"
      "v@0-1 = all_reduce w@0-1\n"
      "print x@0-3 split=tp:0 shape=6,8\n");
  EXPECT_EQ(route.messages(), "");
  const std::string tail =
      "y@2-3 = copy x@0-1 #pieces=f32[2,8] #at=a.gt:7\n"
      "w@0-3 = all_gather x@0-3 src=S0 split=tp:0 shape=6,8 "
      "#pieces=f32[2,8];f32[2,8];f32[1,8];f32[1,8]\n";
  const std::string print =
      "print x@0-3 split=tp:0 shape=6,8 "
      "#pieces=f32[2,8];f32[2,8];f32[1,8];f32[1,8]\n";
  EXPECT_TRUE(
      route.text(0).ends_with(tail + "v@0-1 = all_reduce w@0-1\n" + print))
      << route.text(0);
  EXPECT_TRUE(route.text(1).ends_with(tail + print)) << route.text(1);
  EXPECT_EQ(route.client().users.results(0).waits_for(), 0);
}

TEST(RoutePlaced, PrintsComeInRankOrder) {
  RouteHarness route(2);
  route.feed(
      "x@0-3 = zeros f32[1]\n"  // without a mesh worker 0 has 0 and 2
      "print x@0-3\n");
  ResultOrder& results = route.client().users.results(0);
  const auto line = [](int rank) {
    return "x@" + std::to_string(rank) + " = tensor f32[1] 0\n";
  };
  EXPECT_TRUE(route.sources().take(1, line(1) + line(3)).ok());
  EXPECT_EQ(route.results(), "");
  EXPECT_TRUE(route.sources().take(0, line(0) + "x").ok());
  EXPECT_EQ(route.results(), line(0) + line(1));
  EXPECT_TRUE(route.sources().take(0, line(2).substr(1)).ok());
  EXPECT_EQ(route.results(), line(2) + line(3));
  EXPECT_TRUE(results.empty());
  EXPECT_EQ(results.bytes(), 0U);
  EXPECT_FALSE(route.sources().take(0, "y\n").ok());
}

TEST(RoutePlaced, RegistersAreNamesAndRanks) {
  RouteHarness route(2);
  route.feed(
      "x@0-3 = zeros f32[4]\n"
      "x@0-1 = zeros f32[2]\n"
      "y@0-3 = neg x@0-3\n"  // the pieces have two sizes
      "z@0,2 = add x@0,2 1\n"
      "free x@1-2\n"
      "a@0,3 = neg x@0,3\n"
      "b@0-3 = neg x@0-3\n");
  EXPECT_EQ(route.messages(),
            "gt-route: p.gt:7: neg: 'x' has no piece on ranks 1-2; it lives "
            "on x@0,3\n"
            "  b@0-3 = neg x@0-3\n"
            "              ^\n");
}

TEST(RoutePlaced, AFailureOfARankSpreadsToItsRank) {
  RouteHarness route(2);
  route.feed(
      "x@0-3 = zeros f32[4]\n"
      "x@1 = fail \"no such thing\"\n"
      "y@0-3 = neg x@0-3\n"
      "z@0-3 = all_reduce y@0-3\n"
      "u@0-1 = copy y@2-3\n"
      "v@1 = neg y@1\n");
  EXPECT_EQ(route.messages(), "");
  const std::string both = route.text(0) + route.text(1);
  EXPECT_NE(both.find("z@0-3 = fail \"no such thing\""), std::string::npos);
  EXPECT_NE(both.find("u@0-1 = copy y@2-3"), std::string::npos);
  EXPECT_NE(both.find("v@1 = fail \"no such thing\""), std::string::npos);
  EXPECT_NE(route.text(0).find("y@0-3 = neg x@0-3\n"), std::string::npos);
}

// A fuzzer found that a line without results was made a "= fail ...".
TEST(RoutePlaced, ALineWithoutResultsThatReadsAFailureIsNoFailure) {
  RouteHarness route(2);
  route.feed(
      "x@0-1 = fail \"no\"\n"
      "pzint x@0-1\n"
      "neg x@0-1\n");
  EXPECT_EQ(route.issued().size(), 1U);
  EXPECT_NE(route.messages().find("unknown op 'pzint'"), std::string::npos);
}

TEST(RoutePlaced, ANameSpaceHasRanksOfItsOwn) {
  RouteHarness route(4);
  route.feed(
      "mesh tp=2\n"
      "x@0-1 = zeros f32[4]\n"
      "mesh dp=4 space=c1\n"
      "c1/x@0-1 = zeros f32[4]\n");
  EXPECT_NE(route.all(3).find("#ranks - 0-0=0 1-1=2\n"), std::string::npos);
  EXPECT_NE(route.all(3).find("#ranks c1 0-0=0 1-1=1 2-2=2 3-3=3\n"),
            std::string::npos);
  EXPECT_EQ(route.text(1).find("\nx@0-1"), std::string::npos);
  EXPECT_NE(route.text(1).find("c1/x@0-1"), std::string::npos);
}

TEST(RoutePlaced, ALoopOfPlacedLinesIsKept) {
  RouteHarness route(4);
  route.feed("mesh dp=8\nw@0-7 = zeros f32[4]\n");
  for (int i = 0; i < 100; ++i) {
    route.feed(
        "g@0-7 = ones f32[4]\n"
        "g@0-7 = all_reduce g@0-7 over=dp\n"
        "w@0-7 = sgd w@0-7 g@0-7 0.1\n"
        "free g@0-7\n");
  }
  EXPECT_EQ(route.messages(), "");
  EXPECT_LE(route.dispatcher().decoded(), 16U);
}

}  // namespace
}  // namespace gt::route
