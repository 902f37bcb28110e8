// WorkerPool: the workers of a run. It starts them or waits for them, sends
// them what they have room for, takes what they say, and notices when one is
// lost. (What they say arrives as a net::OwnedMessage: a whole message, with
// its bytes.)
//
// A worker is lost if
//   - its connection ends or breaks the protocol, or it is silent for
//     RouterOptions::silence (net::HostState tells);
//   - its process ends, if gt-route started it (LocalWorkers tells);
//   - it sends something invalid: result lines that it was not asked for or
//     that are malformed (ResultSources), a seq that it was not sent
//     (Deliveries), a malformed `ran` (RunRecorder);
//   - it leaves before it was told the end and did everything; or it did
//     everything it was sent, and for 10 s neither sends the results that it
//     owes nor says bye.
//
// If the run is to go on (OnLoss::kGoOn), go_on_without() then makes
//   - ResultSources and ResultOrder give failures for what the worker owes, now
//     and later;
//   - Deliveries drop the messages that wait for it;
//   - Dispatcher, with ValueLocations and Loads, place nothing on it any
//     longer;
//   - net::Host tell the other workers, at which everything that waits for the
//     lost one fails, and ignore it from then on; LocalWorkers kill its
//     process.
//
// If the run is to end, or not all workers were there yet, or none is left,
// lose() makes
//   - ResultOrder give failures for everything that is owed;
//   - Deliveries drop all messages that wait;
//   - net::Host tell all workers to leave at once, and LocalWorkers kill
//     theirs;
//   - the loop stop reading, by is_lost().
//
// Either way the loss is reported to people and in the log, and the status is 4
// at least. It is 2 if a worker that gt-route started says with status 2 that
// it cannot begin: then an option or this host is wrong. A worker that attached
// and was lost while others are still waited for does not end the run, unless
// gt-route started it: another may come in its place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/host.h"
#include "net/poller.h"
#include "net/used.h"
#include "route/client.h"
#include "route/deliveries.h"
#include "route/dispatcher.h"
#include "route/local_workers.h"
#include "route/router.h"
#include "route/run_recorder.h"

namespace gt::route {

class WorkerPool {
 public:
  // All of these outlive it.
  WorkerPool(const RouterOptions& options, RunRecorder& log,
             Dispatcher& dispatcher, ResultSources& sources, Client& client);

  // Listens, and starts the workers if there is no RouterOptions::bind. To be
  // called first. Error: the system or the endpoint does not allow it.
  Status begin();
  // Returns how many milliseconds the loop may wait until step() has something
  // to do.
  int64_t wait_ms() const;
  // Adds the descriptors on which step() waits.
  void add_to(net::Poller& poller) const;
  // Receives what workers said, and does what is due by the clock. Does not
  // wait, except for 0.2 s when a connection ended: only then is it known how a
  // started worker died.
  void step();
  // Takes batches that left the dispatcher, and sends what waits for workers as
  // far as they have room. `ends` means that no more lines come; each worker is
  // told so behind its last message.
  void send(std::vector<Outbox::Batch> batches, bool ends);

  net::Host& host() { return *host_; }
  // True if all workers were there at one time; from then on they are numbered.
  bool is_complete() const { return host_->state().is_complete(); }
  // True if more than 2 MiB of text wait for the worker, in the outbox or here.
  bool is_full(uint32_t worker) const;
  // True if the run ends because a worker was lost.
  bool is_lost() const { return is_lost_; }
  // True if each worker has said bye, or was lost and the run went on.
  bool all_left() const;
  // Says whether somebody watches the run: if so, workers report what they use.
  // To be called again and again, for workers that come later.
  void watch(bool is_on);
  // The state of a worker, for those who watch the run.
  struct View {
    const net::WorkerStatus& status;
    std::optional<Deliveries::LineAt> at;
    uint64_t behind = 0;   // see Deliveries::behind()
    uint64_t queued = 0;   // bytes of text that the worker has not finished
    uint64_t results = 0;  // bytes of result lines that came from it
    bool owes = false;     // it owes results
    bool has_left = false;
  };
  View view(uint32_t worker) const;
  // Returns what the worker has used, as it last reported.
  const net::Used& used(uint32_t worker) const { return workers_[worker].used; }
  // Returns the number of workers that are here.
  size_t here() const;

  // Tells all workers to leave at once, and why. Kills those that gt-route
  // started, unless they have traces to write.
  void abort(const std::string& why);
  // Ends the run: waits up to 2 s for messages to leave, and as long for the
  // workers that gt-route started to end, before it kills these.
  void end();

 private:
  struct Worker {
    bool left = false;     // it said bye, or it is lost
    bool is_lost = false;  // it is lost, and the run goes on
    // How long it has owed results or a bye although it has done all that it
    // was sent.
    int64_t idle_ms = 0;
    uint64_t results = 0;  // bytes of result lines that came
    net::Used used;        // what it reported last
    uint64_t watched = 0;  // the epoch in which it was told that it is watched
  };

  void take_events();
  void say_progress(const net::HostEvent& event) const;
  void say_who_is_here();
  std::string describe(uint32_t worker) const;
  void take_message(uint32_t worker, const net::Message& message);
  Status take_done(uint32_t worker, const net::Message& message);
  Status take_used(uint32_t worker, std::string_view body);
  void take_report(uint32_t worker, const net::Message& message);
  void take_bye(uint32_t worker, const net::Message& message);
  const net::WorkerStatus& status(uint32_t worker) const {
    return host_->state().worker(worker);
  }
  void check_idle();
  void check_patience();
  void take_ends();
  bool cannot_begin(uint32_t worker, int status) const;
  void lose_worker(uint32_t worker, const std::string& why);
  void lose(const std::string& why, Exit status = Exit::kLost);
  // `what` is the message for whoever runs gt-route, `why` the one for those
  // who are owed results.
  void go_on_without(uint32_t worker, const std::string& what,
                     const std::string& why);

  const RouterOptions& options_;
  RunRecorder& log_;
  Dispatcher& dispatcher_;
  ResultSources& sources_;
  Client& client_;
  net::Context context_;
  std::unique_ptr<net::Host> host_;
  LocalWorkers local_;
  Deliveries deliveries_;
  std::vector<Worker> workers_;
  // Times are those of net::now_ms().
  int64_t deadline_ = 0;   // when all workers must be there
  size_t told_here_ = 0;   // how many are here, as people were last told
  int64_t next_told_ = 0;  // when people may be told again
  int64_t idle_checked_ = net::now_ms();
  bool is_lost_ = false;
  bool is_watched_ = false;
};

}  // namespace gt::route
