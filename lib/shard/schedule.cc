#include "shard/schedule.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <tuple>

#include "base/result.h"

namespace gt::shard {
namespace {

// ---- chunks: the parts of the model that microbatches go through ------------

// Of each line its chunk: how many times its microbatch went to other ranks
// before it, on the way forward or on the way back. A line that reads nothing
// of its microbatch, or nothing from elsewhere, is of the chunk that reads it.
class Chunks {
 public:
  explicit Chunks(const std::vector<ScheduledLine>& lines)
      : lines_(lines), of_(lines.size(), 0) {
    count_moves();
    join_readers();
    for (const int64_t chunk : of_) count_ = std::max(count_, chunk + 1);
  }

  int64_t of(uint32_t line) const { return of_[line]; }
  int64_t count() const { return count_; }

  // Whether the line brings its microbatch to other ranks.
  static bool leaves(const ScheduledLine& line) {
    return line.moves() && common(line.ranks, line.senders).empty();
  }

 private:
  bool are_together(const ScheduledLine& a, const ScheduledLine& b) const {
    return a.microbatch == b.microbatch && a.is_backward == b.is_backward;
  }

  void count_moves() {
    for (uint32_t i = 0; i < lines_.size(); ++i) {
      const ScheduledLine& line = lines_[i];
      for (const uint32_t made : line.needs) {
        if (are_together(lines_[made], line)) {
          of_[i] = std::max(of_[i], of_[made]);
        }
      }
      if (leaves(line)) ++of_[i];
    }
  }

  void join_readers() {
    std::vector<int64_t> first(lines_.size(), INT64_MAX);  // of its readers
    for (uint32_t i = static_cast<uint32_t>(lines_.size()); i-- > 0;) {
      const ScheduledLine& line = lines_[i];
      if (first[i] != INT64_MAX) of_[i] = std::max(of_[i], first[i]);
      for (const uint32_t made : line.needs) {
        // What moves a value is of the chunk that gets it.
        const bool is_here = are_together(lines_[made], line) && !leaves(line);
        if (is_here) first[made] = std::min(first[made], of_[i]);
      }
    }
  }

  const std::vector<ScheduledLine>& lines_;
  std::vector<int64_t> of_;
  int64_t count_ = 0;
};

// ---- units ------------------------------------------------------------------

struct Unit {
  int64_t rank = 0;
  bool is_open = false;
  // Lines of it, and lines that read from it, which are still to run.
  size_t left = 0;
};

// The units of all forward lines, and how many each rank may have open.
class Units {
 public:
  Units(const std::vector<ScheduledLine>& lines, const Chunks& chunks,
        ScheduleKind kind)
      : of_(lines.size(), kNoIndex), closes_(lines.size()) {
    find(lines, chunks, kind == ScheduleKind::kZbV);
    count_readers(lines);
    set_bounds(kind);
  }

  // The number of a forward line's unit; kNoIndex of others.
  uint32_t of(uint32_t line) const { return of_[line]; }
  // Whether the line would open a unit too many.
  bool is_blocked(uint32_t line) const {
    if (of_[line] == kNoIndex || units_[of_[line]].is_open) return false;
    const Rank& here = ranks_.at(units_[of_[line]].rank);
    return here.open >= here.bound;
  }
  // The line runs. Calls f(rank) for each unit that it closes.
  template <typename F>
  void run(uint32_t line, F&& f) {
    if (of_[line] != kNoIndex) open(units_[of_[line]]);
    for (const uint32_t u : closes_[line]) {
      Unit& unit = units_[u];
      if (--unit.left > 0) continue;
      --ranks_[unit.rank].open;
      f(unit.rank);
    }
  }

  int64_t stages() const { return stages_; }
  int64_t most_open() const { return most_open_; }

 private:
  struct Rank {
    std::set<int64_t> chunks;
    int64_t open = 0;
    int64_t bound = 0;
  };

  void open(Unit& unit) {
    if (unit.is_open) return;
    unit.is_open = true;
    most_open_ = std::max(most_open_, ++ranks_[unit.rank].open);
  }

  // `are_joined`: a rank's chunks of a microbatch are one unit.
  void find(const std::vector<ScheduledLine>& lines, const Chunks& chunks,
            bool are_joined) {
    std::map<std::tuple<int64_t, int64_t, int64_t>, uint32_t> known;
    for (uint32_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].is_forward() || lines[i].moves()) continue;
      const int64_t rank = lines[i].ranks.front();
      const int64_t chunk = are_joined ? 0 : chunks.of(i);
      const auto [it, is_new] =
          known.try_emplace({lines[i].microbatch, chunk, rank},
                            static_cast<uint32_t>(units_.size()));
      if (is_new) units_.push_back({rank});
      of_[i] = it->second;
      ranks_[rank].chunks.insert(chunks.of(i));
      chunks_ = std::max(chunks_, chunks.of(i) + 1);
    }
  }

