// What a worker tells its trace; nothing here runs without one.
#include "exec/jobs.h"
#include "exec/worker.h"

namespace gt {

// Kept with the line. The queue holds on to an old one until it has run.
const TraceText* Worker::trace_text(LineEntry& entry, const Where& origin,
                                    double bytes, double flops) {
  if (entry.traced == nullptr || entry.traced->file != origin.file) {
    text_ = entry.text;
    if (!entry.notes.empty()) text_ += " " + entry.notes;
    if (!parse_line(text_, line_).ok()) line_ = Line{};
    auto text = Trace::text_of(line_, entry.text, origin.file, bytes, flops);
    std::swap(text, entry.traced);
    if (text != nullptr) enqueue_job(dispose_job(std::move(text)), 0);
  }
  return entry.traced.get();
}

// A row for what is no task: print, save, another name for a value.
std::unique_ptr<Job> Worker::traced(std::unique_ptr<Job> job, LineEntry& entry,
                                    const Where& origin, double bytes) {
  return traced_job(std::move(job), trace_text(entry, origin, bytes, 0),
                    origin.line);
}

}  // namespace gt
