#include "exec/worker/line_trace.h"

#include <utility>

namespace gt::exec {

const TraceText* LineTrace::text_of(LineEntry& entry, const Where& origin,
                                    double bytes, double flops,
                                    const char* queue) {
  if (entry.traced == nullptr || entry.traced->file != origin.file ||
      entry.traced->queue != queue) {
    forget(entry);
    std::string text = entry.text;
    if (!entry.notes.empty()) text += " " + entry.notes;
    Line line;
    if (!parse_line(text, line).ok()) line = Line{};
    entry.traced =
        Trace::text_of(line, entry.text, origin.file, bytes, flops, queue);
  }
  return entry.traced.get();
}

const TraceText* LineTrace::text_of_task(LineEntry& entry,
                                         const Where& origin) {
  const bool is_timed = compute_.executor().backend().device().keeps_time();
  return text_of(entry, origin, entry.recipe->line_bytes,
                 entry.recipe->line_flops, is_timed ? "gpu" : "compute");
}

void LineTrace::forget(LineEntry& entry) {
  using Text = std::shared_ptr<const TraceText>;
  if (entry.traced == nullptr) return;
  compute_.dispose(
      std::make_unique<Text>(std::exchange(entry.traced, nullptr)));
}

void LineTrace::add_text(LineEntry& entry, comm::ExchangeRun& run) {
  if (trace_ == nullptr || entry.text.empty()) return;
  double bytes = 0;
  double flops = 0;
  for (const comm::Export& shown : run.exchange->parts.front().exports) {
    bytes += static_cast<double>(shown.type.bytes());
  }
  for (const comm::Part& part : run.exchange->parts) {
    for (const comm::Target& target : part.targets) {
      bytes += static_cast<double>(target.output.bytes());
      if (target.program != nullptr) flops += target.program->flops;
    }
  }
  (void)text_of(entry, run.where, bytes, flops, "comm");
  run.traced = entry.traced;
}

void LineTrace::add_row(LineEntry& entry, Saves::Order& order) {
  (void)text_of(entry, order.line.where,
                static_cast<double>(order.type.bytes()), 0, "save");
  order.trace = trace_;
  order.row = entry.traced;
}

std::unique_ptr<Job> LineTrace::traced(std::unique_ptr<Job> job,
                                       LineEntry& entry, const Where& origin,
                                       double bytes) {
  return traced_job(std::move(job), text_of(entry, origin, bytes, 0),
                    origin.line);
}

}  // namespace gt::exec
