// Blocks that come again are found, cut out, and kept within bounds, and
// workers read the same as without blocks.
#include <random>

#include "route_harness.h"
#include "stream/block_finder.h"

namespace gt::route {
namespace {

// What a finder says of lines, a letter each: '.' is a line outside of blocks,
// 'b' the first of a known block, 'e' its last, and 'i' a line between.
std::string said_of(BlockFinder& finder, const std::vector<uint64_t>& lines) {
  std::string out;
  bool inside = false;
  for (const uint64_t line : lines) {
    const BlockFinder::Step step = finder.next(line);
    if (step.breaks) inside = false;
    inside = inside || step.begins != 0;
    out += step.begins != 0 ? 'b' : step.ends ? 'e' : inside ? 'i' : '.';
    if (step.ends) inside = false;
  }
  return out;
}

std::vector<uint64_t> lines_from(uint64_t first, size_t n) {
  std::vector<uint64_t> out;
  for (size_t i = 0; i < n; ++i)
    out.push_back((first + i) * 0x9E3779B97F4A7C15);
  return out;
}

std::string block(size_t n) { return "b" + std::string(n - 2, 'i') + "e"; }

TEST(BlockFinder, ALoopIsFoundInItsThirdRound) {
  BlockFinder finder;
  const auto loop = lines_from(1000, 100);
  EXPECT_EQ(said_of(finder, lines_from(1, 7)), std::string(7, '.'));
  EXPECT_EQ(said_of(finder, loop), std::string(100, '.'));
  EXPECT_EQ(said_of(finder, loop), std::string(100, '.'));
  EXPECT_EQ(said_of(finder, loop), block(100));
  EXPECT_EQ(said_of(finder, lines_from(2000, 3)), "...");
  EXPECT_EQ(said_of(finder, loop), block(100));
}

TEST(BlockFinder, AShortLoopIsTakenManyRoundsAtOnce) {
  BlockFinder finder;
  std::vector<uint64_t> lines;
  for (size_t i = 0; i < 300; ++i) lines.push_back(lines_from(1, 3)[i % 3]);
  const std::string said = said_of(finder, lines);
  EXPECT_EQ(said.substr(0, 36), std::string(36, '.'));
  EXPECT_EQ(said.substr(36, 66), block(33) + block(33));
}

TEST(BlockFinder, LinesThatChangeAreNoPartOfABlock) {
  BlockFinder finder;
  std::string said;
  for (uint64_t round = 0; round < 4; ++round) {
    said = said_of(finder, lines_from(50 + round, 1)) +
           said_of(finder, lines_from(1000, 200));
  }
  EXPECT_EQ(said, "." + block(200));
}

TEST(BlockFinder, ABlockThatIsLeftIsSaidSo) {
  BlockFinder finder;
  const auto loop = lines_from(1000, 100);
  for (int i = 0; i < 3; ++i) said_of(finder, loop);
  EXPECT_EQ(finder.next(loop[0]).begins, 1U);
  const BlockFinder::Step step = finder.next(7);
  EXPECT_TRUE(step.breaks);
  EXPECT_EQ(step.begins, 0U);
}

// The common beginning of two loops is a block, and so is the rest of each.
TEST(BlockFinder, LoopsThatBeginAlikeShareABlock) {
  BlockFinder finder;
  const auto both = lines_from(1000, 100);
  const auto one = lines_from(2000, 50);
  const auto other = lines_from(3000, 50);
  std::string said;
  for (int i = 0; i < 5; ++i) {
    said = said_of(finder, both) + said_of(finder, one);
    said += said_of(finder, both) + said_of(finder, other);
  }
  EXPECT_EQ(said, block(100) + block(50) + block(100) + block(50));
}

TEST(BlockFinder, NoBlockGoesOnOverACut) {
  BlockFinder finder;
  const auto loop = lines_from(1000, 100);
  const std::vector<uint64_t> begin(loop.begin(), loop.begin() + 60);
  const std::vector<uint64_t> end(loop.begin() + 60, loop.end());
  std::string said;
  for (int i = 0; i < 3; ++i) {
    said = said_of(finder, begin);
    finder.cut();
    said += said_of(finder, end);
    finder.cut();
  }
  EXPECT_EQ(said, block(60) + block(40));
  finder.next(loop[0]);
  EXPECT_TRUE(finder.is_inside());
  finder.cut();
  EXPECT_FALSE(finder.is_inside());
  EXPECT_FALSE(finder.next(loop[1]).breaks);
}

TEST(BlockFinder, NewLinesAreNoBlocks) {
  BlockFinder finder;
  const std::string said = said_of(finder, lines_from(1, 300'000));
  EXPECT_EQ(said.find_first_not_of('.'), std::string::npos);
}

TEST(BlockTable, IsFoundByItsBytesAndForgetsTheOldest) {
  BlockTable table(1000);
  const std::string a(400, 'a'), b(400, 'b'), c(400, 'c');
  const auto first = table.obtain(a);
  EXPECT_EQ(table.obtain(a), first);
  const auto second = table.obtain(b);
  EXPECT_EQ(table.obtain(a), first);  // so it was used last
  EXPECT_TRUE(table.take_forgotten().empty());
  table.obtain(c);
  EXPECT_EQ(table.take_forgotten(), std::vector<uint64_t>{second->id});
  EXPECT_FALSE(second->is_kept);
  EXPECT_TRUE(first->is_kept);
  EXPECT_EQ(table.bytes(), 800U);
  EXPECT_NE(table.obtain(b)->id, second->id);
}

TEST(Body, RoundsOfABlockAreKeptOnce) {
  BlockTable table;
  Body body;
  const std::string long_text(Body::kLeastBlock, 'x');
  body.add(1, 1, "first");
  for (uint64_t round = 0; round < 5; ++round) {
    body.begin_block();
    body.add(2 + 3 * round, static_cast<int64_t>(2 + 2 * round), long_text);
    body.add(3 + 3 * round, static_cast<int64_t>(3 + 2 * round), "end");
    body.end_block(table);
  }
  EXPECT_EQ(body.size(), 0U);
  EXPECT_GT(body.bytes(), 5 * Body::kLeastBlock);
  body.begin_block();
  body.add(17, 12, "may be one");
  auto parts = body.take(false);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].text(), "first\n");
  EXPECT_EQ(parts[1].seq, 2U);
  EXPECT_EQ(parts[1].times, 5U);
  EXPECT_EQ(parts[1].seq_by, 3U);
  EXPECT_EQ(parts[1].line_by, 2);
  EXPECT_EQ(parts[1].last, 15U);
  EXPECT_EQ(parts[1].text(), long_text + "\nend\n");
  body.end_block(table);  // the block is too short
  parts = body.take(true);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].seq, 17U);
  EXPECT_EQ(parts[0].text(), "may be one\n");
  EXPECT_TRUE(body.empty());
}