  void count_readers(const std::vector<ScheduledLine>& lines) {
    for (uint32_t i = 0; i < lines.size(); ++i) {
      std::vector<uint32_t>& closes = closes_[i];
      if (of_[i] != kNoIndex) closes.push_back(of_[i]);
      for (const uint32_t made : lines[i].needs) {
        const bool is_reader = of_[made] != kNoIndex && of_[made] != of_[i] &&
                               lines[made].microbatch == lines[i].microbatch;
        if (is_reader) closes.push_back(of_[made]);
      }
      std::sort(closes.begin(), closes.end());
      closes.erase(std::unique(closes.begin(), closes.end()), closes.end());
      for (const uint32_t u : closes) ++units_[u].left;
    }
  }

  void set_bounds(ScheduleKind kind) {
    size_t most = 1;  // chunks of one rank
    for (const auto& [rank, here] : ranks_) {
      most = std::max(most, here.chunks.size());
    }
    const auto v = static_cast<int64_t>(most);
    stages_ = (chunks_ + v - 1) / v;
    for (auto& [rank, here] : ranks_) {
      here.bound = std::max<int64_t>(bound(kind, here), 1);
    }
  }

  int64_t bound(ScheduleKind kind, const Rank& rank) const {
    const auto v = static_cast<int64_t>(rank.chunks.size());
    const int64_t first = *rank.chunks.begin();
    switch (kind) {
      case ScheduleKind::kGpipe:
        return INT64_MAX;
      case ScheduleKind::k1f1b:
        return v == 1 ? chunks_ - first
                      : 2 * (stages_ - first - 1) + (v - 1) * stages_ + 1;
      case ScheduleKind::kZbH1:
        return v * stages_;
      case ScheduleKind::kZbV:
        return stages_;
      case ScheduleKind::kZbH2:
        return 2 * stages_ - 1;
    }
    return 1;
  }

  std::vector<uint32_t> of_;  // by line
  // By line: the units that stay open until it has run.
  std::vector<std::vector<uint32_t>> closes_;
  std::vector<Unit> units_;
  std::map<int64_t, Rank> ranks_;
  int64_t chunks_ = 0;
  int64_t stages_ = 0;
  int64_t most_open_ = 0;
};

// ---- which of several lines is chosen ---------------------------------------

// Whether each line belongs to the backward part that an earlier stage waits
// for. The others make the gradients of weights.
std::vector<bool> find_awaited(const std::vector<ScheduledLine>& lines) {
  std::vector<bool> is_awaited(lines.size(), false);
  for (uint32_t i = static_cast<uint32_t>(lines.size()); i-- > 0;) {
    const ScheduledLine& line = lines[i];
    if (!line.is_backward) continue;
    if (Chunks::leaves(line)) is_awaited[i] = true;
    for (const uint32_t made : line.needs) {
      const bool is_same = lines[made].microbatch == line.microbatch;
      if (is_awaited[i] && is_same) is_awaited[made] = true;
    }
  }
  return is_awaited;
}

// Of a forward line, of a backward line that an earlier stage waits for, and of
// one that makes gradients of weights: the least is chosen first.
struct Preference {
  int forward, backward, weights;
};

// Those that are tried.
std::vector<Preference> preferences_of(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::kGpipe:
      return {{1, 2, 2}};
    case ScheduleKind::k1f1b:
      return {{2, 1, 1}, {1, 2, 2}};
    case ScheduleKind::kZbH1:
    case ScheduleKind::kZbH2:
    case ScheduleKind::kZbV:
      return {{2, 1, 3}, {1, 2, 3}};
  }
  return {};
}

// When it is the turn of a line's microbatch: the least is chosen first. Where
// a rank has one chunk, in the order of the microbatches. Else as many of them
// as there are stages go through all chunks before the next ones begin, so that
// the last stage never waits for a chunk's return (Narayanan et al.).
std::vector<int64_t> turns(const std::vector<ScheduledLine>& lines,
                           const Chunks& chunks, int64_t stages,
                           bool are_grouped) {
  std::set<int64_t> numbers;
  for (const ScheduledLine& line : lines) numbers.insert(line.microbatch);
  numbers.erase(-1);
  std::map<int64_t, int64_t> place;
  for (const int64_t number : numbers) {
    place.emplace(number, static_cast<int64_t>(place.size()));
  }
  std::vector<int64_t> of(lines.size(), -1);
  for (uint32_t i = 0; i < lines.size(); ++i) {
    if (lines[i].microbatch < 0) continue;
    const int64_t n = place[lines[i].microbatch];
    const int64_t group = n / stages * chunks.count() + chunks.of(i);
    of[i] = are_grouped ? group * stages + n % stages : n;
  }
  return of;
}

