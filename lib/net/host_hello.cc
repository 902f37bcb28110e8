// The part of HostState that accepts hellos, numbers the workers, and welcomes
// them.
#include <algorithm>
#include <utility>

#include "base/message.h"
#include "net/endpoint.h"
#include "net/host_state.h"

namespace gt::net {
namespace {

// The least time between two kRefused events, in milliseconds.
constexpr int64_t kRefusalsApart = 1000;
constexpr size_t kMaxFile = 512;  // most bytes of the input's name in a welcome

// Checks the version first, since all other fields may mean something else in
// another version.
Status check_hello(const Message& hello, const HostOptions& options) {
  const std::string who =
      excerpt(hello.text("name")) + " on " + excerpt(hello.text("host"));
  const auto version = number(hello, "version");
  if (!version.ok()) return version.error();
  if (version.value() != kWireVersion) {
    return Error{who + " speaks version " + std::to_string(version.value()) +
                 " of the wire, gt-route " + std::to_string(kWireVersion) +
                 "; install the same gt on both"};
  }
  if (!options.token.empty() &&
      !same_token(hello.text("token"), options.token)) {
    return Error{who + " has not the token of this session"};
  }
  const std::string table = hello.text("table");
  if (table == options.table) return ok_status();
  return Error{who + " has op table " + excerpt(table) + ", gt-route " +
               options.table + "; install the same gt on both"};
}

}  // namespace

void HostState::take_hello(const std::string& peer, const Frame& frame,
                           int64_t now, const std::string& key) {
  const auto hello = parse_message(frame.bytes());
  if (!hello.ok() || hello.value().verb != Verb::kHello) {
    ++ignored_;
    return;
  }
  Status status = check_hello(hello.value(), options_);
  if (!status.ok()) return refuse(peer, status.error().message, now);
  const auto info = read_info(hello.value());
  if (!info.ok()) return refuse(peer, info.error().message, now);
  status = check_place(info.value());
  if (!status.ok()) return refuse(peer, status.error().message, now);
  Peer& taken = peers_[peer];
  taken.info = info.value();
  taken.info.key = key;
  taken.heard = now;
  taken.order = hellos_++;
  if (is_numbered_) return attach(peer, lost_place(taken.info));
  if (peers_.size() == options_.workers) number_all();
}

// Error: there is no place for a worker of this name, at the rank it wants.
Status HostState::check_place(const WorkerInfo& info) const {
  const std::string who = excerpt(info.name) + " on " + excerpt(info.host);
  for (const auto& [id, peer] : peers_) {
    if (peer.info.name == info.name) {
      return Error{who + ": a worker of this name is here, pid " +
                   std::to_string(peer.info.pid) + " on " +
                   excerpt(peer.info.host)};
    }
    if (info.rank.has_value() && !is_numbered_ && peer.info.rank == info.rank) {
      return Error{who + ": rank " + std::to_string(*info.rank) +
                   " is taken by " + excerpt(peer.info.name) + " on " +
                   excerpt(peer.info.host)};
    }
  }
  if (info.rank.has_value() && *info.rank >= options_.workers) {
    return Error{who + ": rank " + std::to_string(*info.rank) +
                 " of a session of " + std::to_string(options_.workers) +
                 " workers"};
  }
  if (!is_numbered_ || lost_place(info) != kNoWorker) return ok_status();
  return Error{who + ": all " + std::to_string(options_.workers) +
               " workers were here before it"};
}

// Returns the number of a lost worker that this one may take, or kNoWorker: the
// rank it wants, else that of a worker of its name, else the first.
uint32_t HostState::lost_place(const WorkerInfo& info) const {
  uint32_t place = kNoWorker;
  for (uint32_t i = 0; i < workers_.size(); ++i) {
    const WorkerStatus& status = workers_[i].status;
    if (status.state != WorkerState::kLost) continue;
    if (info.rank.has_value() && *info.rank != i) continue;
    if (status.info.name == info.name) return i;
    if (place == kNoWorker) place = i;
  }
  return place;
}

void HostState::refuse(const std::string& peer, const std::string& why,
                       int64_t now) {
  put(peer, Frame(MessageWriter(Verb::kRefuse).finish(why)));
  tell_refusal(why, now);
}

void HostState::distrust(const std::string& peer, const std::string& why,
                         int64_t now) {
  refuse(peer,
         "a worker is not taken: " + why +
             "; without keys only the workers of one user may attach (--key "
             "and --allow, or --insecure, admit others)",
         now);
}

void HostState::turned_away(const std::string& who, int64_t now) {
  tell_refusal(
      "a worker with key " + who + " is not one of those to be admitted", now);
}

void HostState::tell_refusal(const std::string& why, int64_t now) {
  ++refused_;
  if (refused_at_ && now - *refused_at_ < kRefusalsApart) return;
  refused_at_ = now;
  emit(HostEvent::Kind::kRefused, kNoWorker, why);
}

void HostState::number_all() {
  std::vector<const std::string*> places(workers_.size());
  std::vector<std::pair<uint64_t, const std::string*>> others;
  for (const auto& [id, peer] : peers_) {
    if (peer.info.rank.has_value()) {
      places[*peer.info.rank] = &id;
    } else {
      others.emplace_back(peer.order, &id);
    }
  }
  std::ranges::sort(others);
  size_t next = 0;
  for (const std::string*& place : places) {
    if (place == nullptr) place = others[next++].second;
  }
  is_numbered_ = true;
  // Stores all infos before the first welcome, which lists all workers.
  for (uint32_t i = 0; i < places.size(); ++i) {
    workers_[i].status.info = peers_.at(*places[i]).info;
  }
  for (uint32_t i = 0; i < places.size(); ++i) attach(*places[i], i);
}

void HostState::attach(const std::string& peer, uint32_t number) {
  Peer& from = peers_.at(peer);
  from.worker = number;
  Worker& worker = workers_[number];
  fenced_.erase(worker.peer);
  const uint64_t epoch = worker.status.epoch + 1;
  worker = Worker();
  worker.peer = peer;
  worker.status.state = WorkerState::kAttached;
  worker.status.info = from.info;
  worker.status.epoch = epoch;
  welcome(peer, number);
  emit(HostEvent::Kind::kAttached, number);
}

void HostState::welcome(const std::string& peer, uint32_t number) {
  MessageWriter message(Verb::kWelcome);
  message.field("worker", uint64_t{number});
  message.field("workers", uint64_t{options_.workers});
  message.field("epoch", workers_[number].status.epoch);
  message.field("session", options_.session)
      .field("file", options_.file.substr(0, kMaxFile));
  if (options_.clock) message.field("time", options_.clock());
  // A worker that the others cannot reach needs no list of them.
  const bool has_peers = !workers_[number].status.info.data.empty();
  std::string body;
  for (uint32_t i = 0; has_peers && i < workers_.size(); ++i) {
    append_entry(body, i, workers_[i].status.info);
  }
  for (auto& part : message.finish_all(body)) put(peer, Frame(std::move(part)));
}

}  // namespace gt::net
