// Plays the workers of a dispatched program, and checks that a worker has what
// it reads, and that it is what the program says.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "route_harness.h"
#include "stream/ranks.h"

namespace gt::route {

// The line of the program that bound each register last.
using BoundNames = std::map<std::string, int64_t>;

inline std::vector<std::string> registers(std::string_view text,
                                          std::string_view ranks) {
  if (ranks.empty()) return {std::string(text)};
  std::vector<std::string> out;
  const auto parsed = parse_ranks(ranks);
  for (const int64_t rank : parsed.value()) {
    out.push_back(std::string(text) + "@" + std::to_string(rank));
  }
  return out;
}

inline std::vector<std::string> operands_of(const Line& line) {
  std::vector<std::string> out;
  for (const Operand& o : line.operands) {
    if (o.kind != Operand::Kind::kName) continue;
    for (auto& name : registers(o.text, o.ranks)) out.push_back(name);
  }
  return out;
}

inline void apply(const Line& line, int64_t at, BoundNames& bound) {
  if (line.op == "free") {
    for (const auto& name : operands_of(line)) bound.erase(name);
  }
  for (const Name& r : line.results) {
    for (const auto& name : registers(r.text, r.ranks)) bound[name] = at;
  }
}

class World {
 public:
  explicit World(uint32_t workers) : workers_(workers) {}

  // Notes the registers before each line of the program.
  void read(const std::string& program) {
    BoundNames bound;
    int64_t number = 0;
    for (size_t at = 0; at < program.size();) {
      const size_t end = program.find('\n', at);
      before_[++number] = bound;
      Line line;
      const std::string text = program.substr(at, end - at);
      ASSERT_TRUE(parse_line(text, line).ok());
      apply(line, number, bound);
      at = end + 1;
    }
  }

  // Plays all that was sent, in the order of its numbers.
  void play(RouteHarness& route) {
    std::map<uint64_t, std::vector<std::pair<uint32_t, const SentBody*>>> all;
    for (uint32_t w = 0; w < workers_.size(); ++w) {
      uint64_t last = 0;
      for (const SentBody& line : route.sent(w)) {
        if (line.text.starts_with("#ranks")) {
          take_ranks(line.text);
          continue;
        }
        if (!line.has_number) continue;
        ASSERT_GT(line.seq, last);  // it is a projection of one order
        last = line.seq;
        all[line.seq].emplace_back(w, &line);
      }
    }
    ASSERT_EQ(all.size(), route.issued().size());
    uint64_t next = 1;
    for (const auto& [seq, lines] : all) {
      ASSERT_EQ(seq, next++);
      const SentBody& issued = route.issued()[seq - 1];
      std::vector<uint32_t> got;
      for (const auto& [worker, line] : lines) got.push_back(worker);
      ASSERT_EQ(got, issued.workers) << issued.text;  // each of them, once
      check_concerned(issued);
      step(lines, issued.text);
    }
  }

  // Workers go on at random, each in its own order; a line that several share
  // waits until all of them are there. The earliest unfinished line can always
  // run.
  void run(RouteHarness& route, std::mt19937& random) {
    std::vector<std::deque<uint64_t>> queues(workers_.size());
    for (uint32_t w = 0; w < workers_.size(); ++w) {
      for (const SentBody& line : route.sent(w)) {
        if (line.has_number) queues[w].push_back(line.seq);
      }
    }
    size_t left = route.issued().size();
    for (;;) {
      std::vector<uint64_t> ready;
      for (const auto& queue : queues) {
        if (queue.empty()) continue;
        const auto& all = route.issued()[queue.front() - 1].workers;
        if (std::all_of(all.begin(), all.end(), [&](uint32_t w) {
              return !queues[w].empty() && queues[w].front() == queue.front();
            })) {
          ready.push_back(queue.front());
        }
      }
      if (ready.empty()) break;
      const uint64_t seq = ready[random() % ready.size()];
      for (const uint32_t w : route.issued()[seq - 1].workers) {
        queues[w].pop_front();
      }
      --left;
    }
    ASSERT_EQ(left, 0U) << "all wait for each other";
  }

