// The functions of Timeline for the log of a run.
#include "log/timeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gt::log {
namespace {

std::string_view ranks_of(const Line& line) {
  for (const Name& name : line.results) {
    if (!name.ranks.empty()) return name.ranks;
  }
  for (const Operand& operand : line.operands) {
    if (!operand.ranks.empty()) return operand.ranks;
  }
  return "-";
}

}  // namespace

void Timeline::take(const LogRow& row) {
  const RunLog::Event event = log_.take(row);
  if (event == RunLog::Event::kIssue) log_.price(messages_.price(row.text));
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

// Names an event after the op of its line.
void Timeline::name_event(Event& event, std::string_view text) {
  if (text.empty() || !parse_line(text, line_).ok()) return;
  event.op = intern(line_.op);
  if (const auto* signal = line_.note("signal")) {
    event.signal = intern(unquote(*signal));
  }
  if (const auto* at = line_.note("at")) event.at = intern(*at);
  take_notes(event, line_);
}

// Keeps what is needed to find what the line reads, and who reads it.
void Timeline::add_log_row(uint32_t event, uint64_t worker,
                           std::string_view text, bool crosses) {
  if (!parse_line(text, line_).ok()) return;
  const std::string name = std::to_string(worker);
  makers_.add_worker(name);
  worker_rows_.push_back({events_[event].start, event, intern(name),
                          intern(ranks_of(line_)), intern(text), crosses});
}

// Adds the instructions of messages.
void Timeline::draw_messages() {
  messages_.share_time([this](const Messages::Ran& ran) {
    const uint32_t id = add_event(ran.worker, "compute", ran.start, ran.end);
    if (id == kNobody) return;
    events_[id].is_estimated = true;
    name_event(events_[id], ran.text);
    events_[id].text = intern(std::to_string(ran.seq) + ": " + ran.text);
    add_log_row(id, ran.worker, ran.text, false);
    computed_[ran.worker].push_back(id);
  });
  left_out_ += messages_.left_out();
  for (auto& [worker, events] : computed_) {
    std::ranges::sort(events, {}, [this](uint32_t id) {
      return std::pair(events_[id].start, id);
    });
  }
}

// Adds a span: an event for one instruction, or one for each of several.
void Timeline::take_span(const RunLog::Span& span) {
  const bool single = span.first == span.last;
  if (span.queue == "comm") {
    messages_.take({span.worker, span.last, span.start, span.end});
  }
  if (!single && !is_outside(span.start, span.end)) {
    std::vector<const RunLog::Issue*> lines;
    if (span.queue == "compute") lines = log_.issues_of(span);
    messages_.take(span, lines);
    if (!lines.empty()) return;
  }
  const uint32_t id = add_event(span.worker, span.queue, span.start, span.end);
  if (id == kNobody) return;
  Event& event = events_[id];
  event.op = intern("batch");
  std::string text = std::to_string(span.last) + ": " + std::string(span.text);
  if (single) {
    name_event(event, span.text);
  } else {
    text = std::to_string(span.first) + " to " + text;
  }
  event.text = intern(text);
  if (single) add_log_row(id, span.worker, span.text, span.queue == "comm");
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
  flows_.push_back({*std::prev(after), id, true});
}

}  // namespace gt::log