// ---- the clocks -------------------------------------------------------------

// What the orders that are tried have in common.
struct Pipeline {
  Pipeline(const std::vector<ScheduledLine>& all, ScheduleKind kind)
      : lines(all),
        chunks(all),
        units(all, chunks, kind),
        is_awaited(find_awaited(all)),
        then(all.size()) {
    const bool are_grouped =
        kind == ScheduleKind::k1f1b && units.stages() < chunks.count();
    turn =
        turns(all, chunks, std::max<int64_t>(units.stages(), 1), are_grouped);
    for (uint32_t i = 0; i < all.size(); ++i) {
      for (const uint32_t n : all[i].needs) then[n].push_back(i);
      for (const uint32_t n : all[i].after) then[n].push_back(i);
    }
  }

  const std::vector<ScheduledLine>& lines;
  Chunks chunks;
  Units units;  // none of them open
  std::vector<bool> is_awaited;
  std::vector<int64_t> turn;
  std::vector<std::vector<uint32_t>> then;  // by line: those that wait for it
};

class ListScheduler {
 public:
  ListScheduler(const Pipeline& pipeline, const Preference& preference)
      : pipeline_(pipeline),
        lines_(pipeline.lines),
        units_(pipeline.units),
        preference_(preference),
        waits_(lines_.size(), 0),
        ends_(lines_.size()) {
    for (uint32_t i = 0; i < lines_.size(); ++i) {
      waits_[i] = lines_[i].needs.size() + lines_[i].after.size();
      for (const int64_t rank : lines_[i].ranks) clocks_[rank];
    }
  }

  Order run() {
    for (uint32_t i = 0; i < lines_.size(); ++i) {
      if (waits_[i] == 0) add(i);
    }
    Order order;
    order.lines.reserve(lines_.size());
    for (uint32_t next; (next = choose()) != kNoIndex;) {
      order.lines.push_back(next);
      place(next);
    }
    GT_CHECK(order.lines.size() == lines_.size());
    for (const auto& [rank, clock] : clocks_) order.busy += clock.busy;
    for (uint32_t i = 0; i < lines_.size(); ++i) {
      order.seconds = std::max(order.seconds, last_end(i));
    }
    order.ranks = static_cast<int64_t>(clocks_.size());
    order.stages = units_.stages();
    order.most_open = units_.most_open();
    return order;
  }

 private:
  // Of a line that can begin: when, and what decides between equal times.
  struct Ready {
    double at = 0;
    int preference = 0;
    int64_t turn = 0;
    uint32_t line = kNoIndex;
    auto key() const { return std::tie(preference, turn, line); }
    friend bool operator>(const Ready& a, const Ready& b) {
      return a.at != b.at ? a.at > b.at : a.key() > b.key();
    }
  };
  struct IsWorse {
    bool operator()(const Ready& a, const Ready& b) const {
      return a.key() > b.key();
    }
  };
  using ByTime = std::priority_queue<Ready, std::vector<Ready>, std::greater<>>;
  using ByKey = std::priority_queue<Ready, std::vector<Ready>, IsWorse>;

  struct Clock {
    double free = 0;  // when it can begin the next line
    double busy = 0;
    ByTime later;
    ByKey now;  // lines that could begin when it is free
    // Lines that would open a unit too many, by the turn of the unit and its
    // number.
    std::map<std::pair<int64_t, uint32_t>, std::vector<Ready>> blocked;
  };

  double last_end(uint32_t i) const {
    double last = 0;
    for (const double end : ends_[i]) last = std::max(last, end);
    return last;
  }

  // When what the line reads is there on a rank; what was not made on this rank
  // is there once it was made on all of its own.
  double ready_at(const ScheduledLine& line, int64_t rank) const {
    double at = 0;
    for (const uint32_t n : line.needs) {
      const auto place = place_in(lines_[n].ranks, rank);
      at = std::max(at, place ? ends_[n][*place] : last_end(n));
    }
    return at;
  }

  // When the line could begin, if its rank is free; of lines on several ranks,
  // on the first.
  double ready_at(const ScheduledLine& line) const {
    if (!line.moves()) {
      return line.ranks.empty() ? 0 : ready_at(line, line.ranks.front());
    }
    double at = 0;
    for (const int64_t rank : line.senders) {
      at = std::max(at, ready_at(line, rank));
    }
    return at;
  }

  // Lines of no microbatch are chosen before all.
  int preference(uint32_t i) const {
    if (lines_[i].microbatch < 0) return 0;
    if (lines_[i].is_forward()) return preference_.forward;
    return pipeline_.is_awaited[i] ? preference_.backward : preference_.weights;
  }