  size_t held() const {
    size_t n = 0;
    for (const BoundNames& bound : workers_) n += bound.size();
    return n;
  }
  size_t copies = 0;

 private:
  void take_ranks(const std::string& text) {
    for (size_t at = text.find(' ', 7); at != std::string::npos;
         at = text.find(' ', at + 1)) {
      long first = 0, last = 0;
      unsigned worker = 0;
      ASSERT_EQ(
          std::sscanf(text.c_str() + at, " %ld-%ld=%u", &first, &last, &worker),
          3);
      for (long r = first; r <= last; ++r) worker_of_[r] = worker;
    }
  }
  // A placed line goes to the workers that play its ranks, and to no other.
  void check_concerned(const SentBody& issued) {
    Line line;
    if (issued.text[0] == '#') return;
    ASSERT_TRUE(parse_line(issued.text, line).ok());
    if (line.op == "mesh") {
      ASSERT_EQ(issued.workers.size(), workers_.size());
      return;
    }
    if (issued.text.find('@') == std::string::npos) {
      const bool is_copy = line.note("from") != nullptr;
      const size_t n = issued.workers.size();
      ASSERT_TRUE(n == (is_copy ? 2U : 1U) || line.op == "free");
      return;
    }
    std::vector<std::string> names;
    for (const Name& r : line.results) {
      for (auto& name : registers(r.text, r.ranks)) names.push_back(name);
    }
    if (line.results.empty() || line.op == "copy") {
      for (auto& name : operands_of(line)) names.push_back(name);
    }
    std::vector<uint32_t> concerned;
    for (uint32_t w = 0; w < workers_.size(); ++w) {
      if (std::any_of(names.begin(), names.end(), [&](const std::string& name) {
            return plays(w, name);
          })) {
        concerned.push_back(w);
      }
    }
    ASSERT_EQ(issued.workers, concerned) << issued.text;
  }

  bool plays(uint32_t worker, const std::string& name) const {
    const size_t at = name.find('@');
    return at == std::string::npos ||
           worker_of_.at(std::stol(name.substr(at + 1))) == worker;
  }

  void step(const std::vector<std::pair<uint32_t, const SentBody*>>& lines,
            const std::string& issued) {
    for (const auto& [worker, sent] : lines) {
      ASSERT_EQ(sent->text, issued);
      if (issued[0] == '#') continue;
      Line line;
      ASSERT_TRUE(parse_line(sent->text, line).ok());
      BoundNames& mine = workers_[worker];
      if (const std::string_view* from = line.note("from")) {
        copy(line, worker, std::stoul(std::string(*from)));
        continue;
      }
      const bool crosses = line.op == "copy" || line.op == "all_reduce";
      for (const auto& name : operands_of(line)) {
        if (!plays(worker, name)) {
          ASSERT_TRUE(crosses || sent->text.find('@') != std::string::npos);
          continue;
        }
        ASSERT_TRUE(mine.count(name)) << name << " in " << sent->text;
        if (line.op == "free") continue;
        ASSERT_EQ(mine[name], before_[sent->line].at(name)) << sent->text;
      }
      BoundNames all;
      apply(line, sent->line, all);
      if (line.op == "free") {
        for (const auto& name : operands_of(line)) mine.erase(name);
      }
      for (const auto& [name, at] : all) {
        if (plays(worker, name)) mine[name] = at;
      }
    }
  }

  // The worker that has the value sends it, and the other takes it.
  void copy(const Line& line, uint32_t worker, size_t from) {
    const std::string name(line.operands[0].text);
    ASSERT_TRUE(workers_[from].count(name));
    if (worker == from) return;
    ASSERT_FALSE(workers_[worker].count(name)) << "copied twice: " << name;
    workers_[worker][name] = workers_[from][name];
    ++copies;
  }

  std::vector<BoundNames> workers_;
  std::map<int64_t, BoundNames> before_;
  std::map<long, uint32_t> worker_of_;
};

}  // namespace gt::route
