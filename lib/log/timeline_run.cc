// The log of a run as a timeline.
#include "log/timeline.h"

namespace gt {

void Timeline::take(const LogRow& row) {
  const RunLog::Event event = log_.take(row);
  if (event == RunLog::Event::kSpan) take_span(log_.span());
  if (event == RunLog::Event::kTransfer) take_transfer(log_.transfer());
}

// kNobody if there are too many, or if it is not what is to be seen.
uint32_t Timeline::add_event(uint64_t worker, std::string_view queue,
                             uint64_t start, uint64_t end) {
  if (is_outside(start, end)) return kNobody;
  if (events_.size() >= kMaxEvents) {
    ++left_out_;
    return kNobody;
  }
  ++rows_;
  Event event{};
  event.start = start;
  event.end = end;
  event.lane = lane_of({std::to_string(worker), 0, 1}, queue);
  event.signal = intern("");
  event.at = intern("-");
  events_.push_back(event);
  return static_cast<uint32_t>(events_.size() - 1);
}

// A batch of one instruction goes by its op.
void Timeline::take_span(const RunLog::Span& span) {
  const uint32_t id = add_event(span.worker, span.queue, span.start, span.end);
  if (id == kNobody) return;
  Event& event = events_[id];
  const bool parsed = !span.text.empty() && parse_line(span.text, line_).ok();
  const bool single = span.first == span.last;
  event.op = intern(single && parsed ? line_.op : "batch");
  if (parsed) {
    if (const auto* signal = line_.note("signal")) {
      event.signal = intern(unquote(*signal));
    }
    if (const auto* at = line_.note("at")) event.at = intern(*at);
  }
  std::string text = std::to_string(span.last) + ": " + std::string(span.text);
  if (!single) text = std::to_string(span.first) + " to " + text;
  event.text = intern(text);
  if (span.queue == "compute") latest_[span.worker] = id;
}

// It stands with who reads; the arrow comes from what the other ran last.
void Timeline::take_transfer(const RunLog::Transfer& transfer) {
  const uint32_t id =
      add_event(transfer.to, "comm", transfer.start, transfer.end);
  if (id == kNobody) return;
  Event& event = events_[id];
  event.op = intern("transfer");
  event.bytes = transfer.bytes;
  event.text =
      intern("from worker " + std::to_string(transfer.from) + " for " +
             std::to_string(transfer.seq) + ": " + std::string(transfer.text));
  const auto maker = latest_.find(transfer.from);
  if (maker == latest_.end() || flows_.size() >= kMaxFlows) return;
  if (events_[maker->second].start <= transfer.start) {
    flows_.push_back({maker->second, id});
  }
}

}  // namespace gt
