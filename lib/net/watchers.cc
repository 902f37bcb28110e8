#include "net/watchers.h"

#include <algorithm>
#include <utility>

#include "net/wire.h"

namespace gt::net {
namespace {

std::vector<Frame> frames_of(std::string_view state) {
  std::vector<Frame> frames;
  for (std::string& text : MessageWriter(Verb::kState).finish_all(state)) {
    frames.emplace_back(std::move(text));
  }
  return frames;
}

}  // namespace

void Watchers::put(const std::string& peer, const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) outgoing_.push_back({peer, frame});
}

void Watchers::tell(std::string_view state) {
  if (asked_ == 0) return;
  const std::vector<Frame> frames = frames_of(state);
  for (auto& [peer, watcher] : watchers_) {
    if (std::exchange(watcher.asks, false)) put(peer, frames);
  }
  asked_ = 0;
}

void Watchers::end(std::string_view state, Exit status) {
  std::vector<Frame> frames = frames_of(state);
  MessageWriter bye(Verb::kBye);
  frames.emplace_back(
      bye.field("status", static_cast<uint64_t>(status)).finish());
  for (const auto& [peer, watcher] : watchers_) put(peer, frames);
}

void Watchers::receive(const std::string& peer, Frame frame, int64_t now,
                       const std::string& /*key*/) {
  const auto message = parse_message(frame.bytes());
  if (!message.ok()) {
    return refuse(peer, "what came is no message: " + message.error().message);
  }
  if (message.value().verb != Verb::kWatch) {
    return refuse(peer, "a watcher says no " +
                            std::string(name_of(message.value().verb)));
  }
  const auto version = number(message.value(), "version");
  if (!version.ok()) return refuse(peer, version.error().message);
  if (version.value() != kWireVersion) {
    return refuse(peer,
                  "gt-top speaks version " + std::to_string(version.value()) +
                      " of the wire, gt-route " + std::to_string(kWireVersion) +
                      "; use those of one gt");
  }
  if (!knows(peer) && watchers_.size() >= kMost) {
    return refuse(peer, std::to_string(kMost) + " watch already");
  }
  Watcher& watcher = watchers_[peer];
  watcher.heard = now;
  if (!std::exchange(watcher.asks, true)) ++asked_;
}

void Watchers::refuse(const std::string& peer, std::string_view why) {
  forget(peer);
  outgoing_.push_back(
      {peer, Frame(MessageWriter(Verb::kRefuse).finish(words(why)))});
}

void Watchers::distrust(const std::string& peer, const std::string& why,
                        int64_t /*now*/) {
  refuse(peer, why);
}

void Watchers::turned_away(const std::string& /*who*/, int64_t /*now*/) {}

void Watchers::forget(const std::string& peer) {
  const auto known = watchers_.find(peer);
  if (known == watchers_.end()) return;
  if (known->second.asks) --asked_;
  watchers_.erase(known);
}

void Watchers::tick(int64_t now, bool all_read) {
  if (!all_read) return;
  std::vector<std::string> silent;
  for (const auto& [peer, watcher] : watchers_) {
    if (now - watcher.heard >= kSilence) silent.push_back(peer);
  }
  for (const std::string& peer : silent) {
    refuse(peer, "it was silent for too long");
  }
}

int64_t Watchers::next_tick() const {
  int64_t next = INT64_MAX;
  for (const auto& [peer, watcher] : watchers_) {
    next = std::min(next, watcher.heard + kSilence);
  }
  return next;
}

}  // namespace gt::net
