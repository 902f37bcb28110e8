// Rounds of a block that do just what the one before did.
#include "route/dispatcher.h"

namespace gt {

RoundStart Dispatcher::round_start() const {
  return {next_seq_, homes_.carved() + paths_.changes()};
}

void Dispatcher::begin_round() {
  // The log has a row for each line.
  if (!issues_ && caches_) round_.begin(round_start(), loads_);
}

// The line may be the first of a block that came before.
void Dispatcher::begin_block(std::string_view text) {
  outbox_.begin_block();
  if (round_.is_on()) return;
  begin_round();
  if (round_.is_on()) round_.add_text(text);
}

// The last line was the last of a block that came before.
void Dispatcher::end_block() {
  const bool is_whole = outbox_.end_block();
  const bool is_one = round_.end(round_start(), loads_, homes_);
  is_steady_ = is_one && was_one_ && is_whole && round_.is_as(last_round_);
  was_one_ = is_one;
  if (is_steady_) sent_ = outbox_.ended();
  std::swap(round_, last_round_);
  begin_round();
}

void Dispatcher::repeat(uint64_t times) {
  const uint64_t seqs = last_round_.seqs();
  outbox_.repeat(sent_, times, seqs, last_round_.lines());
  for (uint64_t i = 0; i < times; ++i, next_seq_ += seqs) {
    for (const Round::Owed& owed : last_round_.owed()) {
      results_.owe(owed.worker, owed.heads, owed.bytes, next_seq_ + owed.seq);
    }
  }
  for (uint32_t w = 0; w < loads_.size(); ++w) {
    loads_.add(w, times * last_round_.costs()[w]);
  }
  lines_ += times * last_round_.instructions();
  repeated_ += times * last_round_.instructions();
  begin_round();
}

}  // namespace gt
