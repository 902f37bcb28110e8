#include "serve/scheduler.h"

#include <algorithm>
#include <cmath>

namespace gt::serve {
namespace {

constexpr double kAll = 1e300;
// The factor by which the largest block, and the longest time, fade with each
// block that follows.
constexpr double kFade = 0.99;
constexpr double kMemory =
    0.5e9;  // nanoseconds after which a measure has faded

}  // namespace

void Scheduler::remove(Client client) {
  const State& state = clients_.at(client);
  if (!state.is_slow) unfinished_ -= state.unfinished;
  clients_.erase(client);
  queue_.remove(client);
  look_at_all();
}

void Scheduler::set_ready(Client client, bool is_ready) {
  State& state = clients_.at(client);
  if (state.is_ready == is_ready) return;
  state.is_ready = is_ready;
  state.was_idle = state.was_idle || !is_ready;
  look_at_all();
}

void Scheduler::sent(Client client, uint64_t cost, int64_t now) {
  pass(now);
  State& state = clients_.at(client);
  state.blocks.push_back({cost, now});
  state.unfinished += cost;
  state.was_idle = false;
  state.served = now;
  if (!state.is_slow) unfinished_ += cost;
  state.largest = std::max(static_cast<double>(cost), kFade * state.largest);
  least_part_ = std::max(least_part_, least_part_of(client));
  queue_.serve(client, static_cast<double>(cost));
  look(client);
}

void Scheduler::done(Client client, size_t blocks, int64_t now) {
  pass(now);
  State& state = clients_.at(client);
  for (; blocks > 0 && !state.blocks.empty(); --blocks) {
    const auto [cost, sent] = state.blocks.front();
    state.blocks.pop_front();
    state.unfinished -= cost;
    state.took = std::max(static_cast<double>(now - sent), kFade * state.took);
    if (state.is_slow) continue;
    unfinished_ -= cost;
    done_cost_ += static_cast<double>(cost);
  }
  if (busy_time_ > 0) speed_ = std::max(done_cost_ / busy_time_, 1e-3);
  look_at_all();
}

// Moves the time on; older measurements count less.
void Scheduler::pass(int64_t now) {
  const auto passed = static_cast<double>(now - at_);
  at_ = now;
  const bool was_busy = unfinished_ > 0;
  if (!was_busy || passed <= 0) return;
  const double stays = std::exp(-passed / kMemory);
  busy_time_ = busy_time_ * stays + passed;
  done_cost_ *= stays;
}

void Scheduler::look_at_all() {
  find_slow();
  late_ = 0;
  shares_ = 0;
  least_part_ = 0;
  least_ = kAll;
  for (const auto& [client, state] : clients_) {
    if (state.is_busy()) {
      least_part_ = std::max(least_part_, least_part_of(client));
    }
    if (state.is_slow) continue;
    if (state.is_busy()) shares_ += queue_.weight(client);
    if (state.is_ready) least_ = std::min(least_, queue_.count(client));
    if (state.is_busy() || at_ - state.served < kAlone) ++late_;
  }
  if (shares_ == 0) shares_ = 1;
  for (const auto& [client, state] : clients_) look(client);
}

// Returns how long the client's blocks take, as far as is known.
double Scheduler::delay(const State& state) const {
  if (state.blocks.empty()) return state.took;
  const auto waited = static_cast<double>(at_ - state.blocks.front().sent);
  return std::max(state.took, waited);
}

// Finds the slow clients. A client that was slow stays so until its blocks take
// less than half of kSlow times as long as another's.
void Scheduler::find_slow() {
  double most = 0;  // service
  double quickest = kAll;
  for (const auto& [client, state] : clients_) {
    if (!state.is_busy()) continue;
    most = std::max(most, queue_.count(client));
    if (state.took > 0) quickest = std::min(quickest, delay(state));
  }
  const double behind = most - part();
  for (auto& [client, state] : clients_) {
    const double times = state.is_slow ? kSlow / 2 : kSlow;
    const bool is_slow = state.is_busy() && delay(state) > times * quickest &&
                         (state.is_slow || queue_.count(client) < behind);
    if (is_slow != state.is_slow) {
      state.is_slow = is_slow;
      unfinished_ += is_slow ? -state.unfinished : state.unfinished;
    }
    if (is_slow) queue_.lift(client, behind);
  }
}

double Scheduler::part_of(double shares) const {
  return std::max(kAhead * speed_ / shares, least_part_);
}

// Returns the part, for each unit of its share, of which the client needs no
// less.
double Scheduler::least_part_of(Client client) const {
  return kLeastBlocks * clients_.at(client).largest / queue_.weight(client);
}

double Scheduler::part() const {
  return (late_ <= 1 ? kDeep : 1) * part_of(shares_);
}

// Tells the queue whether the client waits. A client that is held up by what it
// has under way keeps all that it is behind: it cannot use that up at others'
// cost, since it may not have more under way than they.
void Scheduler::look(Client client) {
  const State& state = clients_.at(client);
  // A client that is ahead of another has less under way, so that it does not
  // get further and further ahead; but it always has half a part.
  const double share = queue_.weight(client);
  const double ahead = std::max(0.0, queue_.count(client) - least_);
  const double whole = state.is_slow ? part_of(shares_ + share) : part();
  const double most = share * (whole - std::min(ahead, whole / 2));
  const bool has_room =
      state.blocks.empty() || static_cast<double>(state.unfinished) < most;
  queue_.set_waiting(client, state.is_ready && has_room,
                     state.was_idle ? 0 : kAll);
}

}  // namespace gt::serve
