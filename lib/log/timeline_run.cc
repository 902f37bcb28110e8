// The functions of Timeline for the log of a run.
#include "log/timeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gt::log {

void Timeline::take(const LogRow& row) {
  const RunLog::Event event = log_.take(row);
  if (event == RunLog::Event::kSpan) take_span(log_.span());
  if (event == RunLog::Event::kTransfer) take_transfer(log_.transfer());
}

// Returns the event's number; kNobody if it is outside the time that is drawn,
// or if there are too many events.
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

// Adds a span. A span of one instruction is named after its op, one of several
// is a batch.
void Timeline::take_span(const RunLog::Span& span) {
  const uint32_t id = add_event(span.worker, span.queue, span.start, span.end);
  if (id == kNobody) return;
  Event& event = events_[id];
  const bool parsed = !span.text.empty() && parse_line(span.text, line_).ok();
  const bool single = span.first == span.last;
  batches_ += single ? 0 : 1;
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
  if (span.queue == "compute") computed_[span.worker].push_back(id);
  if (span.queue == "comm") {
    exchanged_.push_back({span.worker, span.last, id});
  }
}

// Keeps a transfer until all spans are known, since the log may have the row of
// the worker that reads a value before the row of the one that made it.
void Timeline::take_transfer(const RunLog::Transfer& transfer) {
  if (transfers_.size() >= kMaxEvents) {
    ++left_out_;
    return;
  }
  const uint32_t text =
      intern("from worker " + std::to_string(transfer.from) + " for " +
             std::to_string(transfer.seq) + ": " + std::string(transfer.text));
  transfers_.push_back({transfer.from, transfer.to, transfer.start,
                        transfer.end, transfer.seq, transfer.bytes, text});
}

void Timeline::draw_transfers() {
  std::ranges::sort(exchanged_, {}, [](const Exchanged& e) {
    return std::pair(e.worker, e.seq);
  });
  for (const Transfer& transfer : transfers_) draw_transfer(transfer);
}

// Draws a transfer in the lane of the worker that reads: as part of what its
// comm queue ran for that instruction, if there is such an event, or else as an
// event of its own. The arrow comes from what the sender had begun to compute
// last.
void Timeline::draw_transfer(const Transfer& transfer) {
  uint32_t id = kNobody;
  const std::pair wanted(transfer.to, transfer.seq);
  const auto key = [](const Exchanged& e) {
    return std::pair(e.worker, e.seq);
  };
  auto it = std::ranges::lower_bound(exchanged_, wanted, {}, key);
  for (; it != exchanged_.end() && key(*it) == wanted; ++it) {
    const Event& event = events_[it->event];
    if (event.start <= transfer.start && transfer.end <= event.end) {
      id = it->event;
    }
  }
  if (id == kNobody) {
    id = add_event(transfer.to, "comm", transfer.start, transfer.end);
    if (id == kNobody) return;
    events_[id].op = intern("transfer");
    events_[id].text = transfer.text;
  }
  events_[id].bytes += transfer.bytes;
  const std::vector<uint32_t>& makers = computed_[transfer.from];
  const auto after = std::ranges::upper_bound(
      makers, transfer.start, {},
      [this](uint32_t event) { return events_[event].start; });
  if (after == makers.begin() || flows_.size() >= kMaxFlows) return;
  flows_.push_back({*std::prev(after), id});
}

}  // namespace gt::log
