#include "route/loads.h"

#include <algorithm>

namespace gt::route {

void Loads::add_to_many(const std::vector<uint32_t>& workers, uint64_t cost) {
  if (workers.size() == workers_.size()) {
    by_all_ += cost;
    return;
  }
  for (const uint32_t w : workers) add(w, cost);
}

void Loads::done(uint32_t worker, uint64_t seq) {
  Worker& w = workers_[worker];
  while (!w.marks.empty() && w.marks.front().last <= seq) {
    w.finished = w.marks.front().issued;
    w.marks.pop_front();
  }
}

uint32_t Loads::least() const {
  uint32_t best = 0;
  while (best + 1 < workers_.size() && is_lost(best)) ++best;
  for (uint32_t w = best + 1; w < workers_.size(); ++w) {
    if (is_lost(w)) continue;
    const uint64_t mine = outstanding(w);
    const uint64_t other = outstanding(best);
    if (mine < other || (mine == other && held(w) < held(best))) best = w;
  }
  return best;
}

}  // namespace gt::route
