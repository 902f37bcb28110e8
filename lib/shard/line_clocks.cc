#include "shard/line_clocks.h"

#include <algorithm>

namespace gt::shard {

LineClocks::LineClocks(const std::vector<ScheduledLine>& lines)
    : lines_(lines), ends_(lines.size()) {
  for (const ScheduledLine& line : lines) {
    ranks_.insert(ranks_.end(), line.ranks.begin(), line.ranks.end());
  }
  ranks_ = ascending(std::move(ranks_));
  ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
}

double LineClocks::last_end(uint32_t line) const {
  double last = 0;
  for (const double end : ends_[line]) last = std::max(last, end);
  return last;
}

// Returns when all that the line needs is available on the rank. A value that
// was not made on this rank is available once it was made on all of its ranks.
double LineClocks::ready_at(const ScheduledLine& line, int64_t rank) const {
  double at = 0;
  for (const uint32_t n : line.needs) {
    const auto place = place_in(lines_[n].ranks, rank);
    at = std::max(at, place ? ends_[n][*place] : last_end(n));
  }
  return at;
}

double LineClocks::ready_at(uint32_t i) const {
  const ScheduledLine& line = lines_[i];
  if (!line.moves()) {
    return line.ranks.empty() ? 0 : ready_at(line, line.ranks.front());
  }
  double at = 0;
  for (const int64_t rank : line.senders) {
    at = std::max(at, ready_at(line, rank));
  }
  return at;
}

// Returns when a moved value will have arrived. A worker begins to receive a
// value when it reaches the line that moves it, so not before it has finished
// what it computes meanwhile.
double LineClocks::arrival_ahead(uint32_t i) const {
  double begin = ready_at(i);
  for (const int64_t rank : lines_[i].ranks) {
    begin = std::max(begin, clocks_.computed(rank));
  }
  return begin + lines_[i].seconds;
}

double LineClocks::compute(const ScheduledLine& line, int64_t rank) {
  busy_ += line.seconds;
  return clocks_.compute(rank, ready_at(line, rank), line.seconds);
}

void LineClocks::note(uint32_t i, double end) {
  ends_[i].push_back(end);
  end_ = std::max(end_, end);
}

void LineClocks::run(uint32_t i) {
  const ScheduledLine& line = lines_[i];
  const bool travels = line.moves() && line.seconds > 0;
  const double arrived = travels ? clocks_.exchange(line.senders, line.ranks,
                                                    ready_at(i), line.seconds)
                                 : 0;
  for (const int64_t rank : line.ranks) {
    note(i, travels                 ? arrived
            : line.moves()          ? clocks_.pass(rank, ready_at(line, rank))
            : line.occupies_ranks() ? compute(line, rank)
                                    : ready_at(line, rank));
  }
}

void LineClocks::run_ahead(uint32_t i) {
  const ScheduledLine& line = lines_[i];
  const double arrived = line.moves() ? arrival_ahead(i) : 0;
  for (const int64_t rank : line.ranks) {
    note(i, line.moves()            ? arrived
            : line.occupies_ranks() ? compute(line, rank)
                                    : ready_at(line, rank));
  }
}

void LineClocks::begin_step() {
  for (std::vector<double>& ends : ends_) ends.clear();
}

}  // namespace gt::shard
