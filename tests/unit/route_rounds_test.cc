// Rounds that are not looked at line by line: workers read the same, and owe
// the same, as if every line were.
#include <random>

#include "route_harness.h"

namespace gt::route {
namespace {

std::string times(size_t n, const std::string& text) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += text;
  return out;
}

// A block that is long enough to be one on every worker.
std::string adds(const std::string& name, const std::string& notes = "") {
  std::string out;
  for (int i = 0; i < 40; ++i) {
    out += name + " = add " + name + " " + std::to_string(i) + notes + "\n";
  }
  return out;
}

std::string as_text(const std::vector<SentBody>& sent) {
  std::string out;
  for (const SentBody& line : sent) {
    if (line.has_number) {
      out += std::to_string(line.seq) + " " + std::to_string(line.line) + " ";
    }
    out += without_mark(line.text) + "\n";
  }
  return out;
}

// Feeds a program in pieces to a dispatcher that repeats rounds and to one that
// does not.
class Both {
 public:
  explicit Both(uint32_t workers)
      : workers_(workers),
        hot_(workers, true, false),
        text_(workers, false, false) {}

  void feed(std::string_view program, Outbox::Take take = Outbox::Take::kFull) {
    for (RouteHarness* route : {&hot_, &text_}) {
      route->feed(program, false);
      route->collect(take);
    }
  }
  void expect_same() {
    hot_.collect();
    text_.collect();
    EXPECT_EQ(hot_.messages(), text_.messages());
    EXPECT_EQ(hot_.dispatcher().issued(), text_.dispatcher().issued());
    EXPECT_EQ(hot_.client().lines, text_.client().lines);
    EXPECT_EQ(hot_.client().status, text_.client().status);
    for (uint32_t w = 0; w < workers_; ++w) {
      EXPECT_EQ(hot_.dispatcher().loads().issued(w),
                text_.dispatcher().loads().issued(w));
      EXPECT_EQ(hot_.dispatcher().loads().held(w),
                text_.dispatcher().loads().held(w));
      ASSERT_EQ(as_text(hot_.sent(w)), as_text(text_.sent(w))) << w;
    }
    // What is owed must be the same, in the same order.
    EXPECT_EQ(hot_.client().users.bytes(), text_.client().users.bytes());
    for (RouteHarness* route : {&hot_, &text_}) {
      route->client().users.fail("gone");
    }
    EXPECT_EQ(hot_.results(), text_.results());
  }
  size_t repeated() const { return hot_.repeated(); }

