#include "exec/comm/transfers.h"

#include <algorithm>
#include <utility>

#include "exec/trace/ticks.h"

namespace gt::exec::comm {

uint64_t Transfers::now() const {
  const uint64_t kept = device_.done_at();
  return kept != 0 ? kept : Ticks::system_nanos();
}

void Transfers::begin() {
  began_ = now();
  has_arrived_ = false;
  read_.clear();
}

void Transfers::arrived(const Input& input, bool is_read) {
  const uint64_t at = now();
  if (!std::exchange(has_arrived_, true)) began_ = at;
  const uint64_t bytes = input.region.bytes();
  if (!is_read || bytes == 0) return;
  const auto known = std::ranges::find(read_, input.worker, &Transferred::from);
  if (known != read_.end()) {
    known->bytes += bytes;
  } else {
    read_.push_back({input.worker, bytes, at, at});
  }
}

void Transfers::used(const Target& target) {
  const uint64_t at = now();
  for (const Input& input : target.inputs) {
    if (input.own >= 0) continue;
    const auto one = std::ranges::find(read_, input.worker, &Transferred::from);
    if (one != read_.end()) one->end = at;
  }
}

void Transfers::end(const ExchangeRun& run) {
  watch_.ran(run, began_, now(), read_);
}

}  // namespace gt::exec::comm
