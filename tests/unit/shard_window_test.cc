// Windows of random lines against the same lines in the order of the program:
// in both, every line reads the same values, and names hold the same in the
// end.
#include "shard/window.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "share.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

// Registers whose values are texts that say how they were made.
class Machine {
 public:
  // Runs a line, whose note #id= says which line of the program it is.
  void run(const std::string& text) {
    Line line;
    ASSERT_TRUE(parse_line(text, line).ok()) << text;
    const auto where = line_ranks(line);
    ASSERT_TRUE(where.ok()) << text;
    if (line.op == "free") {
      for (size_t o = 0; o < line.operands.size(); ++o) {
        for (const int64_t rank : where.value().operands[o]) {
          const std::string name(line.operands[o].text);
          EXPECT_EQ(held_.erase({name, rank}), 1) << text;
        }
      }
      return;
    }
    const std::string id(*line.note("id"));
    if (const std::string_view* target = line.note("grad")) {
      for (const int64_t rank : where.value().ranks) {
        const auto it = held_.find({std::string(*target), rank});
        ASSERT_NE(it, held_.end()) << text;
        results_[{id + " of", rank}] = it->second;
      }
    }
    std::map<int64_t, std::string> made;
    for (const int64_t rank : where.value().ranks) {
      std::string value = id;
      for (size_t o = 0; o < line.operands.size(); ++o) {
        if (line.operands[o].kind != Operand::Kind::kName) continue;
        const auto& ranks = ranks_read(line, where.value(), o);
        // A copy reads the only rank that its operand is on.
        const int64_t from = place_in(ascending(ranks), rank) ? rank : ranks[0];
        const auto it = held_.find({std::string(line.operands[o].text), from});
        ASSERT_NE(it, held_.end()) << text;
        value += "(" + it->second + ")";
      }
      made[rank] = std::to_string(std::hash<std::string>()(value));
      results_[{id, rank}] = made[rank];
    }
    for (const auto& [rank, value] : made) {
      held_[{std::string(line.results[0].text), rank}] = value;
    }
  }

  using Pieces = std::map<std::pair<std::string, int64_t>, std::string>;
  const Pieces& held() const { return held_; }
  const Pieces& results() const { return results_; }

 private:
  Pieces held_;  // by name and rank
  // By line and rank; "ID of" has what the line's note #grad= names.
  Pieces results_;
};

class RandomLines {
 public:
  explicit RandomLines(uint32_t seed) : random_(seed) {
    for (int i = 0; i < 4; ++i) bind("h" + std::to_string(i), {0, 1, 2});
  }

  // Lines that set names up, and the lines of the window.
  std::vector<std::string> before, within;

  void add() {
    const std::string mb = below(6) == 0 ? "" : " #mb=" + text(below(4));
    const std::string bwd = below(2) == 0 ? " #bwd" : "";
    const Ranks ranks = some_ranks();
    const std::string name = "h" + text(below(4));
    switch (below(8)) {
      case 0:
        free_piece(name, ranks);
        return;
      case 1:
        copy(name, mb + bwd);
        return;
      default:
        compute(name, ranks, mb + bwd);
    }
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  static std::string text(size_t n) { return std::to_string(n); }
  std::string id() { return " #id=" + text(before.size() + within.size()); }

  Ranks some_ranks() {
    const Ranks all[] = {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}};
    return all[below(6)];
  }

  void bind(const std::string& name, const Ranks& ranks) {
    before.push_back(name + "@" + to_string(ranks) + " = ones f32[2]" + id());
    for (const int64_t rank : ranks) live_.insert({name, rank});
  }

  bool is_live(const std::string& name, const Ranks& ranks) const {
    for (const int64_t rank : ranks) {
      if (live_.count({name, rank}) == 0) return false;
    }
    return true;
  }

  void compute(const std::string& name, const Ranks& ranks,
               const std::string& notes) {
    const std::string where = "@" + to_string(ranks);
    std::string line = name + where + " = ";
    std::string operands;
    for (uint32_t k = below(3); k-- > 0;) {
      const std::string other = "h" + text(below(4));
      if (is_live(other, ranks)) operands += " " + other + where;
    }
    line += operands.empty() ? "ones f32[2]" : "add" + operands;
    const std::string target = "h" + text(below(4));
    if (below(3) == 0 && is_live(target, ranks)) line += " #grad=" + target;
    within.push_back(line + notes + id());
    for (const int64_t rank : ranks) live_.insert({name, rank});
  }

  void copy(const std::string& name, const std::string& notes) {
    const int64_t from = below(3), to = below(3);
    const std::string other = "h" + text(below(4));
    if (from == to || !is_live(other, {from})) return;
    within.push_back(name + "@" + text(to) + " = copy " + other + "@" +
                     text(from) + notes + id());
    live_.insert({name, to});
  }

  void free_piece(const std::string& name, const Ranks& ranks) {
    if (!is_live(name, ranks)) return;
    within.push_back("free " + name + "@" + to_string(ranks));
    for (const int64_t rank : ranks) live_.erase({name, rank});
  }

  std::mt19937 random_;
  std::set<std::pair<std::string, int64_t>> live_;
};

void expect_the_same(uint32_t seed, const ScheduleKind& kind) {
  RandomLines lines(seed);
  for (int i = 0; i < 40; ++i) lines.add();
  Window window;
  for (const std::string& text : lines.within) {
    Line line;
    ASSERT_TRUE(parse_line(text, line).ok());
    const auto where = line_ranks(line);
    ASSERT_TRUE(where.ok());
    const std::string_view* note = line.note("mb");
    const int64_t microbatch = note == nullptr ? -1 : (*note)[0] - '0';
    LineSize size;
    size.seconds = static_cast<double>(text.size() % 5);
    size.bytes.resize(line.results.size(),
                      std::vector<uint64_t>(where.value().ranks.size(), 8));
    window.add(text, line, where.value(), microbatch, std::move(size));
  }
  std::string ordered;
  RegisterBytes memory;
  window.close(kind, memory, ordered);
  Machine plain, other;
  for (const std::string& text : lines.before) {
    plain.run(text);
    other.run(text);
  }
  for (const std::string& text : lines.within) plain.run(text);
  for (size_t at = 0; at < ordered.size();) {
    const size_t end = ordered.find('\n', at);
    other.run(ordered.substr(at, end - at));
    at = end + 1;
  }
  std::string program;
  for (const std::string& text : lines.within) program += text + "\n";
  const std::string shown = program + "in order:\n" + ordered;
  EXPECT_EQ(plain.results(), other.results()) << shown;
  EXPECT_EQ(plain.held(), other.held()) << shown;
}

TEST(Window, EveryLineReadsTheSameInEveryOrder) {
  const Share share = share_of_run();
  for (uint32_t seed = 0; seed < 400; ++seed) {
    if (!share.has(seed)) continue;
    SCOPED_TRACE(seed);
    for (const ScheduleKind& kind : schedule_kinds()) {
      expect_the_same(seed, kind);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace gt::shard
