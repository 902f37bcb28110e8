#include "net/host_state.h"

#include <algorithm>
#include <utility>

#include "base/message.h"
#include "base/text.h"
#include "stream/ranks.h"

namespace gt::net {
namespace {

constexpr int64_t kLookEvery = 20;  // ms between checks for silence

Frame abort_frame(std::string_view why) {
  return Frame(MessageWriter(Verb::kAbort).finish(words(why)));
}

}  // namespace

HostState::HostState(HostOptions options, int64_t now)
    : options_(std::move(options)),
      workers_(options_.workers),
      next_beat_(now + options_.timing.beat),
      looked_(now) {
  GT_CHECK(options_.workers > 0 && options_.workers <= kMaxWorkers);
  GT_CHECK(options_.window >= kMaxMessage);
}

void HostState::put(const std::string& peer, Frame frame) {
  outgoing_.push_back({peer, std::move(frame)});
}

void HostState::emit(HostEvent::Kind kind, uint32_t worker, std::string why,
                     OwnedMessage owned) {
  events_.push_back({kind, worker, std::move(why), std::move(owned)});
}

std::string HostState::who_is_here() const {
  std::vector<const Peer*> here;
  for (const auto& [id, peer] : peers_) here.push_back(&peer);
  std::ranges::sort(here, {}, &Peer::order);
  std::string out = std::to_string(here.size()) + " of " +
                    std::to_string(options_.workers) + " workers are here";
  for (size_t i = 0; i < here.size(); ++i) {
    out += i == 0 ? " (" : "; ";
    out += excerpt(here[i]->info.name) + " on " + excerpt(here[i]->info.host) +
           ", pid " + std::to_string(here[i]->info.pid);
  }
  return out + (here.empty() ? "" : ")");
}

std::string HostState::who_is_missing() const {
  std::vector<bool> is_here(options_.workers);
  size_t known = 0;
  for (const auto& [id, peer] : peers_) {
    if (!peer.info.rank.has_value()) continue;
    is_here[*peer.info.rank] = true;
    ++known;
  }
  if (known == 0 || known < peers_.size()) {
    return std::to_string(options_.workers - peers_.size()) + " more";
  }
  std::vector<int64_t> missing;
  for (uint32_t i = 0; i < options_.workers; ++i) {
    if (!is_here[i]) missing.push_back(i);
  }
  return "rank " + to_string(missing);
}

// ---- what comes -------------------------------------------------------------

void HostState::receive(const std::string& peer, Frame frame, int64_t now,
                        const std::string& key) {
  const auto known = peers_.find(peer);
  if (known == peers_.end()) {
    if (!fenced_.contains(peer)) return take_hello(peer, frame, now, key);
    ++stale_;
    return;
  }
  listen(known->second, now);
  auto owned = read_owned_message(std::move(frame));
  if (!owned.ok()) {
    return lose(peer, "what came is no message: " + owned.error().message,
                true);
  }
  take(peer, known->second, std::move(owned.value()));
}

void HostState::listen(Peer& peer, int64_t now) {
  peer.heard = now;
  if (peer.worker == kNoWorker) return;
  WorkerState& state = workers_[peer.worker].status.state;
  if (state != WorkerState::kSuspect) return;
  state = WorkerState::kAttached;
  emit(HostEvent::Kind::kResumed, peer.worker);
}

void HostState::take(const std::string& peer, Peer& from, OwnedMessage owned) {
  const uint32_t number = from.worker;
  const Verb verb = owned.message.verb;
  const bool is_beat = verb == Verb::kDone;
  if (number == kNoWorker && is_beat) return;
  if (number == kNoWorker) {
    return lose(peer, std::string(name_of(verb)) + " before it was attached",
                true);
  }
  Worker& worker = workers_[number];
  Status status = check_words(owned.message);
  if (status.ok() && is_beat) status = take_done(worker, owned.message);
  if (!status.ok()) return lose(peer, status.error().message, true);
  if (is_beat || verb == Verb::kResults || verb == Verb::kReport ||
      verb == Verb::kRan || verb == Verb::kState) {
    return emit(HostEvent::Kind::kMessage, number, {}, std::move(owned));
  }
  if (verb != Verb::kBye) {
    return lose(peer, "a worker says no " + std::string(name_of(verb)), true);
  }
  worker.status.state = WorkerState::kLeft;
  outgoing_.push_back({peer, Frame(MessageWriter(Verb::kBye).finish())});
  peers_.erase(peer);
  emit(HostEvent::Kind::kLeft, number, {}, std::move(owned));
}

Status HostState::take_done(Worker& worker, const Message& done) {
  WorkerStatus& status = worker.status;
  NumberReader numbers(done);
  const uint64_t seq = numbers.need("seq");
  const uint64_t bytes = numbers.need("bytes");
  const uint64_t waits = numbers.need("wait");
  const uint64_t at = numbers.find("at");
  if (!numbers.status().ok()) return numbers.status();
  if (bytes < status.taken || bytes > status.sent) {
    return Error{"done: bytes=" + std::to_string(bytes) + ", but " +
                 std::to_string(status.sent) + " were sent and " +
                 std::to_string(status.taken) + " done before"};
  }
  status.done_seq = std::max(status.done_seq, seq);
  status.taken = bytes;
  status.waits_ms = waits;
  status.waits_at = at;
  status.waits_for = done.body;
  while (!worker.ends.empty() && worker.ends.front() <= status.taken) {
    worker.ends.pop_front();
  }
  return ok_status();
}

void HostState::link_ended(const std::string& peer) {
  fenced_.erase(peer);
  if (knows(peer)) lose(peer, "its connection ended", false);
}

void HostState::undelivered(const std::string& peer) {
  if (knows(peer)) lose(peer, "what is for it cannot be delivered", false);
}

void HostState::lose(const std::string& peer, const std::string& why,
                     bool tell) {
  const Peer from = std::move(peers_.at(peer));
  const uint32_t number = from.worker;
  const std::string id = peer;  // a copy, since `peer` may be the map's own key
  peers_.erase(id);
  std::string text = describe(number, from.info) + " is lost: " + why;
  if (number == kNoWorker) {
    text = excerpt(from.info.name) + " on " + excerpt(from.info.host) +
           " is lost before all workers were here: " + why;
  } else {
    Worker& worker = workers_[number];
    worker.status.state = WorkerState::kLost;
    worker.ends.clear();
    if (tell) fenced_[id] = number;
  }
  if (tell) put(id, abort_frame(text));
  emit(HostEvent::Kind::kLost, number, std::move(text));
}

void HostState::drop(uint32_t number, std::string_view why) {
  Worker& worker = workers_[number];
  if (is_attached(number)) {
    peers_.erase(worker.peer);
    fenced_[worker.peer] = number;
    worker.status.state = WorkerState::kLost;
    worker.ends.clear();
    put(worker.peer, abort_frame(why));
  }
  MessageWriter gone(Verb::kGone);
  const Frame frame(gone.field("worker", uint64_t{number}).finish(words(why)));
  for (const auto& [id, peer] : peers_) put(id, frame);
}

// ---- what goes --------------------------------------------------------------

bool HostState::is_attached(uint32_t number) const {
  const WorkerState state = workers_[number].status.state;
  return state == WorkerState::kAttached || state == WorkerState::kSuspect;
}

bool HostState::can_send(uint32_t number, size_t bytes) const {
  const Worker& worker = workers_[number];
  const uint64_t on_way = worker.status.sent - worker.status.taken;
  return is_attached(number) && worker.ends.size() < kMaxOnWay &&
         on_way + bytes <= options_.window;
}

void HostState::abort(std::string_view why) {
  const Frame frame = abort_frame(why);
  for (const auto& [id, peer] : peers_) put(id, frame);
}

void HostState::send(uint32_t number, const Frame& frame) {
  if (!is_attached(number)) return;
  Worker& worker = workers_[number];
  if (uses_credit(frame.bytes())) {
    worker.status.sent += frame.size();
    worker.ends.push_back(worker.status.sent);
  }
  put(worker.peer, frame);
}

// ---- time -------------------------------------------------------------------

void HostState::tick(int64_t now, bool all_read) {
  if (all_read && now - looked_ >= kLookEvery) find_silent(now);
  if (now < next_beat_) return;
  next_beat_ = now + options_.timing.beat;
  MessageWriter message(Verb::kBeat);
  if (options_.clock) message.field("time", options_.clock());
  const Frame beat(message.finish());
  for (const auto& [id, peer] : peers_) put(id, beat);
}

void HostState::find_silent(int64_t now) {
  const int64_t excused =
      options_.timing.excused(now - std::exchange(looked_, now));
  std::vector<std::string> silent;
  for (auto& [id, peer] : peers_) {
    peer.heard = std::min(peer.heard + excused, now);
    const int64_t silence = now - peer.heard;
    if (silence >= options_.timing.lost) {
      silent.push_back(id);
    } else if (silence >= options_.timing.suspect && peer.worker != kNoWorker) {
      WorkerState& state = workers_[peer.worker].status.state;
      if (state == WorkerState::kSuspect) continue;
      state = WorkerState::kSuspect;
      emit(HostEvent::Kind::kSuspect, peer.worker);
    }
  }
  for (const std::string& id : silent) {
    lose(id,
         "nothing was heard of it for " + seconds_text(options_.timing.lost),
         true);
  }
}

}  // namespace gt::net
