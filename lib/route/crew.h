// The workers of a run: starts them or waits for them, sends them what they
// have room for, takes what they say, and notices when one is lost. (What they
// say arrives as a net::Letter: a whole message, with its bytes.)
//
// A worker is lost if
//   - its connection ends or breaks the protocol, or it is silent for
//     RouterOptions::silence (net::HostState tells);
//   - its process ends, if gt-route started it (LocalWorkers tells);
//   - it says what cannot be: result lines that it was not asked for or that
//     are malformed (ResultSources), a seq that it was not sent (Deliveries), a
//     malformed `ran` (RunRecorder);
//   - it leaves before it was told the end and did all; or it did all it was
//     sent, and for 10 s neither sends the results that it owes nor says bye.
//
// Then, if the run is to go on (OnLoss::kGoOn), go_on_without() lets
//   - ResultSources and ResultOrder give failures for what it owes, now and
//     later;
//   - Deliveries drop what waits for it;
//   - Dispatcher, with Homes and Loads, place nothing on it any longer;
//   - net::Host tell the other workers, who let fail what they wait for from
//     it, and listen to it no more; LocalWorkers kill its process.
//
// If the run is to end, or not all workers were there yet, or none is left,
// lose() lets
//   - ResultOrder give failures for all that is owed;
//   - Deliveries drop what waits;
//   - net::Host tell all workers to leave at once, and LocalWorkers kill
//     theirs;
//   - the loop read no more, by is_lost().
//
// Either way the loss is told to people and to the log, and the status is 4 at
// least. A worker that attached and was lost while others are still waited for
// ends nothing, unless gt-route started it: another may come in its place.
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

class Crew {
 public:
  // All of these outlive it.
  Crew(const RouterOptions& options, RunRecorder& log, Dispatcher& dispatcher,
       ResultSources& sources, Client& client);

  // Listens, and starts workers if there is no RouterOptions::bind. To be
  // called first. Error: the system or the endpoint does not allow it.
  Status begin();
  // How many milliseconds the loop may wait until step() has something to do.
  int64_t wait_ms() const;
  // Adds what step() can do something about.
  void add_to(net::Poller& poller) const;
  // Receives what workers said, and does what the time demands. Waits for
  // nothing, but for 0.2 s when a connection ended: how a started worker died
  // is known only then.
  void step();
  // Takes batches that left the dispatcher, and sends what waits for workers as
  // far as they have room. `ends`: no more lines come, which each worker is
  // told behind its last message.
  void send(std::vector<Outbox::Batch> batches, bool ends);

  net::Host& host() { return *host_; }
  // Whether all workers were there at one time; then they are numbered.
  bool is_complete() const { return host_->state().is_complete(); }
  // Whether over 2 MiB of text wait for the worker, in the outbox or here.
  bool is_full(uint32_t worker) const;
  // Whether the run ends, since a worker was lost.
  bool is_lost() const { return is_lost_; }
  // Whether each worker has said bye, or was lost and the run went on.
  bool all_left() const;
  // Somebody watches the run, or nobody does any longer: workers tell what they
  // use, or no longer. To be called again while it is so, for those that come.
  void watch(bool is_on);
  // How a worker is, for those who watch.
  struct View {
    const net::WorkerStatus& status;
    std::optional<Deliveries::LineAt> at;
    uint64_t behind = 0;   // as Deliveries::behind()
    uint64_t queued = 0;   // bytes of text that it has not finished
    uint64_t results = 0;  // bytes of result lines that came
    bool owes = false;     // results
    bool has_left = false;
  };
  View view(uint32_t worker) const;
  // What it has used, as it last told.
  const net::Used& used(uint32_t worker) const { return workers_[worker].used; }
  // How many workers are here.
  size_t here() const;

  // Tells all workers to leave at once, and why; kills those it started, unless
  // they have traces to write.
  void abort(const std::string& why);
  // The run is over: waits up to 2 s for messages to leave, and for the workers
  // that it started to end, before it kills these.
  void end();

 private:
  struct Worker {
    bool left = false;     // it said bye, or it is lost
    bool is_lost = false;  // and the run goes on
    // For how long it has done all that it was sent, and owes results or a bye.
    int64_t idle_ms = 0;
    uint64_t results = 0;  // bytes of result lines that came
    net::Used used;        // what it told last
    uint64_t watched = 0;  // the epoch in which it was told that it is
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
  void lose_worker(uint32_t worker, const std::string& why);
  void lose(const std::string& why);
  // `what` is said to whoever runs gt-route, `why` to those who are owed.
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
  size_t told_here_ = 0;   // how many are, as people were told last
  int64_t next_told_ = 0;  // when they may be told again
  int64_t idle_checked_ = net::now_ms();
  bool is_lost_ = false;
  bool is_watched_ = false;
};

}  // namespace gt::route
