// LineTrace makes the trace rows of a worker's lines (trace/trace.h), if there
// is a trace.
#pragma once

#include <memory>
#include <string>

#include "exec/comm/exchange_run.h"
#include "exec/decode/line_entry.h"
#include "exec/queue/compute_queue.h"

namespace gt::exec {

// The text of a line's rows is kept with its entry. A text that is replaced
// stays alive until the queue has run what uses it.
class LineTrace {
 public:
  // `trace` is null if nothing is to be traced.
  LineTrace(Trace* trace, ComputeQueue& compute)
      : trace_(trace), compute_(compute) {}
  bool is_on() const { return trace_ != nullptr; }

  // Returns the row text for a line that moves `bytes` bytes, does `flops`
  // operations, and runs on the queue named `queue`.
  const TraceText* text_of(LineEntry& entry, const Where& origin, double bytes,
                           double flops, const char* queue = "compute");
  // Returns the row text for a line that is a task. Its queue is "gpu" if the
  // device measures when tasks ran, else "compute".
  const TraceText* text_of_task(LineEntry& entry, const Where& origin);
  // Gives an exchange its row text, whose bytes are those of its exports and
  // outputs.
  void add_text(LineEntry& entry, comm::ExchangeRun& run);
  // Gives a save its trace and row text.
  void add_row(LineEntry& entry, Saves::Order& order);
  // Returns a job that runs `job` and adds a row for the line. A null `job`
  // stands for a line that only gives a value another name.
  std::unique_ptr<Job> traced(std::unique_ptr<Job> job, LineEntry& entry,
                              const Where& origin, double bytes);
  // Drops the entry's row text. Called when the line's notes change, since they
  // may name the signal that the rows show.
  void forget(LineEntry& entry);

 private:
  Trace* trace_;
  ComputeQueue& compute_;
};

}  // namespace gt::exec
