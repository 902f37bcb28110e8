// The workers of a run: starts them or waits for them, sends them what they
// have room for, takes what they say, and notices when one is lost. What then
// becomes of the run, RouterOptions::on_loss says.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/host.h"
#include "net/poller.h"
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

  // Listens, and starts the workers that are ours. Error: it cannot.
  Status begin();
  // Until step() has something to do, at most so many milliseconds; what there
  // is to wait for.
  int64_t wait_ms() const;
  void add_to(net::Poller& poller) const;
  // Receives what is there, and does what time demands.
  void step();
  // Sends bodies that left the dispatcher, as far as workers have room; `ends`:
  // no more lines come.
  void send(std::vector<Outbox::Batch> batches, bool ends);

  net::Host& host() { return *host_; }
  bool is_complete() const { return host_->state().is_complete(); }
  // A worker whom no more can be given now.
  bool is_full(uint32_t worker) const;
  bool is_lost() const { return is_lost_; }
  bool all_left() const;
  // Ends all at once, and says why to them.
  void abort(const std::string& why);
  // Lets them go.
  void end();

 private:
  struct Worker {
    bool left = false;
    bool is_lost = false;  // and the run goes on
    int64_t idle_ms = 0;   // since it has done all and owes a word
  };

  void take_events();
  void say_progress(const net::HostEvent& event) const;
  void say_who_is_here();
  std::string describe(uint32_t worker) const;
  void take_message(uint32_t worker, const net::Message& message);
  Status take_done(uint32_t worker);
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
  void go_on_without(uint32_t worker, const std::string& why);

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
  int64_t deadline_ = 0;  // until all workers are there
  size_t told_here_ = 0;  // workers, until all are there
  int64_t next_told_ = 0;
  int64_t idle_checked_ = net::now_ms();
  bool is_lost_ = false;
};

}  // namespace gt::route
