// The engine is the communication thread of a worker. It runs exchanges
// (exchange.h) in order, beside compute.
//
// An exchange starts once compute has run all lines before it: a job in the
// compute queue starts it. Then, in each step, the engine tells the workers
// that read its exports that these are ready, waits until its own inputs are
// ready, makes its outputs from them, and tells the owners that it has read
// them. Compute waits for an exchange only before the first line that uses its
// results, so communication overlaps compute. The exchange's memory stays
// referenced until all other workers have read what they need of it.
//
// Exchanges cannot deadlock. All lines have one total order, by seq and then by
// group. The decoding thread, the compute queue and the communication thread of
// each worker take their items in that order, and an item waits only for items
// before it. There are four such waits. The start of an exchange waits for the
// compute before it. A step waits for the exports of the earlier steps of the
// same exchange on other workers and, for first exports, for those workers'
// earlier items. Compute waits for an exchange of an earlier line. Memory waits
// for exchanges of earlier lines. So the first unfinished item of all workers
// together has nothing to wait for. While the thread waits, it answers all
// requests of other workers, so a fetch needs no turn in the order. The
// decoding thread bounds how much is under way: it waits for exchanges of
// earlier lines before it goes on (kMostOps, and Exchanges::kMostHeld bytes).
// When workers make groups (Communicator::group()), all of them wait for each
// other; that item has the same place in the order on each, and waits for no
// later one.
//
// The communicator (communicator.h) decides how values go from worker to
// worker.
//
// A lost worker stops nobody. A value that needs an export which the lost
// worker did not show fails, with status Exit::kLost, and so does what depends
// on it; everything else is computed as before. What the lost worker was shown
// counts as read, so its memory is freed.
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

  // All arguments must outlive the engine, and nobody else may call the
  // communicator. `device` is where the values live; it does the work of the
  // communication thread. `watch` may be null.
  Engine(Communicator& communicator, Device& device, Watch* watch);
  ~Engine() override;  // aborts what still waits
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Waits until the communicator has connected all workers. Error: names a
  // worker that did not answer.
  Status connect();

  // Starts a run. Called on the compute thread, once all lines before it have
  // run.
  void start(std::shared_ptr<ExchangeRun> run);
  // Sleeps until the run's results are there. Any thread may call it.
  static void wait(const ExchangeRun& run) { run.is_done.wait(false); }

  // Returns the runs that are done and read by all since the last call, so that
  // their memory can be freed. Called on the decoding thread.
  std::vector<std::shared_ptr<ExchangeRun>> take_finished();
  void wait_finished();  // sleeps until there is such a run

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
  std::optional<Transfers> transfers_;  // only if there is a watch

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<RunPtr> started_;  // guarded by mutex_, as are the next two
  std::vector<RunPtr> finished_;
  std::optional<Status> connected_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace gt::exec::comm
