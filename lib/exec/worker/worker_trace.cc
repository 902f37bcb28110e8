// What a worker tells its trace; nothing here runs without one.
#include "exec/queue/jobs.h"
#include "exec/worker/worker.h"

namespace gt {

// Kept with the line. The queue holds on to an old one until it has run.
const TraceText* Worker::trace_text(LineEntry& entry, const Where& origin,
                                    double bytes, double flops,
                                    const char* queue) {
  if (entry.traced == nullptr || entry.traced->file != origin.file ||
      entry.traced->queue != queue) {
    text_ = entry.text;
    if (!entry.notes.empty()) text_ += " " + entry.notes;
    if (!parse_line(text_, line_).ok()) line_ = Line{};
    std::shared_ptr<const TraceText> text =
        Trace::text_of(line_, entry.text, origin.file, bytes, flops, queue);
    std::swap(text, entry.traced);
    if (text != nullptr) dispose_text(std::move(text));
  }
  return entry.traced.get();
}

void Worker::dispose_text(std::shared_ptr<const TraceText> text) {
  enqueue_job(
      dispose_job(std::make_unique<std::shared_ptr<const TraceText>>(text)), 0);
}

// What it shows and makes, by whatever it takes.
void Worker::trace_exchange(LineEntry& entry, comm::ExchangeRun& op) {
  if (trace_ == nullptr || entry.text.empty()) return;
  double bytes = 0;
  double flops = 0;
  for (const comm::Export& shown : op.exchange->parts.front().exports) {
    bytes += static_cast<double>(shown.type.bytes());
  }
  for (const comm::Part& part : op.exchange->parts) {
    for (const comm::Target& target : part.targets) {
      bytes += static_cast<double>(target.output.bytes());
      if (target.program != nullptr) flops += target.program->flops;
    }
  }
  (void)trace_text(entry, op.where, bytes, flops, "comm");
  op.traced = entry.traced;
}

// A row for what is no task: print, save, another name for a value.
std::unique_ptr<Job> Worker::traced(std::unique_ptr<Job> job, LineEntry& entry,
                                    const Where& origin, double bytes) {
  return traced_job(std::move(job), trace_text(entry, origin, bytes, 0),
                    origin.line);
}

}  // namespace gt
