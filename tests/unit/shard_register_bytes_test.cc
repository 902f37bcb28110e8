#include "shard/register_bytes.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "spmd/held_bytes.h"

namespace gt::shard {
namespace {

TEST(RegisterBytes, CountsWhatIsReplacedUntilTheEndOfTheLine) {
  RegisterBytes held;
  held.bind("x", {0, 1}, 100);
  held.end_line();
  held.bind("x", {0, 1}, 60);
  EXPECT_EQ(held.most(), 160U);
  held.end_line();
  held.bind("y", {1}, 50);
  held.end_line();
  EXPECT_EQ(held.most(), 160U);
  held.free("x", {0});
  held.bind("z", {1}, 60);
  EXPECT_EQ(held.most(), 170U);
}

// Counts each rank by itself.
class RankByRank {
 public:
  void bind(const std::string& name, const Ranks& ranks,
            const std::vector<uint64_t>& bytes) {
    std::map<int64_t, uint64_t>& pieces = registers_[name];
    for (size_t i = 0; i < ranks.size(); ++i) {
      held_.add(ranks[i], bytes[i]);
      const auto before = pieces.find(ranks[i]);
      if (before != pieces.end()) held_.drop(ranks[i], before->second);
      pieces[ranks[i]] = bytes[i];
    }
  }
  void free(const std::string& name, const Ranks& ranks) {
    std::map<int64_t, uint64_t>& pieces = registers_[name];
    for (const int64_t rank : ranks) {
      const auto before = pieces.find(rank);
      if (before == pieces.end()) continue;
      held_.drop(rank, before->second);
      pieces.erase(before);
    }
  }
  uint64_t most() const { return held_.most(); }

 private:
  std::map<std::string, std::map<int64_t, uint64_t>> registers_;
  HeldBytes held_;
};

TEST(RegisterBytes, AgreesWithACountOfEachRank) {
  std::mt19937 random(7);
  const auto below = [&](uint64_t n) { return random() % n; };
  for (int program = 0; program < 200; ++program) {
    RegisterBytes classes;
    RankByRank each;
    for (int line = 0; line < 60; ++line) {
      Ranks ranks;
      for (int64_t rank = 0; rank < 12; ++rank) {
        if (below(program % 3 == 0 ? 2 : 6) != 0) ranks.push_back(rank);
      }
      const std::string name(1, static_cast<char>('a' + below(6)));
      const uint64_t even = below(100);
      std::vector<uint64_t> bytes(ranks.size(), even);
      switch (below(4)) {
        case 0:
          classes.free(name, ranks);
          each.free(name, ranks);
          break;
        case 1:
          for (uint64_t& n : bytes) n += below(3);
          classes.bind(name, ranks, bytes);
          each.bind(name, ranks, bytes);
          break;
        default:
          classes.bind(name, ranks, even);
          each.bind(name, ranks, bytes);
      }
      classes.end_line();
      ASSERT_EQ(classes.most(), each.most()) << program << ":" << line;
    }
  }
}

}  // namespace
}  // namespace gt::shard
