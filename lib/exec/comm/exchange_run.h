// One run of an exchange (exchange.h). It goes from thread to thread, and each
// writes its own part of it: the decoding thread makes it; the compute thread
// adds the failures of its operands and starts it; the communication thread
// runs it; compute and decoding then read how it went.
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
  // A value of this worker's that the first step shows.
  struct Shown {
    const Value* value = nullptr;  // null: of a fence, or it has failed
    Fault fault;
    // Not null: the value is a result of an earlier exchange that compute has
    // not waited for; then that one's fault counts.
    std::shared_ptr<const ExchangeRun> from;
    uint32_t from_target = 0;
  };
  // A value that a target makes.
  struct Made {
    Value* output = nullptr;
    std::vector<Value*> blocks;  // of its program
    std::vector<void*> packs;    // by input: where it is put together, or null
    bool is_shared = false;      // the output is the operand: nothing to do
    bool is_added = false;       // the communicator has made it
    Fault fault;

    bool is_wanted() const { return fault == nullptr && !is_shared; }
    // Where an input is put together, if it does not lie anywhere whole; may be
    // null.
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
  std::shared_ptr<const TraceText> traced;  // with a trace
  std::vector<Shown> shown;                 // by export of the first step
  // The point at which the device will have made the operands, for which the
  // communication thread's device waits; null: they are made.
  std::shared_ptr<DeviceEvent> operands_made;
  std::vector<std::vector<Made>> made;  // by step and target

  // ---- the decoding thread's
  std::vector<Buffer*> held;      // all memory that it uses
  std::vector<Buffer*> operands;  // by export of the first step; null: failed
  // By target of the last step: the new buffer that it fills; null where the
  // result is an operand's buffer, or has failed.
  std::vector<Buffer*> results;
  bool is_adopted = false;  // a job in which compute waits for it is enqueued

  // ---- the communication thread's; others read them once it is done
  uint32_t unreleased = 0;      // the communicator's: what is shown and not yet
                                // read, each export once for each reader
  std::optional<Error> error;   // what went wrong here, to be reported
  Exit status = Exit::kFailed;  // of the error

  std::atomic<bool> is_done{false};  // the results are there

  const Fault& result_fault(size_t target) const {
    return made.back()[target].fault;
  }
  // The name of one of its exports in messages.
  Tag tag(size_t step, uint32_t source) const {
    return {seq, exchange->group, static_cast<uint32_t>(step), source};
  }
  // An export's value: of the line's operand, or made in the step before.
  struct Exported {
    const void* data = nullptr;
    Fault fault;
  };
  Exported exported(size_t step, size_t own) const;
  // Notes what went wrong, if it is the first, for compute to report when it
  // comes to the exchange. Returns the fault of what was to be made.
  Fault fail(const std::string& why, Exit kind = Exit::kFailed);
};

}  // namespace gt::exec::comm
