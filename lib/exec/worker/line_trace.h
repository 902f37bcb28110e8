// What a worker's lines tell its trace.
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

  // Of a line of so many bytes and operations that runs on that queue.
  const TraceText* text_of(LineEntry& entry, const Where& origin, double bytes,
                           double flops, const char* queue = "compute");
  // Of an exchange: what it shows and makes, by whatever it takes.
  void add_text(LineEntry& entry, comm::ExchangeRun& run);
  // `job`, or nothing if it is null, with a row: print, save, another name for
  // a value.
  std::unique_ptr<Job> traced(std::unique_ptr<Job> job, LineEntry& entry,
                              const Where& origin, double bytes);
  // The line's notes have changed, which name its signal.
  void forget(LineEntry& entry);

 private:
  Trace* trace_;
  ComputeQueue& compute_;
};

}  // namespace gt::exec
