#include "shard/schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>

#include "base/result.h"
#include "shard/line_clocks.h"
#include "shard/schedule_delays.h"
#include "shard/schedule_units.h"

namespace gt::shard {
namespace {

// ---- which of several lines is chosen ---------------------------------------

// The rule by which one of several lines that a rank could begin is chosen.
struct Preference {
  // Priorities of the three classes of lines, of which the least is chosen
  // first: forward lines, backward lines that an earlier stage waits for, and
  // backward lines that make gradients of weights.
  int forward, backward, weights;
  // How long a rank stays idle for a line that would be chosen before the line
  // that it could begin now, as a fraction of the time that the latter takes.
  double patience = 0;
};

// Returns the rules that are tried for a kind of schedule.
std::vector<Preference> preferences_of(const ScheduleKind& kind) {
  if (kind.is_forward_first) return {{1, 2, 2}};
  std::vector<Preference> out;
  std::vector<double> patiences{0, 0.1, 0.2};
  // The gradients of weights fill the time that a rank waits for more.
  if (kind.puts_off_weights) {
    patiences.insert(patiences.end(), {0.35, 0.5, 0.75, 1, 2});
  }
  for (const double patience : patiences) {
    out.push_back({2, 1, kind.puts_off_weights ? 3 : 1, patience});
    out.push_back({1, 2, kind.puts_off_weights ? 3 : 2, patience});
  }
  return out;
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
  Pipeline(const std::vector<ScheduledLine>& all, const ScheduleKind& kind)
      : lines(all),
        chunks(all),
        units(all, chunks, kind),
        is_awaited(find_awaited(all)),
        then(all.size()) {
    const bool are_grouped = kind.has_groups && units.stages() < chunks.count();
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
        clocks_(lines_),
        waits_(lines_.size(), 0),
        is_written_(lines_.size(), false),
        queues_(clocks_.ranks().size()) {
    for (uint32_t i = 0; i < lines_.size(); ++i) {
      waits_[i] = lines_[i].needs.size() + lines_[i].after.size();
    }
  }

  Order run() {
    std::vector<uint32_t> first;
    for (uint32_t i = 0; i < lines_.size(); ++i) {
      if (waits_[i] == 0 && add(i)) first.push_back(i);
    }
    for (const uint32_t i : first) run_clocks(i);
    Order order;
    order.lines.reserve(lines_.size());
    for (uint32_t next; (next = choose()) != kNoIndex;) {
      if (lines_[next].occupies_ranks()) run_clocks(next);
      write(next, order.lines);
    }
    GT_CHECK(order.lines.size() == lines_.size());
    order.seconds = clocks_.end();
    order.busy = clocks_.busy();
    order.ranks = static_cast<int64_t>(queues_.size());
    order.stages = units_.stages();
    order.most_open = units_.most_open();
    order.most_parts = units_.most_parts();
    order.comes_back = units_.comes_back();
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
    friend bool operator<(const Ready& a, const Ready& b) {
      return a.at != b.at ? a.at < b.at : a.key() < b.key();
    }
    friend bool operator>(const Ready& a, const Ready& b) { return b < a; }
  };
  struct IsWorse {
    bool operator()(const Ready& a, const Ready& b) const {
      return a.key() > b.key();
    }
  };
  using ByTime = std::priority_queue<Ready, std::vector<Ready>, std::greater<>>;
  using ByKey = std::priority_queue<Ready, std::vector<Ready>, IsWorse>;

  // The lines of a rank that can begin. A line on several ranks waits in the
  // queue of the first.
  struct RankQueue {
    ByTime later;
    ByKey now;  // lines that could begin when the rank is free, or soon after
    // Lines that would open a unit too many, by the turn of the unit and its
    // number.
    std::map<std::pair<int64_t, uint32_t>, std::vector<Ready>> blocked;
    // The best of its lines with the time at which it would begin, as bests_
    // has it; or the queue has changed since.
    std::optional<Ready> best;
    bool is_changed = false;

    // Lines that are ready by then are chosen by preference from now on.
    void take_until(double time) {
      while (!later.empty() && later.top().at <= time) {
        now.push(later.top());
        later.pop();
      }
    }
  };

  // Lines of no microbatch are chosen before all.
  int preference(uint32_t i) const {
    if (lines_[i].microbatch < 0) return 0;
    if (lines_[i].is_forward()) return preference_.forward;
    return pipeline_.is_awaited[i] ? preference_.backward : preference_.weights;
  }

  // Queues a line, all of whose needs have run. Returns true if it occupies no
  // rank; then the caller runs its clocks at once.
  bool add(uint32_t i) {
    const ScheduledLine& line = lines_[i];
    const Ready ready{clocks_.ready_at(i), preference(i), pipeline_.turn[i], i};
    if (!line.occupies_ranks()) {
      at_once_.push(ready);
      return true;
    }
    const size_t place = clocks_.place_of(line.ranks.front());
    queues_[place].later.push(ready);
    note_change(place);
    return false;
  }

  // Runs the clocks of a line, and then those of lines that waited only for it
  // and occupy no rank. Such a line delays no rank, so its end is known before
  // its turn to be written comes, and a rank can wait for what it makes.
  void run_clocks(uint32_t line) {
    std::vector<uint32_t> open{line};
    while (!open.empty()) {
      const uint32_t i = open.back();
      open.pop_back();
      clocks_.run_ahead(i);
      for (const uint32_t next : pipeline_.then[i]) {
        if (--waits_[next] == 0 && add(next)) open.push_back(next);
      }
    }
    if (!lines_[line].occupies_ranks()) return;
    for (const int64_t rank : lines_[line].ranks) {
      note_change(clocks_.place_of(rank));
    }
  }

  void note_change(size_t place) {
    if (queues_[place].is_changed) return;
    queues_[place].is_changed = true;
    changed_.push_back(place);
  }

  // The best line of a rank, with the time at which it would begin. Puts those
  // aside that would open a unit too many.
  std::optional<Ready> find_best(size_t place) {
    RankQueue& queue = queues_[place];
    const double free = clocks_.free(place);
    for (;;) {
      queue.take_until(free);
      if (!queue.now.empty()) {
        const double seconds = lines_[queue.now.top().line].seconds;
        queue.take_until(free + preference_.patience * seconds);
      }
      const bool is_now = !queue.now.empty();
      if (!is_now && queue.later.empty()) return std::nullopt;
      Ready top = is_now ? queue.now.top() : queue.later.top();
      if (!units_.is_blocked(top.line)) {
        top.at = std::max(top.at, free);
        return top;
      }
      queue.blocked[{top.turn, units_.of(top.line)}].push_back(top);
      is_now ? queue.now.pop() : queue.later.pop();
    }
  }

  void refresh_bests() {
    for (const size_t place : changed_) {
      RankQueue& queue = queues_[place];
      if (queue.best) bests_.erase({*queue.best, place});
      queue.best = find_best(place);
      if (queue.best) bests_.insert({*queue.best, place});
      queue.is_changed = false;
    }
    changed_.clear();
  }

  // Of lines that can begin at the same time, one that occupies no rank comes
  // first: a worker sends a value when it comes to the line that moves it, so
  // that line stands before the rank's next computation.
  uint32_t choose() {
    refresh_bests();
    while (!at_once_.empty() && is_written_[at_once_.top().line]) {
      at_once_.pop();
    }
    const bool is_at_once =
        !at_once_.empty() &&
        (bests_.empty() || at_once_.top().at <= bests_.begin()->first.at);
    if (is_at_once) return at_once_.top().line;
    if (bests_.empty()) return choose_blocked();
    const auto [chosen, place] = *bests_.begin();
    RankQueue& queue = queues_[place];
    queue.now.empty() ? queue.later.pop() : queue.now.pop();
    note_change(place);
    return chosen.line;
  }

  // The bound gives way to the first unit that it keeps back.
  uint32_t choose_blocked() {
    RankQueue* of = nullptr;
    for (RankQueue& queue : queues_) {
      if (queue.blocked.empty()) continue;
      const bool is_first = of == nullptr || queue.blocked.begin()->first <
                                                 of->blocked.begin()->first;
      if (is_first) of = &queue;
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
    note_change(static_cast<size_t>(of - queues_.data()));
    return chosen.line;
  }

  // A unit was opened or closed: those that wait may be allowed now.
  void release(size_t place) {
    RankQueue& queue = queues_[place];
    for (auto& [unit, lines] : queue.blocked) {
      for (const Ready& ready : lines) queue.later.push(ready);
    }
    queue.blocked.clear();
    note_change(place);
  }

  // Appends the line to the order, behind the lines that it needs. Their clocks
  // have run, but those that occupy no rank may not be in the order yet.
  void write(uint32_t line, std::vector<uint32_t>& order) {
    std::vector<uint32_t> open{line};
    while (!open.empty()) {
      const uint32_t i = open.back();
      const size_t before = open.size();
      for (const auto* list : {&lines_[i].needs, &lines_[i].after}) {
        for (const uint32_t n : *list) {
          if (!is_written_[n]) open.push_back(n);
        }
      }
      if (open.size() > before) continue;
      open.pop_back();
      if (is_written_[i]) continue;
      is_written_[i] = true;
      order.push_back(i);
      units_.run(i, [this](int64_t rank) { release(clocks_.place_of(rank)); });
    }
  }

  const Pipeline& pipeline_;
  const std::vector<ScheduledLine>& lines_;
  Units units_;
  const Preference preference_;
  LineClocks clocks_;
  std::vector<size_t> waits_;      // by line: those that must stand before it
  std::vector<bool> is_written_;   // by line: it is in the order
  ByTime at_once_;                 // lines that occupy no rank
  std::vector<RankQueue> queues_;  // by the rank's place in clocks_
  // The best line of each rank that has one, and the rank's place.
  std::set<std::pair<Ready, size_t>> bests_;
  std::vector<size_t> changed_;  // places of queues whose best may be another
};

// Returns the seconds from one step to the next when many steps in this order
// follow each other without a barrier, so that a rank that has finished one
// step begins the next.
double period_of(const std::vector<ScheduledLine>& lines,
                 const std::vector<uint32_t>& order) {
  constexpr int kSteps = 4;  // until the ranks have fallen into step
  LineClocks clocks(lines);
  double period = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double before = clocks.end();
    for (const uint32_t line : order) clocks.run(line);
    period = clocks.end() - before;
    clocks.begin_step();
  }
  return period;
}

}  // namespace

Order schedule(std::vector<ScheduledLine> lines, const ScheduleKind& kind) {
  delay_sources(lines);
  const Pipeline pipeline(lines, kind);
  Order best;
  for (const Preference& preference : preferences_of(kind)) {
    Order order = ListScheduler(pipeline, preference).run();
    order.period = period_of(lines, order.lines);
    const bool is_better = best.lines.size() < order.lines.size() ||
                           std::tie(order.period, order.seconds) <
                               std::tie(best.period, best.seconds);
    if (is_better) best = std::move(order);
  }
  return best;
}

}  // namespace gt::shard
