#include "route/loops.h"

#include <utility>

namespace gt::route {

void Loops::begin_round(const LoopState& now) {
  if (!repeats_) return;
  is_on_ = true;
  first_seq_ = now.seq;
  changes_ = now.changes;
  coming_.text.clear();
  coming_.lines = 0;
  coming_.routes.clear();
  coming_.owed.clear();
  coming_.owed_bytes = 0;
  coming_.costs.clear();
  for (uint32_t w = 0; w < now.loads.size(); ++w) {
    coming_.costs.push_back(now.loads.issued(w));
  }
}

void Loops::note(const Route& route, uint64_t seq) {
  coming_.routes.push_back(&route);
  for (const RouteOwed& owed : route.owed) {
    coming_.owed.push_back(
        {owed.worker, owed.heads, route.owed_bytes, seq - first_seq_});
    coming_.owed_bytes += route.owed_bytes;
  }
}

// Completes coming_. Returns false if it is not a round of cached lines alone,
// or if something that it depends on has changed (LoopState::changes).
bool Loops::close(const LoopState& now) {
  if (!is_on_ || now.changes != changes_) return false;
  coming_.seqs = now.seq - first_seq_;
  for (uint32_t w = 0; w < now.loads.size(); ++w) {
    coming_.costs[w] = now.loads.issued(w) - coming_.costs[w];
  }
  coming_.types.clear();
  for (const Route* route : coming_.routes) {
    for (const RouteOperand& operand : route->operands) {
      coming_.types.push_back(now.locations[operand.id].stamp.type);
    }
    for (const RouteResult& result : route->results) {
      coming_.types.push_back(now.locations[result.id].stamp.type);
    }
  }
  return true;
}

bool Loops::end_block(bool is_whole, const LoopState& now) {
  const bool is_one = close(now);
  is_steady_ = is_one && was_one_ && is_whole && coming_.text == last_.text &&
               coming_.types == last_.types;
  was_one_ = is_one;
  std::swap(coming_, last_);
  begin_round(now);
  return is_steady_;
}

}  // namespace gt::route