// ---- programs ---------------------------------------------------------------

// Loops of random bodies, nested, in which some lines change, over values with
// and without ranks.
class Loops {
 public:
  explicit Loops(uint32_t seed) : random_(seed) {}
  std::string make() {
    std::string out =
        "mesh dp=2 tp=3\nx@0-5 = zeros f32[4]\ny@0-5 = neg x@0-5\n"
        "a = zeros f32[4]\n";
    for (int loop = 0; loop < 6; ++loop) {
      const std::string body = lines(1 + below(80));
      const std::string inner = lines(1 + below(40));
      const size_t rounds = 1 + below(12);
      for (size_t i = 0; i < rounds; ++i) {
        out += body;
        for (int k = 0; k < loop % 3 * 2; ++k) out += inner;
        if (below(3) == 0) out += "print x@0-2 as=r" + std::to_string(i) + "\n";
        if (below(4) == 0) out += "# a remark\n";
      }
    }
    return out;
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  std::string lines(size_t n) {
    static const char* kLines[] = {"x@0-5 = add x@0-5 y@0-5\n",
                                   "y@0-5 = mul y@0-5 2 #signal=s\n",
                                   "x@0-2 = tanh x@0-2\n",
                                   "x@3-5 = copy x@0-2\n",
                                   "y@1 = neg y@1\n",
                                   "x@0-5 = all_reduce x@0-5 over=dp\n",
                                   "a = add a 1\n",
                                   "print a\n",
                                   "print y@4 #at=p.gt:7\n",
                                   "a = mul a 0.5\n"};
    std::string out;
    for (size_t i = 0; i < n; ++i) out += kLines[below(std::size(kLines))];
    return out;
  }

  std::mt19937 random_;
};

TEST(Hot, WorkersReadTheSameWithAndWithoutBlocks) {
  size_t blocks = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const uint32_t workers = 1 + seed % 4;
    RouteHarness hot(workers);
    RouteHarness text(workers, false);
    const std::string program = Loops(seed).make();
    std::mt19937 random(seed);
    for (size_t at = 0; at < program.size();) {
      const size_t end = program.find('\n', std::min(program.size() - 1,
                                                     at + random() % 3000)) +
                         1;
      hot.feed(std::string_view(program).substr(at, end - at), false);
      text.feed(std::string_view(program).substr(at, end - at), false);
      hot.collect(static_cast<Outbox::Take>(random() % 3));
      text.collect(static_cast<Outbox::Take>(random() % 3));
      at = end;
    }
    hot.collect(Outbox::Take::kAll);
    text.collect(Outbox::Take::kAll);
    ASSERT_EQ(hot.messages(), "");
    blocks += hot.blocks();
    EXPECT_EQ(text.blocks(), 0U);
    for (uint32_t w = 0; w < workers; ++w) {
      ASSERT_EQ(hot.sent(w).size(), text.sent(w).size()) << w;
      for (size_t i = 0; i < hot.sent(w).size(); ++i) {
        const SentBody& a = hot.sent(w)[i];
        const SentBody& b = text.sent(w)[i];
        ASSERT_EQ(without_mark(a.text), b.text);
        ASSERT_EQ(a.has_number, b.has_number);
        if (!a.has_number) continue;
        ASSERT_EQ(a.seq, b.seq) << a.text;
        ASSERT_EQ(a.line, b.line) << a.text;
      }
    }
  }
  EXPECT_GT(blocks, 200U);
}

