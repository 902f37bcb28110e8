#include "exec/comm/exports.h"

#include <algorithm>

#include "base/clock.h"

namespace gt::exec::comm {
namespace {

using Kind = PeerMessage::Kind;

Error unknown(const char* verb, const Tag& tag) {
  return Error{std::string("'") + verb + " " + to_string(tag) +
               "' is about nothing that it was shown"};
}

}  // namespace

void Exports::show(const RunPtr& run, size_t step) {
  const std::vector<Export>& exports = run->exchange->parts[step].exports;
  for (size_t e = 0; e < exports.size(); ++e) {
    const Tag tag = run->tag(step, exports[e].source);
    const ExchangeRun::Exported value = run->exported(step, e);
    Shown shown{run, value.data, exports[e].type, value.fault, {}};
    for (const unsigned worker : exports[e].readers) {
      if (peers_.loss(worker) == nullptr) shown.readers.push_back(worker);
    }
    if (shown.readers.empty()) continue;
    const Shown copy = shown_.insert_or_assign(tag, shown).first->second;
    for (const unsigned worker : copy.readers) {
      ++run->unreleased;
      Reader& reader = readers_[worker];
      if (reader.unread++ == 0) reader.since = PeerGroup::Clock::now();
    }
    for (const unsigned worker : copy.readers) tell(worker, tag, copy);
  }
}

void Exports::tell(unsigned worker, const Tag& tag, const Shown& shown) {
  PeerMessage message;
  message.kind = shown.fault == nullptr ? Kind::kReady : Kind::kFail;
  message.tag = tag;
  message.type = shown.type;
  if (shown.fault != nullptr) {
    message.body = std::string_view(*shown.fault).substr(0, kMaxData);
  } else if (arena_ != nullptr) {
    message.at = arena_->offset_of(shown.data).value_or(kNowhere);
  } else if (const uint64_t time = device_.done_at()) {
    message.at = time + steady_to_wall();
  }
  peers_.send(worker, message);
}

void Exports::note_read(unsigned worker, const RunPtr& run) {
  --readers_[worker].unread;
  if (--run->unreleased == 0) user_->was_read(run);
}

Status Exports::take_released(unsigned from, const Tag& tag) {
  const auto it = shown_.find(tag);
  if (it == shown_.end() || std::erase(it->second.readers, from) == 0) {
    return unknown("released", tag);
  }
  const RunPtr run = it->second.run;
  if (it->second.readers.empty()) shown_.erase(it);
  note_read(from, run);
  return ok_status();
}

void Exports::drop_reader(unsigned worker) {
  for (auto it = shown_.begin(); it != shown_.end();) {
    const size_t dropped = std::erase(it->second.readers, worker);
    const RunPtr run = it->second.run;
    it = it->second.readers.empty() ? shown_.erase(it) : std::next(it);
    if (dropped > 0) note_read(worker, run);
  }
}

bool Exports::is_shown(unsigned worker, const Tag& tag) const {
  const auto it = shown_.find(tag);
  if (it == shown_.end()) return false;
  const std::vector<unsigned>& readers = it->second.readers;
  return std::find(readers.begin(), readers.end(), worker) != readers.end();
}

Status Exports::take_get(unsigned from, const PeerMessage& message) {
  const auto it = shown_.find(message.tag);
  if (it == shown_.end() || it->second.fault != nullptr ||
      std::find(it->second.readers.begin(), it->second.readers.end(), from) ==
          it->second.readers.end()) {
    return unknown("get", message.tag);
  }
  const Shown& shown = it->second;
  const Error outside{"'get " + to_string(message.tag) +
                      "' asks for what is not within it"};
  if (!Runs::fits(shown.type, message.start, message.count)) return outside;
  const Runs region(shown.type, message.start, message.count);
  if (message.bytes > kMaxData || message.first > region.bytes() ||
      message.bytes > region.bytes() - message.first) {
    return outside;
  }
  std::string bytes(message.bytes, '\0');
  PeerMessage data;
  data.kind = Kind::kData;
  data.id = message.id;
  if (shown.data != nullptr && device_.has_data()) {
    const Status s = region.download(shown.data, message.first, message.bytes,
                                     bytes.data(), device_);
    if (!s.ok()) {
      data.kind = Kind::kNoData;
      bytes = s.error().message;
    }
  }
  data.body = bytes;
  peers_.send(from, data);
  return ok_status();
}

void Exports::check_readers() {
  peers_.each([this](unsigned worker) {
    const auto reader = readers_.find(worker);
    if (reader == readers_.end() || reader->second.unread == 0) return;
    peers_.check_sign(worker, reader->second.since);
  });
}

}  // namespace gt::exec::comm
