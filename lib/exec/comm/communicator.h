// A communicator moves values from worker to worker, in the order that an
// exchange (exchange.h) states. How it does so is up to the implementation:
// with PeerCommunicator (peer_communicator.h) a worker reads values in memory
// that workers of one host share, devices that are linked, as GPUs are by NCCL,
// send to each other (direct_moves.h), and everything else goes in messages.
//
// A communicator moves regions of values for a run of an exchange
// (ExchangeRun). It computes nothing and decides no order: the engine
// (engine.h) calls it, and computes the results from what it brings. So it does
// not take a group and an op, "all_reduce of these ranks", as communication
// libraries do: a sum must have the same bits whichever way its bytes travel,
// so programs that the engine runs add it in the one order that the exchange's
// plan states. Only workers that ask for fast sums (GroupOptions) get sums in
// an order that the link chooses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "exec/comm/exchange_run.h"

namespace gt::exec::comm {

// What a communication thread waits for, such as "line 8123: piece of rank 3
// from worker 1" ("" for nothing), and how long it has waited.
struct Waiting {
  std::string what;
  int64_t ms = 0;
  uint64_t seq = 0;  // of the instruction
};

// All calls come from the communication thread, except those under "any
// thread". A call that waits keeps answering requests of other workers
// meanwhile.
class Communicator {
 public:
  using RunPtr = std::shared_ptr<ExchangeRun>;

  // Is notified, on the communication thread, of what has arrived and what
  // others have read.
  class User {
   public:
    virtual ~User() = default;
    // An input from another worker is ready. `is_read` is true if its bytes are
    // read too.
    virtual void arrived(const Input& input, bool is_read) = 0;
    // Everything that the run has shown so far has been read, or its readers
    // are lost.
    virtual void was_read(const RunPtr& run) = 0;
  };

  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  // Must be the first call. Waits until all other workers have answered. `user`
  // must live as long as calls are made. Error: names a worker that did not
  // answer, and says why.
  virtual Status connect(User& user) = 0;

  // ---- the steps of a run, in their order; runs come in the order of the
  // program

  // Offers this worker's exports of a step to the workers that read them,
  // including exports that have failed. Their memory must stay until
  // User::was_read(). Does not wait.
  virtual void show(const RunPtr& run, size_t step) = 0;
  // May bring inputs of the step from other workers, all at once, each to its
  // pack (ExchangeRun::Made); read() then finds them there. If it was built to,
  // it may also compute the output of a step that is a sum
  // (ExchangeRun::Made::is_added), or set its fault.
  virtual void bring(ExchangeRun& /*run*/, size_t /*step*/) {}
  // Waits until an input from another worker is ready, and returns the address
  // of its region: the place where it lies, or `pack`, memory for the whole
  // region to which it was brought. Null if there is nothing to read: the input
  // has failed or its worker is lost, which `fault` then says, or `is_wanted`
  // is false. `pack` may be null if the worker is_in_place() and the region is
  // one run of bytes.
  virtual const void* read(ExchangeRun& run, size_t step, const Input& input,
                           void* pack, bool is_wanted, Fault& fault) = 0;
  // Says that all inputs of a step have been used, so their owners may reuse
  // the memory.
  virtual void release(const ExchangeRun& run, size_t step) = 0;
  // Says that the run is over on this worker. Exports of this or an earlier run
  // that others show from now on belong to a line that only this worker has
  // rejected, and count as read.
  virtual void pass(const ExchangeRun& run) = 0;
  // Says that sums over each of these sets of workers will come, so that the
  // communicator can prepare. All workers of a group for which has_groups() is
  // true call this with the same sets, in order with their runs.
  virtual void group(const ExchangeRun& /*run*/,
                     const std::vector<Workers>& /*sets*/) {}
  // To be called when there is no run: sleeps until another worker sends a
  // message, which it handles, or until wake() was called.
  virtual void serve() = 0;
  // Must be the last call: nothing more will be shown or read.
  virtual void leave() {}

  // ---- any thread

  // After connect(): true if this worker reads the exports of the other in
  // place, so that no memory is needed for a copy.
  virtual bool is_in_place(unsigned worker) const = 0;
  // After connect(): true if group() must be called on this worker. It is the
  // same on all workers that could be in one group.
  virtual bool has_groups() const { return false; }
  // Ends the current serve(), or the next one if none is under way.
  virtual void wake() = 0;
  // Returns what the communication thread waits for.
  virtual Waiting waiting() const = 0;
  // Ends all waits, now and later; what waited fails with the reason `why`.
  virtual void abort(const std::string& why) = 0;
  // Says that another worker is lost, as somebody else has found out; waits for
  // it end.
  virtual void lose(unsigned worker, const std::string& why) = 0;
};

}  // namespace gt::exec::comm
