#include "exec/comm/imports.h"

#include <algorithm>
#include <string>

#include "base/clock.h"

namespace gt::exec::comm {
namespace {

using Kind = PeerMessage::Kind;

// The most ready exports of a worker that were not read here yet. A worker that
// shows more is not a correct one.
constexpr size_t kMostReady = size_t{1} << 20;
constexpr size_t kWindow = 8;  // chunks requested at a time

}  // namespace

// ---- what others say --------------------------------------------------------

// Values are fetched if the other's memory cannot be mapped, or the device here
// cannot read it.
Status Imports::take_hello(unsigned from, const PeerMessage& message) {
  if (message.size == 0 || !device_.is_host()) return ok_status();
  auto mapped =
      MappedArena::map(message.pid, message.fd, message.size, message.token);
  if (mapped.ok()) from_[from].memory = std::move(mapped.value());
  return ok_status();
}

Status Imports::take_ready(unsigned from, const PeerMessage& message) {
  if (message.tag < passed_) {  // the line was rejected here
    release(from, message.tag);
    return ok_status();
  }
  std::map<Tag, Ready>& all = from_[from].ready;
  if (all.size() >= kMostReady) return Error{"too many are ready"};
  Ready ready{nullptr, message.type, message.at};
  if (message.kind == Kind::kFail) {
    ready.fault = std::make_shared<const std::string>(message.body);
  }
  if (!all.emplace(message.tag, std::move(ready)).second) {
    return Error{"'ready " + to_string(message.tag) + "' twice"};
  }
  return ok_status();
}

Status Imports::take_data(unsigned from, const PeerMessage& message) {
  const auto it = chunks_.find(message.id);
  if (it == chunks_.end() || it->second.worker != from) {
    return Error{"data that nobody asked for"};
  }
  const Chunk chunk = it->second;
  if (message.kind == Kind::kNoData) {
    chunks_.erase(it);
    *chunk.status = Error{peers_.name_of(from) +
                          " cannot read it: " + std::string(message.body)};
    return ok_status();
  }
  if (message.body.size() != chunk.bytes) {
    return Error{std::to_string(message.body.size()) + " bytes, asked for " +
                 std::to_string(chunk.bytes)};
  }
  chunks_.erase(it);
  Status s = device_.upload(message.body.data(), chunk.to, chunk.bytes);
  if (!s.ok()) *chunk.status = std::move(s);
  return ok_status();
}

// ---- reading ----------------------------------------------------------------

Fault Imports::await(const ExchangeRun& run, size_t step, const Input& input) {
  return peers_.await(input.worker,
                      {run.where.line, run.seq,
                       run.exchange->name_of(step, input.source) + " from " +
                           peers_.name_of(input.worker)},
                      [&] { return find(run, step, input) != nullptr; });
}

const Imports::Ready* Imports::find(const ExchangeRun& run, size_t step,
                                    const Input& input) const {
  const std::map<Tag, Ready>& all = from_[input.worker].ready;
  const auto it = all.find(run.tag(step, input.source));
  return it == all.end() ? nullptr : &it->second;
}

bool Imports::has_failed(const ExchangeRun& run, size_t step,
                         const Input& input) const {
  const Ready* ready = find(run, step, input);
  return ready != nullptr && ready->fault != nullptr;
}

bool Imports::is_sound(const ExchangeRun& run, size_t step,
                       const Input& input) const {
  const Ready* ready = find(run, step, input);
  return ready != nullptr && ready->fault == nullptr && ready->type == input.of;
}

const void* Imports::read(ExchangeRun& run, size_t step, const Input& input,
                          void* pack, bool is_wanted, bool is_brought,
                          Fault& fault) {
  const Tag tag = run.tag(step, input.source);
  if (const Fault lost = await(run, step, input)) {
    fault = run.fail(
        *lost + "; it has the " + run.exchange->name_of(step, input.source),
        Exit::kLost);
    return nullptr;
  }
  const Ready& ready = from_[input.worker].ready.at(tag);
  fault = ready.fault;
  if (fault != nullptr) return nullptr;
  if (!(ready.type == input.of)) {
    fault = run.fail(peers_.name_of(input.worker) + " has " +
                     to_string(ready.type) + " where " + to_string(input.of) +
                     " was expected");
    return nullptr;
  }
  if (is_brought) return pack;
  if (!device_.has_data() && ready.at != kNowhere) {
    device_.begin_at(ready.at - steady_to_wall());
  }
  const bool is_read = is_wanted && device_.has_data();
  user_->arrived(input, is_read);
  if (!is_read) return nullptr;
  if (ready.at != kNowhere && is_mapped(input.worker)) {
    return read_mapped(run, input, ready.at, pack, fault);
  }
  if (input.region.bytes() > 0) fault = fetch(run, tag, input, pack);
  return pack;
}

const void* Imports::read_mapped(ExchangeRun& run, const Input& input,
                                 uint64_t at, void* pack, Fault& fault) {
  const void* whole = from_[input.worker].memory->at(at, input.of.bytes());
  if (whole != nullptr) {
    const auto found = input.region.find(whole, pack, device_);
    if (found.ok()) return found.value();
    fault = run.fail(found.error().message);
    return nullptr;
  }
  peers_.lose(input.worker, peers_.name_of(input.worker) +
                                " sent a message that cannot be: offset " +
                                std::to_string(at) +
                                " is not within its memory");
  fault = run.fail(*peers_.loss(input.worker), Exit::kLost);
  return nullptr;
}

// Fetches an input's bytes in chunks, of which at most kWindow are under way at
// a time.
Fault Imports::fetch(ExchangeRun& run, const Tag& tag, const Input& input,
                     void* to) {
  const size_t bytes = input.region.bytes();
  const PeerGroup::Awaited what{run.where.line, run.seq,
                                run.exchange->name_of(tag.step, input.source) +
                                    " from " + peers_.name_of(input.worker)};
  Fault lost;
  Status uploaded = ok_status();
  for (size_t first = 0; lost == nullptr;) {
    while (first < bytes && chunks_.size() < kWindow) {
      const size_t size = std::min(kMaxData, bytes - first);
      ask(tag, input, first, size, static_cast<char*>(to) + first, uploaded);
      first += size;
    }
    if (chunks_.empty()) break;
    const size_t before = chunks_.size();
    lost = peers_.await(input.worker, what,
                        [&] { return chunks_.size() < before; });
  }
  chunks_.clear();
  if (lost != nullptr) return run.fail(*lost, Exit::kLost);
  return uploaded.ok() ? nullptr : run.fail(uploaded.error().message);
}

void Imports::ask(const Tag& tag, const Input& input, size_t first,
                  size_t bytes, char* to, Status& status) {
  PeerMessage get;
  get.kind = Kind::kGet;
  get.id = ++last_id_;
  get.tag = tag;
  get.first = first;
  get.bytes = bytes;
  get.start = input.start;
  get.count = input.count;
  chunks_[get.id] = {input.worker, to, bytes, &status};
  peers_.send(input.worker, get);
}

// ---- what was read ----------------------------------------------------------

void Imports::release(unsigned worker, const Tag& tag) {
  PeerMessage released;
  released.kind = Kind::kReleased;
  released.tag = tag;
  peers_.send(worker, released);
}

// Each export is released once, even if several of our targets have read it.
void Imports::release(const ExchangeRun& run, size_t step) {
  for (const Target& target : run.exchange->parts[step].targets) {
    for (const Input& input : target.inputs) {
      if (input.own >= 0) continue;
      const Tag tag = run.tag(step, input.source);
      if (from_[input.worker].ready.erase(tag) > 0) release(input.worker, tag);
    }
  }
}

void Imports::pass_before(const Tag& end) {
  passed_ = end;
  for (unsigned w = 0; w < from_.size(); ++w) {
    std::map<Tag, Ready>& ready = from_[w].ready;
    while (!ready.empty() && ready.begin()->first < passed_) {
      const Tag tag = ready.begin()->first;
      ready.erase(ready.begin());
      release(w, tag);
    }
  }
}

}  // namespace gt::exec::comm