 private:
  uint32_t workers_;
  RouteHarness hot_;
  RouteHarness text_;
};

TEST(Rounds, AreRepeatedOnceTwoDidTheSame) {
  Both both(4);
  both.feed("mesh tp=4\nx@0-3 = zeros f32[4]\n" + times(9, adds("x@0-3")));
  EXPECT_EQ(both.repeated(), 5U);  // the third round finds the block
  both.feed(adds("x@0-3") + "x@0-3 = neg x@0-3\n" + adds("x@0-3"));
  EXPECT_EQ(both.repeated(), 6U);
  both.expect_same();
}

TEST(Rounds, WithoutRanksToo) {
  Both both(1);
  both.feed("x = zeros f32[4]\n" +
            times(9, adds("x") + "y = neg x\nprint y\nfree y\n"));
  EXPECT_EQ(both.repeated(), 5U);
  both.expect_same();
  // With several workers, where a line runs depends on what they have to do.
  Both many(2);
  many.feed("x = zeros f32[4]\n" + times(9, adds("x")));
  EXPECT_EQ(many.repeated(), 0U);
  many.expect_same();
}

TEST(Rounds, PrintsAreOwedInOrder) {
  Both both(3);
  both.feed("mesh tp=3\nx@0-2 = zeros f32[4]\n" +
            times(8, "print x@1 as=a\n" + adds("x@0-2") +
                         "print x@0-2 split=tp:0\nprint x@2\n"));
  EXPECT_EQ(both.repeated(), 4U);
  both.expect_same();
}

TEST(Rounds, RemarksAndNotesBelongToThem) {
  Both both(2);
  const std::string start = "mesh tp=2\nx@0-1 = zeros f32[4]\n";
  both.feed(start + times(8, "# a step\n\n" + adds("x@0-1") + "# done   \n"));
  EXPECT_EQ(both.repeated(), 3U);  // the text between two ends is one round
  // Other notes make another round, as far as workers read them.
  for (int i = 0; i < 4; ++i) {
    both.feed(times(3, adds("x@0-1", " #signal=s" + std::to_string(i))));
  }
  both.expect_same();
  Both marked(1);
  marked.feed("#gt 1\nx = zeros f32[4]\n" +
              times(8, adds("x") + "#end 0\n#gt 1\n"));
  EXPECT_EQ(marked.repeated(), 0U);
  marked.expect_same();
}

TEST(Rounds, ARegisterThatGivesUpRanksIsLookedAt) {
  const std::string start = "mesh tp=4\nx@0-3 = zeros f32[4]\n";
  Both both(2);
  both.feed(start + times(8, "x@0-1 = neg x@0-1\nx@0-3 = ones f32[4]\n" +
                                 adds("x@0-3")));
  EXPECT_EQ(both.repeated(), 0U);
  both.expect_same();
}

TEST(Rounds, FilesThatKeepTheirOrderAreNoHindrance) {
  const std::string start = "mesh tp=2\nx@0-1 = zeros f32[4]\n";
  const auto repeated = [&start](const std::string& lines) {
    Both both(2);
    both.feed(start + times(9, lines + adds("x@0-1")));
    both.expect_same();
    return both.repeated();
  };
  EXPECT_EQ(repeated("y@0-1 = load \"d.npy\" f32[4]\n"), 5U);
  EXPECT_EQ(repeated("save x@0 \"c.npy\"\n"), 5U);
  // Each waits for the other once in a round.
  EXPECT_EQ(
      repeated("save x@0 \"c.npy\"\ny@1 = load \"c.npy\" f32[4]\nfree y@1\n"),
      0U);
}

TEST(Rounds, LinesThatAreRejectedAreSaidEachTime) {
  Both both(2);
  both.feed("mesh tp=2\nx@0-1 = zeros f32[4]\n" +
            times(8, adds("x@0-1") + "y@0-1 = add x@0-1 nobody@0-1\n" +
                         "print y@0\n"));
  EXPECT_EQ(both.repeated(), 0U);
  both.expect_same();
}

TEST(Rounds, ARejectedLineIsShownAsItCame) {
  Both both(2);
  both.feed(
      "mesh tp=2\nx@0-1 = zeros f32[4]\n" +
      times(8, "y@0-1 = add x@0-1 nobody@0-1 #signal=s\n" + adds("x@0-1")));
  both.expect_same();
}

TEST(Rounds, TypesThatChangeAreLookedAt) {
  Both both(1);
  both.feed("x = zeros f32[1]\nz = ones f32[1]\n" +
            times(12, adds("z") + "x = concat x z\n" + "z = neg z\n"));
  EXPECT_EQ(both.repeated(), 0U);
  both.expect_same();
}

TEST(Rounds, ARoundIsCutWhereTheInputPauses) {
  Both both(2);
  const std::string round = adds("x@0-1");
  const std::string all =
      "mesh tp=2\nx@0-1 = zeros f32[4]\n" + times(20, round);
  for (size_t at = 0; at < all.size();) {
    const size_t end = all.find('\n', std::min(at + 2000, all.size() - 1)) + 1;
    both.feed(std::string_view(all).substr(at, end - at), Outbox::Take::kAll);
    at = end;
  }
  EXPECT_GT(both.repeated(), 0U);
  both.expect_same();
}

TEST(Rounds, AnotherFileIsReported) {
  RouteHarness route(1, true, false);
  route.feed("x = zeros f32[4]\n" + times(6, adds("x")), false);
  EXPECT_NE(route.dispatcher().round(), nullptr);
  route.set_file("q.gt");
  EXPECT_EQ(route.dispatcher().round(), nullptr);
}

// Loops with few kinds of lines each, so that many rounds do the same.
class RandomLoops {
 public:
  explicit RandomLoops(uint32_t seed) : random_(seed) {}
  std::string make() {
    std::string out =
        "mesh dp=2 tp=3\nx@0-5 = zeros f32[4]\ny@0-5 = neg x@0-5\n"
        "a = zeros f32[4]\n";
    for (int loop = 0; loop < 8; ++loop) {
      const std::string body = lines(36 + below(40));
      const std::string inner = lines(1 + below(40));
      for (size_t i = 0; i < 2 + below(4); ++i) {
        out += times(1 + below(9), body);
        if (loop % 3 == 0) out += times(1 + below(9), inner);
        if (below(3) == 0) out += "print x@0-2 as=r" + std::to_string(i) + "\n";
        if (below(4) == 0) out += "# a remark\n";
      }
    }
    return out;
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  std::string lines(size_t n) {
    static const char* kLines[] = {
        "x@0-5 = add x@0-5 y@0-5\n",
        "y@0-5 = mul y@0-5 2 #signal=s\n",
        "x@0-5 = all_reduce x@0-5 over=dp\n",
        "t@0-5 = tanh x@0-5\nu@0-2 = neg t@0-2\nfree t@0-5 u@0-2\n",
        "print y@4 #at=p.gt:7\n",
        "x@0-5 = load \"d.npy\" f32[4]\n",
        "# step\n",
        "save y@0-5 \"c.npy\"\n",
        "print x@0-5\n",
        "free v@0-5\nv@0-5 = neg x@0-5\n",
        "x@0-2 = tanh x@0-2\n",
        "x@3-5 = copy x@0-2\n",
        "y@0-5 = load \"c.npy\" f32[4]\n",
        "a = add a 1\n",
        "print a\n"};
    const size_t kinds = 1 + below(3);
    const size_t among = below(2) == 0 ? 9 : std::size(kLines);
    std::vector<const char*> some;
    for (size_t i = 0; i < kinds; ++i) some.push_back(kLines[below(among)]);
    std::string out;
    for (size_t i = 0; i < n; ++i) out += some[below(kinds)];
    return out;
  }

  std::mt19937 random_;
};

TEST(Rounds, RandomProgramsAreReadAlike) {
  size_t repeated = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Both both(1 + seed % 4);
    const std::string program = RandomLoops(seed).make();
    std::mt19937 random(seed);
    for (size_t at = 0; at < program.size();) {
      const size_t end = program.find('\n', std::min(program.size() - 1,
                                                     at + random() % 30'000)) +
                         1;
      // Where lines without ranks run must not depend on when messages leave.
      both.feed(std::string_view(program).substr(at, end - at),
                static_cast<Outbox::Take>(random() % 3));
      at = end;
    }
    both.expect_same();
    if (testing::Test::HasFailure()) return;
    repeated += both.repeated();
  }
  EXPECT_GT(repeated, 500U);
}

}  // namespace
}  // namespace gt::route
