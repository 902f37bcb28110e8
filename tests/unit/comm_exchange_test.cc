// Programs with ranks on several workers give what one worker gives that plays
// all ranks, bit for bit.
#include <gtest/gtest.h>

#include "comm_harness.h"
#include "comm_noter.h"

namespace gt::exec {
namespace {

// Deals the ranks 0 to ranks - 1 to workers, in blocks.
std::string blocks(unsigned ranks, unsigned workers) {
  std::string out;
  for (unsigned r = 0; r < ranks; ++r) {
    out += " " + std::to_string(r) + "=" + std::to_string(r * workers / ranks);
  }
  return out;
}

void expect_same(const std::string& program, unsigned workers,
                 const std::string& ranks) {
  const Outcome alone = run_text(program);
  EXPECT_EQ(alone.messages, "");
  ASSERT_NE(alone.out, "");
  std::vector<std::string> wanted = lines_of(alone.out);
  std::sort(wanted.begin(), wanted.end());
  const std::string noted = Noter().note(program);
  for (const Way way : kWays) {
    for (const bool caches : {true, false}) {
      TeamOptions options;
      options.workers = workers;
      options.ranks = ranks;
      options.way = way;
      options.worker.caches = caches;
      const auto outcomes = run_team(noted, options);
      for (const Outcome& o : outcomes) EXPECT_EQ(o.messages, "") << noted;
      EXPECT_EQ(sorted_lines(outcomes), wanted)
          << noted << ranks << name_of(way);
    }
  }
}

std::string pieces(unsigned n, const std::string& type) {
  const std::string last = std::to_string(n - 1);
  std::string out;
  for (unsigned r = 0; r < n; ++r) {
    out += "x@" + std::to_string(r) + " = rand f32[" + type + "] " +
           std::to_string(r + 1) + "\n";
  }
  return out;
}

TEST(CommExchange, EveryCollective) {
  for (const unsigned workers : {2U, 3U, 4U}) {
    for (const unsigned each : {1U, 2U, 3U}) {
      const unsigned n = workers * each;
      const std::string all = "@0-" + std::to_string(n - 1);
      const std::string even = std::to_string(2 * n);
      std::string text = pieces(n, even + "," + even);
      for (const char* op :
           {"all_reduce x", "all_reduce x op=max", "all_reduce x op=mean",
            "all_gather x src=S0 dst=R", "all_gather x src=S1 dst=R",
            "all_gather x src=V dst=R", "reduce_scatter x src=P dst=S0",
            "all_to_all x src=S0 dst=S1", "broadcast x root=1",
            "reduce x root=1", "convert x src=R dst=S0",
            "convert x src=R dst=P", "redistribute x src=P dst=R",
            "redistribute x src=S1 dst=S0"}) {
        std::string line(op);
        line.replace(line.find(" x"), 2, " x" + all);
        text += "y" + all + " = " + line + "\nprint y" + all + "\n";
      }
      expect_same(text, workers, blocks(n, workers));
    }
  }
}

TEST(CommExchange, LargeSumsGoByChunks) {
  for (const unsigned workers : {2U, 3U, 4U}) {
    const unsigned n = 2 * workers;
    const std::string all = "@0-" + std::to_string(n - 1);
    const std::string text = pieces(n, "77,131") + "y" + all +
                             " = all_reduce x" + all + "\ns" + all +
                             " = sum y" + all + " axis=0\nprint s" + all + "\n";
    expect_same(text, workers, blocks(n, workers));
  }
}

TEST(CommExchange, GroupsAlongAnAxisOfTheMesh) {
  const std::string text =
      "mesh dp=2 tp=3\n"
      "x@0-5 = randn f32[4,6] 7 split=tp:1\n"
      "y@0-5 = all_reduce x@0-5 over=dp\nprint y@0-5\n"
      "z@0-5 = all_gather x@0-5 src=S1 dst=R over=tp\nprint z@0-5\n"
      "w@0-5 = all_reduce x@0-5 over=dp+tp\nprint w@0-5\n"
      "print x@0-5 split=tp:1\n"
      "u@0-5 = randn f32[5,7] 3 split=dp:0,tp:1\n"
      "print u@0-5 split=dp:0,tp:1\nprint u@0-5\n";
  for (const unsigned workers : {2U, 3U, 4U}) {
    expect_same(text, workers, blocks(6, workers));
    expect_same(text, workers, " 0=1 1=0 2=1 3=0 4=1 5=0");
  }
}

TEST(CommExchange, CopiesMoveByPosition) {
  const std::string text =
      pieces(6, "3") +
      "x@1-2 = copy x@0-1\n"
      "y@3-5 = copy x@0-2\n"
      "z@0,5,3 = copy x@3,4,5\n"
      "w@0-5 = copy x@4\n"
      "v@1-2 = copy w@1-2\n"
      "print x@0-5\nprint y@3-5\nprint z@0,3,5\nprint w@0-5\nprint v@1-2\n"
      "free x@0-5\nfree y@3-5\n";
  for (const unsigned workers : {2U, 3U, 4U}) {
    expect_same(text, workers, blocks(6, workers));
  }
}

TEST(CommExchange, UnevenParts) {
  const std::string text =
      "mesh tp=4\n"
      "x@0-3 = randn f32[7,5] 7 split=tp:0\n"
      "y@0-3 = all_gather x@0-3 src=S0 dst=R split=tp:0 shape=7,5 over=tp\n"
      "print y@0-3\nprint x@0-3 split=tp:0\n"
      "p@0-3 = randn f32[7,5] 9\n"
      "r@0-3 = reduce_scatter p@0-3 src=P dst=S0 split=tp:0 shape=7,5 "
      "over=tp\nprint r@0-3\n"
      "e@0-3 = zeros f32[2,5] split=tp:0\n"
      "print e@0-3 split=tp:0\nprint e@0-3\n";
  for (const unsigned workers : {2U, 3U, 4U}) {
    expect_same(text, workers, blocks(4, workers));
  }
}

TEST(CommExchange, LoopsReuseTheirDecodedLines) {
  std::string text = "mesh tp=3\n" + pieces(3, "6");
  for (int i = 0; i < 20; ++i) {
    text +=
        "y@0-2 = all_reduce x@0-2 over=tp\n"
        "x@0-2 = mul y@0-2 0.5\n"
        "x@0-2 = all_reduce x@0-2 over=tp\n"
        "x@0-2 = all_reduce x@0-2 op=mean over=tp\n"
        "print x@0-2\n";
  }
  for (const unsigned workers : {2U, 3U}) {
    expect_same(text, workers, blocks(3, workers));
  }
}

}  // namespace
}  // namespace gt::exec
