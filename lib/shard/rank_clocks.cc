#include "shard/rank_clocks.h"

#include <algorithm>

namespace gt::shard {

RankClocks::RankClocks(const std::vector<ScheduledLine>& lines)
    : lines_(lines), ends_(lines.size()) {
  for (const ScheduledLine& line : lines) {
    ranks_.insert(ranks_.end(), line.ranks.begin(), line.ranks.end());
  }
  ranks_ = ascending(std::move(ranks_));
  ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
  free_.resize(ranks_.size(), 0);
}

double RankClocks::last_end(uint32_t line) const {
  double last = 0;
  for (const double end : ends_[line]) last = std::max(last, end);
  return last;
}

// Returns when all that the line needs is available on the rank. A value that
// was not made on this rank is available once it was made on all of its ranks.
double RankClocks::ready_at(const ScheduledLine& line, int64_t rank) const {
  double at = 0;
  for (const uint32_t n : line.needs) {
    const auto place = place_in(lines_[n].ranks, rank);
    at = std::max(at, place ? ends_[n][*place] : last_end(n));
  }
  return at;
}

double RankClocks::ready_at(uint32_t i) const {
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

// Returns when a moved value has arrived. A worker begins to receive a value
// when it reaches the line that moves it, so not before it has finished what it
// computes meanwhile.
double RankClocks::arrival(uint32_t i) const {
  double begin = ready_at(i);
  for (const int64_t rank : lines_[i].ranks) {
    begin = std::max(begin, free_[place_of(rank)]);
  }
  return begin + lines_[i].seconds;
}

double RankClocks::compute(const ScheduledLine& line, int64_t rank) {
  double& free = free_[place_of(rank)];
  free = std::max(free, ready_at(line, rank)) + line.seconds;
  busy_ += line.seconds;
  return free;
}

void RankClocks::run(uint32_t i) {
  const ScheduledLine& line = lines_[i];
  const double arrived = line.moves() ? arrival(i) : 0;
  for (const int64_t rank : line.ranks) {
    const double end = line.moves()            ? arrived
                       : line.occupies_ranks() ? compute(line, rank)
                                               : ready_at(line, rank);
    ends_[i].push_back(end);
    end_ = std::max(end_, end);
  }
}

void RankClocks::begin_step() {
  for (std::vector<double>& ends : ends_) ends.clear();
}

}  // namespace gt::shard
