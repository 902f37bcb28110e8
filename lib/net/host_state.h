// HostState is what gt-route knows about its workers, and the protocol by which
// it learns that: which workers have said hello, are attached, are alive, have
// room for more lines. It uses no socket and no clock: it is passed the time,
// in milliseconds, and hands out what is to be sent.
//
// Workers are numbered once all have said hello, and are then attached. Some
// ask for a certain number, which the wire calls a rank; the others get theirs
// in the order of their hellos. A worker is a connection: one that is lost and
// comes back says hello again and gets the number with a new epoch and no state
// from before. Messages that its old connection still brings are dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/take_front.h"
#include "net/joiner.h"
#include "net/listener.h"
#include "net/roster.h"
#include "net/timing.h"

namespace gt::net {

inline constexpr uint32_t kNoWorker = UINT32_MAX;

// Options of a session, as gt-route sets them.
struct HostOptions {
  uint32_t workers = 1;
  std::string table;    // digest of the op table, which workers must share
  std::string token;    // the token that a hello must have; "" for any
  std::string session;  // a random word that admits workers to each other
  std::string file;     // name of the input, for the workers' messages
  // Microseconds since 1970, for the times at which workers say what ran; empty
  // if nobody wants to know.
  std::function<uint64_t()> clock;
  size_t window = size_t{4} << 20;  // most bytes under way to a worker
  Timing timing;
};

// kSuspect is attached and silent for Timing::suspect. kLost was silent for
// longer, or its connection ended, or it broke the protocol; a new worker may
// take its number. kLeft has said bye.
enum class WorkerState : uint8_t { kAbsent, kAttached, kSuspect, kLost, kLeft };

// Something that happened to a worker, or a message from it.
struct HostEvent {
  enum class Kind : uint8_t {
    kAttached,
    kMessage,  // results, report, done, ran, state
    kSuspect,  // it was silent for Timing::suspect
    kResumed,  // a suspect has spoken again
    kLost,     // `worker` is kNoWorker before all workers are here
    kLeft,     // `owned` is its bye
    kRefused,  // of a hello or key; only the first within a second
  };
  Kind kind = Kind::kMessage;
  uint32_t worker = kNoWorker;
  std::string why;  // for kLost and kRefused: for people, names the worker
  OwnedMessage owned;
};

// What gt-route knows about a worker.
struct WorkerStatus {
  WorkerState state = WorkerState::kAbsent;
  WorkerInfo info;
  uint64_t epoch = 0;  // 1 when a worker first attaches
  uint64_t done_seq = 0;
  std::string waits_for;  // from its last `done`: what it waits for, or ""
  uint64_t waits_ms = 0;  // how long it has waited, in ms
  uint64_t waits_at = 0;  // at which instruction; 0: the one after done_seq
  uint64_t sent = 0;      // bytes that used credit since it attached
  uint64_t taken = 0;     // bytes of them whose credit was given back
};

class HostState : public ListenerState {
 public:
  // The most messages under way to a worker, whatever their size.
  static constexpr size_t kMaxOnWay = 4096;

  HostState(HostOptions options, int64_t now);

  // The peer of these calls is a worker's connection.
  void receive(const std::string& peer, Frame frame, int64_t now,
               const std::string& key = {}) override;
  void distrust(const std::string& peer, const std::string& why,
                int64_t now) override;
  // Tells all workers that are here to leave at once.
  void abort(std::string_view why);
  // Continues the run without a worker that is lost, has left, or must leave
  // now; nothing it says counts any longer. The others are told `why`.
  void drop(uint32_t worker, std::string_view why);
  void turned_away(const std::string& who, int64_t now) override;
  void link_ended(const std::string& peer) override;
  void undelivered(const std::string& peer) override;
  void tick(int64_t now, bool all_read) override;
  int64_t next_tick() const override { return next_beat_; }

  bool next(HostEvent& event) { return take_front(events_, event); }
  bool next(Outgoing& out) override { return take_front(outgoing_, out); }

  bool is_complete() const { return is_numbered_; }
  size_t here() const { return peers_.size(); }
  // Returns "2 of 4 workers are here (w0 on node7, pid 12; ...)".
  std::string who_is_here() const;
  // Returns "rank 1,3" if all workers that are here asked for a number, else "2
  // more".
  std::string who_is_missing() const;
  const WorkerStatus& worker(uint32_t number) const {
    return workers_[number].status;
  }
  bool knows(const std::string& peer) const override {
    return peers_.contains(peer);
  }

  // True if the worker is attached and has credit for a message of so many
  // bytes.
  bool can_send(uint32_t worker, size_t bytes) const;
  // Sends a frame to a worker; drops it if the worker is not attached. Lines,
  // block and hot messages use credit, so can_send() must have been true.
  void send(uint32_t worker, const Frame& frame);

  // Returns how many messages came before a hello.
  uint64_t ignored() const { return ignored_; }
  uint64_t stale() const { return stale_; }      // messages from lost workers
  uint64_t refused() const { return refused_; }  // hellos refused

 private:
  // Tells a connection why it is refused.
  void refuse(const std::string& peer, const std::string& why, int64_t now);
  // A connection whose hello was accepted.
  struct Peer {
    WorkerInfo info;
    int64_t heard = 0;
    uint64_t order = 0;  // of its hello among all
    uint32_t worker = kNoWorker;
  };
  struct Worker {
    WorkerStatus status;
    std::string peer;           // its connection, kept after it is lost
    std::deque<uint64_t> ends;  // for each message under way: `sent` after it
  };

  bool is_attached(uint32_t worker) const;
  void take_hello(const std::string& peer, const Frame& frame, int64_t now,
                  const std::string& key);
  Status check_place(const WorkerInfo& info) const;
  void tell_refusal(const std::string& why, int64_t now);
  uint32_t lost_place(const WorkerInfo& info) const;
  void number_all();
  void attach(const std::string& peer, uint32_t number);
  void welcome(const std::string& peer, uint32_t number);
  void take(const std::string& peer, Peer& from, OwnedMessage owned);
  static Status take_done(Worker& worker, const Message& done);
  void lose(const std::string& peer, const std::string& why, bool tell);
  void listen(Peer& peer, int64_t now);
  void find_silent(int64_t now);
  void put(const std::string& peer, Frame frame);
  void emit(HostEvent::Kind kind, uint32_t worker, std::string why = {},
            OwnedMessage owned = {});

  HostOptions options_;
  std::unordered_map<std::string, Peer> peers_;
  // Old connections of lost workers.
  std::unordered_map<std::string, uint32_t> fenced_;
  std::vector<Worker> workers_;
  std::deque<HostEvent> events_;
  std::deque<Outgoing> outgoing_;
  bool is_numbered_ = false;
  uint64_t hellos_ = 0;
  int64_t next_beat_;
  int64_t looked_;
  // When people were last told of a refusal.
  std::optional<int64_t> refused_at_;
  uint64_t ignored_ = 0;
  uint64_t stale_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace gt::net