  // The line has all that it needs. It waits in the queue of its first rank.
  void add(uint32_t i) {
    const ScheduledLine& line = lines_[i];
    const Ready ready{ready_at(line), preference(i), pipeline_.turn[i], i};
    if (line.moves() || line.seconds == 0 || line.ranks.empty()) {
      at_once_.push(ready);
    } else {
      clocks_[line.ranks.front()].later.push(ready);
    }
  }

  // The best line of a rank, null if it has none; those that would open a unit
  // too many are put aside.
  const Ready* best(Clock& clock) {
    for (;;) {
      while (!clock.later.empty() && clock.later.top().at <= clock.free) {
        clock.now.push(clock.later.top());
        clock.later.pop();
      }
      const bool is_now = !clock.now.empty();
      if (!is_now && clock.later.empty()) return nullptr;
      const Ready& top = is_now ? clock.now.top() : clock.later.top();
      if (!units_.is_blocked(top.line)) return &top;
      clock.blocked[{top.turn, units_.of(top.line)}].push_back(top);
      is_now ? clock.now.pop() : clock.later.pop();
    }
  }

  // Of lines that can begin at the same time, one that occupies no rank comes
  // first: a worker sends a value when it comes to the line that moves it, so
  // that line stands before the rank's next computation.
  uint32_t choose() {
    const Ready* chosen = at_once_.empty() ? nullptr : &at_once_.top();
    double begin = chosen == nullptr ? 0 : chosen->at;
    Clock* of = nullptr;
    for (auto& [rank, clock] : clocks_) {
      const Ready* here = best(clock);
      if (here == nullptr) continue;
      const double at = std::max(here->at, clock.free);
      const bool is_better =
          chosen == nullptr || at < begin ||
          (at == begin && of != nullptr && here->key() < chosen->key());
      if (!is_better) continue;
      chosen = here;
      begin = at;
      of = &clock;
    }
    if (chosen == nullptr) return choose_blocked();
    const uint32_t line = chosen->line;
    if (of == nullptr) {
      at_once_.pop();
    } else {
      of->now.empty() ? of->later.pop() : of->now.pop();
    }
    return line;
  }

  // The bound gives way to the first unit that it keeps back.
  uint32_t choose_blocked() {
    Clock* of = nullptr;
    for (auto& [rank, clock] : clocks_) {
      if (clock.blocked.empty()) continue;
      const bool is_first = of == nullptr || clock.blocked.begin()->first <
                                                 of->blocked.begin()->first;
      if (is_first) of = &clock;
    }
    if (of == nullptr) return kNoIndex;
    const auto unit = of->blocked.begin();
    const Ready chosen = *std::min_element(
        unit->second.begin(), unit->second.end(),
        [](const Ready& a, const Ready& b) { return a.key() < b.key(); });
    for (const Ready& ready : unit->second) {
      if (ready.line != chosen.line) of->later.push(ready);
    }
    of->blocked.erase(unit);
    return chosen.line;
  }

  // A unit less is open: the first of those that wait may be.
  static void release(Clock& clock) {
    if (clock.blocked.empty()) return;
    const auto unit = clock.blocked.begin();
    for (const Ready& ready : unit->second) clock.later.push(ready);
    clock.blocked.erase(unit);
  }

  void place(uint32_t i) {
    const ScheduledLine& line = lines_[i];
    const double moved = line.moves() ? ready_at(line) + line.seconds : 0;
    for (const int64_t rank : line.ranks) {
      if (line.moves() || line.seconds == 0) {
        ends_[i].push_back(line.moves() ? moved : ready_at(line, rank));
        continue;
      }
      Clock& clock = clocks_[rank];
      clock.free = std::max(clock.free, ready_at(line, rank)) + line.seconds;
      clock.busy += line.seconds;
      ends_[i].push_back(clock.free);
    }
    units_.run(i, [this](int64_t rank) { release(clocks_[rank]); });
    for (const uint32_t next : pipeline_.then[i]) {
      if (--waits_[next] == 0) add(next);
    }
  }

  const Pipeline& pipeline_;
  const std::vector<ScheduledLine>& lines_;
  Units units_;
  const Preference preference_;
  std::vector<size_t> waits_;  // by line: those that must stand before it
  std::vector<std::vector<double>> ends_;  // by line, by rank: when it is done
  ByTime at_once_;                         // lines that occupy no rank
  std::map<int64_t, Clock> clocks_;
};

}  // namespace

Order schedule(const std::vector<ScheduledLine>& lines, ScheduleKind kind) {
  const Pipeline pipeline(lines, kind);
  Order best;
  for (const Preference& preference : preferences_of(kind)) {
    Order order = ListScheduler(pipeline, preference).run();
    const bool is_better =
        best.lines.size() < order.lines.size() || order.seconds < best.seconds;
    if (is_better) best = std::move(order);
  }
  return best;
}

}  // namespace gt::shard
