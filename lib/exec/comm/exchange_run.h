// One run of an exchange (exchange.h). It is handed from thread to thread, and
// each writes its own part: the decoding thread makes it; the compute thread
// adds the failures of its operands and starts it; the communication thread
// runs it; compute and decoding then read the outcome.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/exit.h"
#include "exec/comm/exchange.h"
#include "exec/comm/message.h"
#include "exec/memory/pool.h"
#include "exec/trace/trace.h"
#include "exec/trace/where.h"

namespace gt::exec::comm {

struct ExchangeRun : std::enable_shared_from_this<ExchangeRun> {
  // A value of this worker that the first step shows.
  struct Shown {
    // Null for a fence, or if the value has failed.
    const Value* value = nullptr;
    Fault fault;
    // If not null, the value is a result of this earlier exchange, for which
    // compute has not waited yet; the fault of that result then counts.
    std::shared_ptr<const ExchangeRun> from;
    uint32_t from_target = 0;
  };
  // A value that a target makes.
  struct Made {
    Value* output = nullptr;
    std::vector<Value*> blocks;  // memory for the program's blocks
    std::vector<void*> packs;    // by input: memory to assemble it in, or null
    bool is_shared = false;      // the output is an operand, so nothing is made
    bool is_added = false;       // the communicator has computed the output
    Fault fault;

    bool is_wanted() const { return fault == nullptr && !is_shared; }
    // Returns the memory in which an input is assembled if it is not contiguous
    // anywhere; may be null.
    void* pack(const Target& target, size_t input) const {
      if (target.program != nullptr) {
        return packs.empty() ? nullptr : packs[input];
      }
      return output == nullptr ? nullptr : output->data;
    }
  };

  std::shared_ptr<const Exchange> exchange;
  uint64_t seq = 0;
  Where where;
  std::shared_ptr<const TraceText> traced;  // set if there is a trace
  std::vector<Shown> shown;                 // by export of the first step
  // The point at which the device will have computed the operands; the
  // communication thread's device waits for it. Null if they are computed
  // already.
  std::shared_ptr<DeviceEvent> operands_made;
  // When compute came to the exchange, as Device::done_at().
  uint64_t begun = 0;
  std::vector<std::vector<Made>> made;  // by step and target

  // ---- the decoding thread's
  std::vector<Buffer*> held;      // all memory that the run uses
  std::vector<Buffer*> operands;  // by export of the first step; null: failed
  // By target of the last step: the new buffer that the run fills; null if the
  // result is an operand's buffer, or has failed.
  std::vector<Buffer*> results;
  // True if a job is enqueued in which compute waits for the run.
  bool is_adopted = false;

  // ---- the communication thread's; others read them once it is done
  // For the communicator: exports shown but not read yet, each counted once for
  // each reader.
  uint32_t unreleased = 0;
  // The first failure on this worker, to be reported.
  std::optional<Error> error;
  Exit status = Exit::kFailed;  // exit status of the error

  uint64_t ended = 0;  // as Device::done_at()

  std::atomic<bool> is_done{false};  // the results are there

  const Fault& result_fault(size_t target) const {
    return made.back()[target].fault;
  }
  // Returns the tag of an export in messages.
  Tag tag(size_t step, uint32_t source) const {
    return {seq, exchange->group, static_cast<uint32_t>(step), source};
  }
  // The value of one of this worker's exports: an operand of the line, or an
  // output of the step before.
  struct Exported {
    const void* data = nullptr;
    Fault fault;
  };
  Exported exported(size_t step, size_t own) const;
  // Keeps the error if it is the run's first, for compute to report when it
  // comes to the exchange. Returns the fault for the values that would have
  // been made.
  Fault fail(const std::string& why, Exit kind = Exit::kFailed);
};

}  // namespace gt::exec::comm
