// The communication queue of a worker: a thread that runs exchanges in order,
// beside compute.
//
// An exchange starts once compute has run all lines before it: a job in the
// compute queue starts it. Then, step by step: it tells the workers that read
// its exports that they are ready; it waits until what it reads is ready, and
// makes its outputs of it; it tells the owners that it has read. Compute waits
// for it before the first line that uses its results, no earlier, so that
// communication overlaps compute. Its memory stays referenced until all others
// have read what they read of it.
//
// No order of events can deadlock. All lines have one total order, by seq and
// then by group. Each worker's decoding, compute and communication queues are
// projections of it: they take their items in that order, and an item waits
// for items before it alone: a start for the compute before it; a step for the
// exports of the same exchange's steps before it and, for its first exports,
// for that worker's items before; compute for an exchange of an earlier line;
// memory for exchanges of earlier lines. So the first unfinished item of all
// workers together has nothing to wait for. While it waits, the thread answers
// all that other workers ask, so a fetch needs no turn in the queue. What no
// queue bounds is bounded by the decoding thread, which waits for exchanges of
// earlier lines before it goes on (kMostOps, and Exchanges::kMostHeld bytes).
//
// A wait has no limit while the other worker gives signs of life, for which it
// is asked; without any sign for `patience` it counts as lost, and all that
// waits for it fails with its name. Nothing that a worker says is believed:
// one that says what cannot be is lost at once.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "exec/comm/exchange_run.h"
#include "exec/comm/link.h"
#include "exec/comm/message.h"
#include "exec/memory/arena.h"

namespace gt::comm {

// What a run read of another worker, and when: from the moment that it was
// there until it was used. Times are nanoseconds of the steady clock.
struct Transferred {
  unsigned from = 0;
  uint64_t bytes = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Is told, on the communication thread, what ran and when. It began when the
// first that it reads of others was there.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual void ran(const ExchangeRun& op, uint64_t begin, uint64_t end,
                   const std::vector<Transferred>& read) = 0;
};

struct EngineOptions {
  unsigned self = 0;
  unsigned workers = 1;
  Link* link = nullptr;
  Arena* arena = nullptr;          // null: what it shows is fetched
  bool has_data = true;            // false: values hold nothing (null)
  std::vector<std::string> names;  // of workers; may be empty
  std::chrono::milliseconds patience{60'000};
  Watch* watch = nullptr;  // outlives the engine
};

// "line 8123: piece of rank 3 from worker 1", and for how long; "" of nothing.
struct Waiting {
  std::string what;
  int64_t ms = 0;
  uint64_t seq = 0;  // of the instruction
};

class Engine {
 public:
  static constexpr size_t kMostOps = 1024;

  explicit Engine(EngineOptions options);
  ~Engine();  // ends what still waits
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Greets all workers and maps the memory of those that share theirs. Error:
  // who did not answer.
  Status connect();
  // After connect(): what that worker shows is read in place.
  bool is_mapped(unsigned worker) const;
  bool has_data() const { return options_.has_data; }

  // Of the compute thread: all lines before the op have run.
  void start(std::shared_ptr<ExchangeRun> op);
  // Any thread: sleeps until its results are there.
  static void wait(const ExchangeRun& op);

  // Of the decoding thread: ops that are done and read by all, so that what
  // they hold can go.
  std::vector<std::shared_ptr<ExchangeRun>> take_finished();
  void wait_finished();  // sleeps until there is one

  Waiting waiting() const;  // any thread
  // Any thread: all waits end, and what waited fails for that reason.
  void abort(const std::string& why);

 private:
  using Clock = std::chrono::steady_clock;
  using OpPtr = std::shared_ptr<ExchangeRun>;

