#include "serve/fair_queue.h"

#include <algorithm>

namespace gt::serve {

void FairQueue::add(Client client, double weight) {
  clients_[client].weight = weight;
}

void FairQueue::remove(Client client) {
  set_waiting(client, false);
  clients_.erase(client);
}

void FairQueue::set_waiting(Client client, bool waits, double credit) {
  State& state = clients_.at(client);
  if (state.waits == waits) return;
  state.waits = waits;
  if (!waits) {
    waiting_.erase({state.count, client});
    last_count_ = std::max(last_count_, state.count);
    return;
  }
  const double least = waiting_.empty() ? last_count_ : waiting_.begin()->first;
  state.count = std::max(state.count, least - credit);
  waiting_.emplace(state.count, client);
}

std::optional<FairQueue::Client> FairQueue::next() const {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.begin()->second;
}

void FairQueue::serve(Client client, double seconds) {
  State& state = clients_.at(client);
  if (state.waits) waiting_.erase({state.count, client});
  state.count += seconds / state.weight;
  state.service += seconds;
  if (state.waits) waiting_.emplace(state.count, client);
}

void FairQueue::lift(Client client, double count) {
  State& state = clients_.at(client);
  if (count <= state.count) return;
  if (state.waits) waiting_.erase({state.count, client});
  state.count = count;
  if (state.waits) waiting_.emplace(state.count, client);
}

}  // namespace gt::serve
