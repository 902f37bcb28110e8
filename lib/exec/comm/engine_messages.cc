// What other workers say. An error is about a message that cannot be: its
// sender is lost.
#include "exec/comm/engine.h"

#include <algorithm>

namespace gt::comm {
namespace {

using Kind = PeerMessage::Kind;

// Ready exports that nobody here has asked for yet; more is no honest hurry.
constexpr size_t kMostReady = size_t{1} << 20;

std::string text_of(const Tag& tag) {
  return std::to_string(tag.seq) + " " + std::to_string(tag.group) + " " +
         std::to_string(tag.step) + " " + std::to_string(tag.source);
}

Error unknown(const char* verb, const Tag& tag) {
  return Error{std::string("'") + verb + " " + text_of(tag) +
               "' is about nothing that it was shown"};
}

}  // namespace

void Engine::handle(unsigned from, std::string_view bytes) {
  Peer& peer = peers_[from];
  if (peer.lost != nullptr) return;
  peer.sign = Clock::now();
  const auto message = parse_peer_message(bytes);
  const Status taken = message.ok() ? take_message(from, message.value())
                                    : Status(message.error());
  if (taken.ok()) return;
  lose(from, name_of(from) +
                 " sent a message that cannot be: " + taken.error().message);
}

Status Engine::take_message(unsigned from, const PeerMessage& message) {
  if (!peers_[from].is_greeted && message.kind != Kind::kHello) {
    return Error{"it has not said hello"};
  }
  switch (message.kind) {
    case Kind::kHello:
      return take_hello(peers_[from], message);
    case Kind::kReady:
    case Kind::kFail:
      return take_ready(from, message);
    case Kind::kReleased:
      return take_released(from, message.tag);
    case Kind::kGet:
      return take_get(from, message);
    case Kind::kData:
      return take_data(from, message);
    case Kind::kAsk: {
      PeerMessage here;
      here.kind = Kind::kHere;
      send(from, here);
      return ok_status();
    }
    case Kind::kHere:
      return ok_status();
  }
  return ok_status();
}

// Where its memory cannot be mapped, values are fetched.
Status Engine::take_hello(Peer& peer, const PeerMessage& message) {
  if (peer.is_greeted) return Error{"a second hello"};
  peer.is_greeted = true;
  if (message.size == 0 || !options_.has_data) return ok_status();
  auto mapped =
      MappedArena::map(message.pid, message.fd, message.size, message.token);
  if (mapped.ok()) peer.memory = std::move(mapped.value());
  return ok_status();
}

Status Engine::take_ready(unsigned from, const PeerMessage& message) {
  Peer& peer = peers_[from];
  const bool is_past =
      has_passed_ && std::pair(message.tag.seq, message.tag.group) <= passed_;
  if (is_past) {  // a line that was rejected here
    release(from, message.tag);
    return ok_status();
  }
  if (peer.ready.size() >= kMostReady) return Error{"too many are ready"};
  Ready ready{nullptr, message.type, message.at};
  if (message.kind == Kind::kFail) {
    ready.fault = std::make_shared<const std::string>(message.body);
  }
  if (!peer.ready.emplace(message.tag, std::move(ready)).second) {
    return Error{"'ready " + text_of(message.tag) + "' twice"};
  }
  return ok_status();
}

Status Engine::take_released(unsigned from, const Tag& tag) {
  const auto it = shown_.find(tag);
  if (it == shown_.end() || std::erase(it->second.readers, from) == 0) {
    return unknown("released", tag);
  }
  const OpPtr op = it->second.op;
  if (it->second.readers.empty()) shown_.erase(it);
  --peers_[from].unread;
  if (--op->unreleased == 0 && op->is_done.load()) hand_back(op);
  return ok_status();
}

Status Engine::take_get(unsigned from, const PeerMessage& message) {
  const auto it = shown_.find(message.tag);
  if (it == shown_.end() || it->second.fault != nullptr ||
      std::find(it->second.readers.begin(), it->second.readers.end(), from) ==
          it->second.readers.end()) {
    return unknown("get", message.tag);
  }
  const Shown& shown = it->second;
  const Error outside{"'get " + text_of(message.tag) +
                      "' asks for what is not within it"};
  if (!Runs::fits(shown.type, message.start, message.count)) return outside;
  const Runs region(shown.type, message.start, message.count);
  if (message.bytes > kMaxData || message.first > region.bytes() ||
      message.bytes > region.bytes() - message.first) {
    return outside;
  }
  std::string bytes(message.bytes, '\0');
  if (shown.data != nullptr) {
    region.pack(shown.data, message.first, message.bytes, bytes.data());
  }
  PeerMessage data;
  data.kind = Kind::kData;
  data.id = message.id;
  data.body = bytes;
  send(from, data);
  return ok_status();
}

Status Engine::take_data(unsigned from, const PeerMessage& message) {
  const auto it = chunks_.find(message.id);
  if (it == chunks_.end() || it->second.worker != from) {
    return Error{"data that nobody asked for"};
  }
  const Chunk chunk = it->second;
  if (message.body.size() != chunk.bytes) {
    return Error{std::to_string(message.body.size()) + " bytes, asked for " +
                 std::to_string(chunk.bytes)};
  }
  message.body.copy(chunk.to, chunk.bytes);
  chunks_.erase(it);
  return ok_status();
}

void Engine::send(unsigned worker, const PeerMessage& message) {
  if (peers_[worker].lost != nullptr) return;
  const Status sent = options_.link->send(worker, to_text(message));
  if (sent.ok()) return;
  lose(worker,
       "cannot send to " + name_of(worker) + ": " + sent.error().message);
}

void Engine::release(unsigned worker, const Tag& tag) {
  PeerMessage released;
  released.kind = Kind::kReleased;
  released.tag = tag;
  send(worker, released);
}

}  // namespace gt::comm
