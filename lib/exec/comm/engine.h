// The communication thread of a worker, which runs exchanges (exchange.h) in
// order, beside compute.
//
// An exchange starts once compute has run all lines before it: a job in the
// compute queue starts it. Then, step by step: it tells the workers that read
// its exports that they are ready; it waits until what it reads is ready, and
// makes its outputs of it; it tells the owners that it has read. Compute waits
// for it before the first line that uses its results, no earlier, so that
// communication overlaps compute. Its memory stays referenced until all others
// have read what they read of it.
//
// Exchanges cannot deadlock. All lines have one total order, by seq and then by
// group. The decoding thread, the compute queue and the communication thread of
// each worker take their items in that order, and an item waits only for items
// before it in the order. There are four such waits: the start of an exchange
// waits for the compute before it; a step waits for exports of the same
// exchange's steps before, and for its first exports for that worker's items
// before; compute waits for an exchange of an earlier line; memory, for
// exchanges of earlier lines. So the first unfinished item of all workers
// together has nothing to wait for. While it waits, the thread answers all that
// other workers ask, so a fetch needs no turn in the order. The decoding thread
// bounds how much is under way: it waits for exchanges of earlier lines before
// it goes on (kMostOps, and Exchanges::kMostHeld bytes). Where workers make
// groups (Communicator::group()), all of them wait for each other: that is an
// item of the same place in the order on each, which waits for no later one.
//
// How values go from worker to worker is the communicator's (communicator.h).
//
// A worker that is lost stops nobody. What was to be made of a
// value that it did not show fails, with status Exit::kLost, and so does what
// depends on that; all else is computed as before. What it was shown counts as
// read, so the memory comes back.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "exec/comm/communicator.h"
#include "exec/comm/transfers.h"

namespace gt::exec::comm {

class Engine final : private Communicator::User {
 public:
  static constexpr size_t kMostOps = 1024;

  // All outlive the engine. Nobody else calls the communicator. `device` is
  // where values live, and does the work of the communication thread; `watch`
  // may be null.
  Engine(Communicator& communicator, Device& device, Watch* watch);
  ~Engine() override;  // ends what still waits
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Waits until the communicator has connected all workers. Error: who did not
  // answer.
  Status connect();

  // Called on the compute thread, once all lines before the run have run.
  void start(std::shared_ptr<ExchangeRun> run);
  // Any thread: sleeps until its results are there.
  static void wait(const ExchangeRun& run) { run.is_done.wait(false); }

  // Called on the decoding thread: takes the runs that are done and read by
  // all, so that what they hold can go.
  std::vector<std::shared_ptr<ExchangeRun>> take_finished();
  void wait_finished();  // sleeps until there is one

 private:
  using RunPtr = std::shared_ptr<ExchangeRun>;

  void loop();
  RunPtr take_started();
  void finish(const RunPtr& run);
  void hand_back(const RunPtr& run);
  void run(const RunPtr& run);
  void make(ExchangeRun& run, size_t step, size_t target);
  const void* read(ExchangeRun& run, size_t step, const Input& input,
                   void* pack, bool is_wanted, Fault& fault);
  void settle(ExchangeRun& run);

  void arrived(const Input& input, bool is_read) override;
  void was_read(const RunPtr& run) override;

  Communicator& communicator_;
  Device& device_;
  std::optional<Transfers> transfers_;  // if somebody watches

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<RunPtr> started_;  // guarded by mutex_, as are the next two
  std::vector<RunPtr> finished_;
  std::optional<Status> connected_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace gt::exec::comm