TEST(Hot, TheFirstLineOfABlockSaysSo) {
  RouteHarness route(1);
  std::string loop;
  for (int i = 0; i < 40; ++i) {
    loop += "x" + std::to_string(i) + " = zeros f32[2] #signal=s\n";
  }
  for (int i = 0; i < 4; ++i) route.feed(loop);
  size_t marked = 0;
  for (const SentBody& line : route.issued()) {
    if (line.text.find(" #hot=") == std::string::npos) continue;
    EXPECT_EQ(line.text, "x0 = zeros f32[2] #hot=1 #signal=s");
    ++marked;
  }
  EXPECT_EQ(marked, 2U);
}

// The mark stands before the notes, but faults of the notes are shown where
// they were written.
TEST(Hot, AFirstLineWithWrongNotesIsShownAsItWasWritten) {
  const std::string first = "x0 = zeros f32[2]";
  // The wrong note, and the number of blanks before the caret.
  const std::pair<std::string, size_t> cases[] = {
      {" #9", first.size() + 1}, {"#signal=s", first.find('[')}};
  for (const auto& [wrong, column] : cases) {
    RouteHarness route(1);
    std::string rest;
    for (int i = 1; i < 40; ++i) {
      rest += "x" + std::to_string(i) + " = zeros f32[2]\n";
    }
    for (int i = 0; i < 3; ++i) route.feed(first + "\n" + rest);
    EXPECT_EQ(route.messages(), "");
    route.feed(first + wrong + "\n" + rest);
    const std::string shown =
        "\n  " + first + wrong + "\n  " + std::string(column, ' ') + "^\n";
    EXPECT_TRUE(route.messages().ends_with(shown)) << route.messages();
    EXPECT_EQ(route.messages().find("hot"), std::string::npos);
  }
}

TEST(Hot, AMarkThatCameInIsKept) {
  RouteHarness route(1);
  std::string loop = "x0 = zeros f32[2] #hot=77\n";
  for (int i = 1; i < 40; ++i) {
    loop += "x" + std::to_string(i) + " = zeros f32[2]\n";
  }
  for (int i = 0; i < 4; ++i) route.feed(loop);
  for (const SentBody& line : route.issued()) {
    EXPECT_EQ(line.text.find("#hot=1"), std::string::npos) << line.text;
  }
}

}  // namespace
}  // namespace gt::route