  struct Ready {
    Fault fault;  // or what follows
    Type type;
    uint64_t at = kNowhere;
  };
  struct Peer {
    bool is_greeted = false;
    std::unique_ptr<MappedArena> memory;
    Fault lost;  // why
    Clock::time_point sign;
    Clock::time_point asked;
    std::map<Tag, Ready> ready;
    uint32_t unread = 0;  // exports that it has not read
    Clock::time_point unread_since;
  };
  struct Shown {  // an export that others have not read
    OpPtr op;
    const void* data = nullptr;
    Type type;
    Fault fault;
    std::vector<unsigned> readers;
  };
  struct Chunk {  // of a fetch
    unsigned worker = 0;
    char* to = nullptr;
    size_t bytes = 0;
  };
  struct Waits {
    uint64_t line = 0;
    uint64_t seq = 0;
    std::string what;
    Clock::time_point since;
  };

  // engine.cc: the thread and its waits.
  void loop();
  void greet();
  OpPtr take();
  void finish(const OpPtr& op);
  void hand_back(const OpPtr& op);
  void sleep();
  // Answers others until done() holds; else why it never will.
  Fault await(unsigned worker, const ExchangeRun* op, const std::string& what,
              const std::function<bool()>& done);
  void pump(std::chrono::milliseconds most);
  void check_sign(unsigned worker, Clock::time_point since);
  void lose(unsigned worker, const std::string& why);
  void drop_readers(unsigned worker);
  void drop_all_readers();
  std::chrono::milliseconds interval() const;
  std::string name_of(unsigned worker) const;
  Fault abort_fault() const;

  // engine_messages.cc: what others say.
  void handle(unsigned from, std::string_view bytes);
  Status take_message(unsigned from, const PeerMessage& message);
  Status take_hello(Peer& peer, const PeerMessage& message);
  Status take_ready(unsigned from, const PeerMessage& message);
  Status take_released(unsigned from, const Tag& tag);
  Status take_get(unsigned from, const PeerMessage& message);
  Status take_data(unsigned from, const PeerMessage& message);
  void send(unsigned worker, const PeerMessage& message);
  void release(unsigned worker, const Tag& tag);

  // engine_run.cc: an exchange.
  void run(const OpPtr& op);
  void show(const OpPtr& op, size_t step);
  void show_to(unsigned worker, const Tag& tag, const Shown& shown);
  void make(ExchangeRun& op, size_t step, size_t target);
  void run_program(ExchangeRun& op, const Target& target,
                   ExchangeRun::Made& made,
                   const std::vector<const void*>& arguments);
  const void* read(ExchangeRun& op, size_t step, const Input& input, void* pack,
                   bool is_wanted, Fault& fault);
  const void* read_own(ExchangeRun& op, size_t step, const Input& input,
                       void* pack, bool is_wanted, Fault& fault) const;
  const void* read_mapped(ExchangeRun& op, const Input& input,
                          const Ready& ready, void* pack, Fault& fault);
  Fault fetch(ExchangeRun& op, const Tag& tag, const Input& input, void* to);
  void say_read(const ExchangeRun& op, size_t step);
  void forget_stale(const ExchangeRun& op);
  void note_arrival(const Input& input, bool is_wanted);
  void note_use(const Target& target);
  void tell(const ExchangeRun& op);
  static Fault fail(ExchangeRun& op, const std::string& why,
                    Exit status = Exit::kFailed);

  EngineOptions options_;

  // Of the communication thread.
  std::vector<Peer> peers_;  // is_mapped(): constant once connected
  std::map<Tag, Shown> shown_;
  std::map<uint64_t, Chunk> chunks_;  // by id
  uint64_t last_id_ = 0;
  std::pair<uint64_t, uint32_t> passed_{0, 0};  // seq and group of the last op
  bool has_passed_ = false;
  // Of the op that runs, if somebody watches.
  uint64_t began_ = 0;
  bool has_arrived_ = false;
  std::vector<Transferred> read_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<OpPtr> started_;  // guarded by mutex_, as is the rest
  std::vector<OpPtr> finished_;
  std::optional<Waits> waits_;
  std::optional<Status> connected_;
  std::string aborted_;
  std::atomic<bool> is_aborted_{false};
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace gt::comm
