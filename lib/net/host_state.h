// What gt-route knows of its workers, and what it says to them to know it: who
// said hello, who is attached, alive, has room for more. Knows no socket and no
// clock: time is passed in, in milliseconds, and what is to be sent is handed
// out.
//
// Workers are numbered when all have said hello, and are then attached: some
// want a certain number, which the wire calls a rank; the others get theirs in
// the order of their hellos. A worker is a connection: one that is lost and
// comes back says hello again, gets the number with a new epoch and an empty
// slate, and what its old connection still brings is dropped.
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

namespace gt::net {

inline constexpr uint32_t kNoWorker = UINT32_MAX;

// How often the two ends of a connection give signs of life (beats), and how
// long a silence means what. Milliseconds.
struct Timing {
  int64_t beat = 500;
  int64_t suspect = 1000;     // nothing heard for so long: people are told
  int64_t lost = 1500;        // for so long: the other is lost
  int64_t handshake = 15000;  // a connection without one is closed

  // How much of the time between two looks does not count as a silence of
  // others: all of it when it was so long that this process itself was stopped.
  int64_t excused(int64_t passed) const {
    return passed > 3 * beat / 2 ? passed : 0;
  }
  // The timing in which a silence of so long is a loss; not less than two
  // beats.
  static Timing with_silence(int64_t silence) {
    Timing timing;
    timing.suspect = silence * 2 / 3;
    timing.lost = silence;
    return timing;
  }
};

struct HostOptions {
  uint32_t workers = 1;
  std::string table;    // digest of the op table that workers must have
  std::string token;    // what a hello must bring; "" for any
  std::string session;  // a random word that admits workers to each other
  std::string file;     // the input, for their messages
  bool anyone = false;  // without keys: who reaches the endpoint may attach
  // Microseconds since 1970, by which workers are to tell what ran when; empty:
  // nobody wants to know.
  std::function<uint64_t()> clock;
  size_t window = size_t{4} << 20;  // bytes that a worker may have on its way
  Timing timing;
};

// kSuspect: attached, and silent for Timing::suspect. kLost: silent for longer,
// or its connection ended, or it broke the protocol; the number may be taken by
// one that attaches. kLeft: it said bye.
enum class WorkerState : uint8_t { kAbsent, kAttached, kSuspect, kLost, kLeft };

struct HostEvent {
  enum class Kind : uint8_t {
    kAttached,
    kMessage,  // results, report, done, ran, state
    kSuspect,  // nothing was heard of it for Timing::suspect
    kResumed,  // something was heard after all
    kLost,     // `worker` is kNoWorker if not all workers were here yet
    kLeft,     // `letter` is its bye
    kRefused,  // a hello or a key; of several within a second only the first
  };
  Kind kind = Kind::kMessage;
  uint32_t worker = kNoWorker;
  std::string why;  // of kLost and kRefused: for people, names the worker
  Letter letter;
};

struct WorkerStatus {
  WorkerState state = WorkerState::kAbsent;
  WorkerInfo info;
  uint64_t epoch = 0;  // 1 when it first attaches
  uint64_t done_seq = 0;
  std::string waits_for;  // what its last `done` said that it waits for, or ""
  uint64_t waits_ms = 0;  // for so many milliseconds
  uint64_t waits_at = 0;  // at this instruction; 0: the one after done_seq
  uint64_t sent = 0;      // bytes that took credit, since it attached
  uint64_t taken = 0;     // of them, those for which it has room again
};

class HostState : public ListenerState {
 public:
  // Messages that a worker may have on its way, whatever their size.
  static constexpr size_t kMaxOnWay = 4096;

  HostState(HostOptions options, int64_t now);

  // A peer is a worker's connection.
  void receive(const std::string& peer, Frame frame, int64_t now,
               const std::string& key = {}) override;
  void distrust(const std::string& peer, const std::string& why,
                int64_t now) override;
  // Tells all who are here that they are to leave at once.
  void abort(std::string_view why);
  // The run goes on without that worker, which is lost, has left, or is to
  // leave now and is not listened to any longer; the others are told why.
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
  // "2 of 4 workers are here (w0 on node7, pid 12; ...)".
  std::string who_is_here() const;
  // "rank 1,3", if all that are here said which they are, else "2 more".
  std::string who_is_missing() const;
  const WorkerStatus& worker(uint32_t number) const {
    return workers_[number].status;
  }
  bool knows(const std::string& peer) const override {
    return peers_.contains(peer);
  }

  // Whether an attached worker has room for a message of so many bytes.
  bool can_send(uint32_t worker, size_t bytes) const;
  // To an attached worker; to others it is dropped. Lines, blocks and hot
  // messages take credit, which can_send() shall have granted.
  void send(uint32_t worker, const Frame& frame);

  uint64_t ignored() const { return ignored_; }  // messages before a hello
  uint64_t stale() const { return stale_; }      // of workers that are lost
  uint64_t refused() const { return refused_; }  // hellos

 private:
  // Tells a connection why it is not taken.
  void refuse(const std::string& peer, const std::string& why, int64_t now);
  // A connection that said a hello that was taken.
  struct Peer {
    WorkerInfo info;
    int64_t heard = 0;
    uint64_t order = 0;  // of hellos
    uint32_t worker = kNoWorker;
  };
  struct Worker {
    WorkerStatus status;
    std::string peer;           // its connection, also once it is lost
    std::deque<uint64_t> ends;  // of the messages on the way, in bytes sent
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
  void take(const std::string& peer, Peer& from, Letter letter);
  static Status take_done(Worker& worker, const Message& done);
  void lose(const std::string& peer, const std::string& why, bool tell);
  void listen(Peer& peer, int64_t now);
  void find_silent(int64_t now);
  void put(const std::string& peer, Frame frame);
  void emit(HostEvent::Kind kind, uint32_t worker, std::string why = {},
            Letter letter = {});

  HostOptions options_;
  std::unordered_map<std::string, Peer> peers_;
  std::unordered_map<std::string, uint32_t> fenced_;  // of lost workers
  std::vector<Worker> workers_;
  std::deque<HostEvent> events_;
  std::deque<Outgoing> outgoing_;
  bool is_numbered_ = false;
  uint64_t hellos_ = 0;
  int64_t next_beat_;
  int64_t looked_;
  std::optional<int64_t> refused_at_;  // when people were last told of one
  uint64_t ignored_ = 0;
  uint64_t stale_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace gt::net
