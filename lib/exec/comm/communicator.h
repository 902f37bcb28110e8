// A communicator brings values from worker to worker, in the order that an
// exchange (exchange.h) states. The way is its own matter: PeerCommunicator
// (peer_communicator.h) lets a worker read in memory that workers of one host
// share, lets devices that are linked, as GPUs by NCCL, send to each other
// (direct_moves.h), and else sends messages.
//
// A communicator moves regions for a run of an exchange (ExchangeRun). It
// computes nothing and decides no order: the engine (engine.h) calls it, and
// makes of what it brings what an exchange makes. So it does not take a group
// and an op, "all_reduce of these ranks", as communication libraries do: a sum
// is to have the same bits however its bytes travel, so it is added in the one
// order that the exchange's plan states, by programs that the engine runs. Only
// who asks for fast sums (GroupOptions) gets sums in an order of the link's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "exec/comm/exchange_run.h"

namespace gt::exec::comm {

// What a communication thread waits for: "line 8123: piece of rank 3 from
// worker 1", or "" for nothing, and for how long.
struct Waiting {
  std::string what;
  int64_t ms = 0;
  uint64_t seq = 0;  // of the instruction
};

// All calls come from the communication thread, but where it says "any thread".
// A call that waits answers, while it does, what other workers ask.
class Communicator {
 public:
  using RunPtr = std::shared_ptr<ExchangeRun>;

  // Is told what has come and gone, on the communication thread.
  class User {
   public:
    virtual ~User() = default;
    // An input of another worker is there; `is_read`: its bytes come too.
    virtual void arrived(const Input& input, bool is_read) = 0;
    // All that the run has shown so far is read, or will never be: its readers
    // are lost.
    virtual void was_read(const RunPtr& run) = 0;
  };

  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  // The first call. Waits until all other workers have answered; `user` must
  // live as long as calls are made. Error: which worker did not, and why.
  virtual Status connect(User& user) = 0;

  // ---- the steps of a run, in their order; runs come in the order of the
  // program

  // Offers this worker's exports of a step to those that read them, failures
  // too. Their memory must stay until User::was_read(). Does not wait.
  virtual void show(const RunPtr& run, size_t step) = 0;
  // May bring, all at once, inputs of the step that other workers have, each to
  // its pack (ExchangeRun::Made); read() then finds them there. If it was made
  // to, it may also make the output of a step that is a sum itself
  // (ExchangeRun::Made::is_added), or its fault.
  virtual void bring(ExchangeRun& /*run*/, size_t /*step*/) {}
  // Waits until an input of another worker is there. Gives the address of its
  // region: where it lies, or `pack`, memory for the whole region to which it
  // was brought. Null when there is nothing to read: it has failed there or is
  // lost, which `fault` then says, or `is_wanted` is false. `pack` may be null
  // if the worker is_in_place() and the region is one run of bytes.
  virtual const void* read(ExchangeRun& run, size_t step, const Input& input,
                           void* pack, bool is_wanted, Fault& fault) = 0;
  // All inputs of a step have been used: their owners may have the memory back.
  virtual void release(const ExchangeRun& run, size_t step) = 0;
  // The run is over here. What others show of it or of an earlier one from now
  // on is for a line that this worker alone has rejected, and counts as read.
  virtual void pass(const ExchangeRun& run) = 0;
  // Sums over one of these sets of workers will come, and may be prepared for.
  // A worker of the group that has_groups() comes here with the same sets, in
  // order with its runs.
  virtual void group(const ExchangeRun& /*run*/,
                     const std::vector<Workers>& /*sets*/) {}
  // No run is to be done: sleeps until another worker asks or says something,
  // which it answers, or until wake() was called.
  virtual void serve() = 0;
  // The last call: nothing more will be shown or read.
  virtual void leave() {}

  // ---- any thread

  // After connect(): whether this worker reads what the other shows where it
  // lies, so that no memory is needed for a copy.
  virtual bool is_in_place(unsigned worker) const = 0;
  // After connect(): whether this worker is to be told of groups. It is so on
  // all workers that they could have in them.
  virtual bool has_groups() const { return false; }
  // Ends a serve(), the next one if none is under way.
  virtual void wake() = 0;
  // What the communication thread waits for.
  virtual Waiting waiting() const = 0;
  // All waits end, now and later, and what waited fails for that reason.
  virtual void abort(const std::string& why) = 0;
  // Another worker is lost, as is known from elsewhere: waits for it end.
  virtual void lose(unsigned worker, const std::string& why) = 0;
};

}  // namespace gt::exec::comm
