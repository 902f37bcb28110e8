// The main loop of gt-route. It owns all objects of a run and, between two
// waits, lets each do what it can without waiting. A round of the loop takes
// what workers said, takes signals, reads and dispatches lines as long as there
// is room, sends what is to leave, and writes results.
//
// Memory is bounded, since no more of the program is read while there is no
// room: before all workers are there, while more than Client::kMostResults
// bytes of results are owed or unread, or while more than 2 MiB of text wait
// for one of the workers (WorkerPool::is_full()).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "net/interrupts.h"
#include "net/poller.h"
#include "route/client.h"
#include "route/client_pipe.h"
#include "route/dispatcher.h"
#include "route/monitor.h"
#include "route/router.h"
#include "route/run_recorder.h"
#include "route/worker_pool.h"

namespace gt::route {

class RouterLoop {
 public:
  // The options outlive it.
  RouterLoop(const RouterOptions& options, Client::Say say);
  // Runs the program, see run_router().
  Exit run();

 private:
  bool is_over() const;
  // True if more of the program may be read, see above.
  bool has_room() const;
  // Returns what the loop waits for before it can read more: a worker, or
  // net::kNoWorker if results are not read. Returns nothing if there is room.
  std::optional<uint32_t> who_is_full() const;
  void note_full();
  void flush_log();
  void wait();
  void send_bodies();
  void write_results();
  // The first SIGINT or SIGTERM ends reading: what was read is still done, and
  // its results are written. SIGTERM sets a limit of 10 s to that. A second
  // signal of either kind ends the run at once, and so does the first one while
  // workers are still waited for. The status is then 130 at least.
  void take_signals();
  void tell_watchers();
  std::string state() const;
  Exit end();

  const RouterOptions& options_;
  // The first member, since it blocks the signals: threads that later members
  // start inherit that.
  net::Interrupts interrupts_;
  RunRecorder log_;
  ResultSources sources_;
  Client client_;
  Dispatcher dispatcher_;
  ClientPipe pipe_;
  WorkerPool pool_;
  Monitor monitor_;
  net::Poller poller_;
  // Times are those of net::now_ms().
  const int64_t began_ = net::now_ms();
  int64_t next_flush_ = 0;  // when the log is to be flushed
  // Since when there is no room; 0: there is room.
  int64_t full_since_ = 0;
  bool is_interrupted_ = false;  // a signal came
  // When SIGTERM's limit ends; 0: there is no limit.
  int64_t drained_by_ = 0;
  uint32_t turns_ = 0;   // rounds of the loop so far
  bool killed_ = false;  // the run ends at once, whatever is not done
};

}  // namespace gt::route
