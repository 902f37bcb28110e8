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

// What was not made on this rank is there once it was made on all of its own.
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

// A worker begins to take a value when it comes to the line that moves it, so
// not before what it computes meanwhile is done.
void RankClocks::run(uint32_t i) {
  const ScheduledLine& line = lines_[i];
  double sent = line.moves() ? ready_at(i) : 0;
  if (line.moves()) {
    for (const int64_t rank : line.ranks) {
      sent = std::max(sent, free_[place_of(rank)]);
    }
  }
  for (const int64_t rank : line.ranks) {
    double end = sent + line.seconds;
    if (!line.moves()) {
      end = ready_at(line, rank);
      if (line.seconds > 0) {
        double& free = free_[place_of(rank)];
        free = end = std::max(free, end) + line.seconds;
        busy_ += line.seconds;
      }
    }
    ends_[i].push_back(end);
    end_ = std::max(end_, end);
  }
}

void RankClocks::begin_step() {
  for (std::vector<double>& ends : ends_) ends.clear();
}

}  // namespace gt::shard
