// Writes the lines of a worker to its trace (trace/trace.h), if there is one.
#pragma once

#include <memory>
#include <string>

#include "exec/comm/exchange_run.h"
#include "exec/decode/line_entry.h"
#include "exec/queue/compute_queue.h"

namespace gt::exec {

// The text of a line's rows is kept with the line. The queue holds on to an old
// one until it has run.
class LineTrace {
 public:
  // `trace` is null unless what runs is to be recorded.
  LineTrace(Trace* trace, ComputeQueue& compute)
      : trace_(trace), compute_(compute) {}
  bool is_on() const { return trace_ != nullptr; }

  // The text for a line of so many bytes and operations that runs on that
  // queue.
  const TraceText* text_of(LineEntry& entry, const Where& origin, double bytes,
                           double flops, const char* queue = "compute");
  // The text for a line that is a task: its row is of the GPU where that says
  // when it ran.
  const TraceText* text_of_task(LineEntry& entry, const Where& origin);
  // Gives an exchange its text, which counts the bytes that it shows and makes.
  void add_text(LineEntry& entry, comm::ExchangeRun& run);
  // Gives a save what its row is made of.
  void add_row(LineEntry& entry, Saves::Order& order);
  // A job that runs `job` and gives the line a row: a print or, where `job` is
  // null, another name for a value.
  std::unique_ptr<Job> traced(std::unique_ptr<Job> job, LineEntry& entry,
                              const Where& origin, double bytes);
  // The line's notes have changed, and its rows name a signal that stands
  // there.
  void forget(LineEntry& entry);

 private:
  Trace* trace_;
  ComputeQueue& compute_;
};

}  // namespace gt::exec
