#include "log/run_log.h"

#include "base/text.h"
#include "stream/ranks.h"

#include <algorithm>

namespace gt::log {
RunLog::Event RunLog::take(const LogRow& row) {
  uint64_t seq = 0;
  uint64_t worker = 0;
  const auto time = parse_log_time(row.time);
  if (!time || !read_number(row.seq, seq)) return Event::kOther;
  if (!has_start_) start_ = *time;
  has_start_ = true;
  if (row.event == "issue") {
    issues_.push_back({seq, std::string(row.peer),
                       std::string(row.text.substr(0, kMaxText)), 0});
    if (issues_.size() > kMaxIssues) issues_.pop_front();
    return Event::kIssue;
  }
  if (row.event == "report") return Event::kReport;
  if (!read_number(row.peer, worker)) return Event::kOther;
  is_run_ = true;
  words_.parse(row.text);
  if (row.event == "send") {
    auto& sends = workers_[worker].sends;
    sends.emplace_back(seq, since_start(*time));
    if (sends.size() > kMaxSends) sends.pop_front();
    return Event::kSend;
  }
  if (row.event == "done" && take_span(worker, seq, since_start(*time))) {
    return Event::kSpan;
  }
  if (row.event == "transfer" &&
      take_transfer(worker, seq, since_start(*time), row.bytes)) {
    return Event::kTransfer;
  }
  return Event::kOther;
}

// Returns the first issue with this number or a later one.
std::deque<RunLog::Issue>::const_iterator RunLog::issue_at(uint64_t seq) const {
  return std::ranges::lower_bound(issues_, seq, {}, &Issue::seq);
}

std::string_view RunLog::text_of(uint64_t seq) const {
  const auto at = issue_at(seq);
  return at == issues_.end() || at->seq != seq ? std::string_view{} : at->text;
}

std::vector<const RunLog::Issue*> RunLog::issues_of(const Span& span) const {
  std::vector<const Issue*> out;
  auto at = issue_at(span.first);
  const bool is_kept =
      at != issues_.begin() || (at != issues_.end() && at->seq == span.first);
  if (!is_kept) return out;
  const auto worker = static_cast<int64_t>(span.worker);
  for (; at != issues_.end() && at->seq <= span.last; ++at) {
    const auto peers = parse_ranks(at->peers);
    if (!peers.ok()) continue;
    if (std::ranges::find(peers.value(), worker) != peers.value().end()) {
      out.push_back(&*at);
    }
  }
  return out;
}

// Returns false if the queue finished nothing since the row before.
bool RunLog::take_span(uint64_t worker, uint64_t seq, uint64_t time) {
  Worker& of = workers_[worker];
  const std::string_view word = words_.find("queue");
  queue_ = word.empty() ? "compute" : word;
  Queue& queue = of.queues[queue_];
  const auto begin = words_.time("begin");
  const auto end = words_.time("end");
  // Each group of a collective has a span of the same instruction.
  if (seq < queue.last || (seq == queue.last && !begin)) return false;
  span_.worker = worker;
  span_.queue = queue_;
  span_.first = words_.number("first").value_or(queue.last + 1);
  span_.last = seq;
  span_.text = text_of(seq);
  // The time when the first of these instructions was sent.
  const auto sent =
      std::find_if(of.sends.begin(), of.sends.end(),
                   [&](const auto& send) { return send.first > queue.last; });
  const uint64_t could = sent == of.sends.end() ? 0 : sent->second;
  span_.end = end ? since_start(*end) : time;
  span_.start = std::min(
      begin ? since_start(*begin) : std::max(queue.end, could), span_.end);
  queue = {seq, span_.end};
  if (queue_ == "compute") {
    while (!of.sends.empty() && of.sends.front().first <= seq) {
      of.sends.pop_front();
    }
  }
  return true;
}

bool RunLog::take_transfer(uint64_t worker, uint64_t seq, uint64_t time,
                           std::string_view bytes) {
  const auto from = words_.number("from");
  if (!from || !read_number(bytes, transfer_.bytes)) return false;
  const auto begin = words_.time("begin");
  const auto end = words_.time("end");
  transfer_.from = *from;
  transfer_.to = worker;
  transfer_.seq = seq;
  transfer_.end = end ? since_start(*end) : time;
  transfer_.start =
      begin ? std::min(since_start(*begin), transfer_.end) : transfer_.end;
  transfer_.text = text_of(seq);
  return true;
}

}  // namespace gt::log
