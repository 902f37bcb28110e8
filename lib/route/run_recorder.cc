#include "route/run_recorder.h"

#include "stream/ranks.h"

namespace gt {
namespace {

// The first line of a message for people.
std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

// "c1" of "c1/x = ...": what stands before the first '/' of the first name.
std::string_view client_of(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && text[end] != ' ' && text[end] != '/') ++end;
  return end < text.size() && text[end] == '/' ? text.substr(0, end) : "-";
}

// "worker 1's" time of what began so many milliseconds ago.
std::string seconds_before(std::string_view now, uint64_t ms) {
  char text[48];
  const double seconds =
      std::stod(std::string(now)) - static_cast<double>(ms) / 1000;
  const int n = std::snprintf(text, sizeof text, "%.6f", seconds);
  return {text, static_cast<size_t>(n)};
}

// The worker that "... from worker 1" waits for, or "".
std::string_view worker_named(std::string_view words) {
  constexpr std::string_view kFrom = "from worker ";
  const size_t at = words.rfind(kFrom);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = words.substr(at + kFrom.size());
  return rest.substr(0, rest.find_first_not_of("0123456789"));
}

}  // namespace

void RunRecorder::issue(const Issue& issue) {
  if (!is_on_) return;
  last_ = issue.seq;
  if (peers_of_ != *issue.workers) {
    peers_of_ = *issue.workers;
    peers_ =
        to_string(std::vector<int64_t>(peers_of_.begin(), peers_of_.end()));
    if (peers_.empty()) peers_ = "-";
  }
  if (issue.kind == Issue::Kind::kInstruction) {
    return rows_.add(now_, issue.seq, "issue", peers_, client_of(issue.text),
                     issue.text.size() + 1, issue.text);
  }
  std::string text(issue.text);
  if (!text.starts_with('#')) text.insert(0, "# ");
  rows_.add(now_, issue.seq, "comment", peers_, "-", issue.text.size() + 1,
            text);
}

void RunRecorder::add(uint64_t seq, std::string_view event, uint32_t worker,
                      uint64_t bytes, const LogComment& comment) {
  const std::string peer = worker == UINT32_MAX ? "-" : std::to_string(worker);
  rows_.add(now_, seq, event, peer, "-", bytes, comment.text());
}

void RunRecorder::attach(uint32_t worker, const WorkerInfo& info,
                         uint64_t epoch) {
  if (!is_on_) return;
  LogComment comment;
  comment.word("name", info.name).word("host", info.host);
  comment.word("pid", info.pid).word("threads", info.threads);
  comment.word("isa", info.isa).word("backend", info.backend);
  add(last_, "attach", worker, 0, comment.word("epoch", epoch));
}

void RunRecorder::send(uint32_t worker, uint64_t first, uint64_t last,
                       size_t bytes) {
  if (!is_on_) return;
  add(last, "send", worker, bytes,
      LogComment().word("first", first).word("as", "text"));
}

void RunRecorder::done(uint32_t worker, uint64_t seq, uint64_t waits_ms,
                       std::string_view waits_for) {
  if (!is_on_) return;
  if (done_.size() <= worker) done_.resize(worker + 1);
  if (done_[worker] != seq) add(seq, "done", worker, 0, LogComment());
  done_[worker] = seq;
  if (waits_for.empty()) return;
  LogComment comment;
  comment.word("since", seconds_before(now_, waits_ms));
  const std::string_view peer = worker_named(waits_for);
  if (!peer.empty()) comment.word("for", peer);
  add(seq + 1, "wait", worker, 0, comment.words(waits_for));
}

void RunRecorder::report(uint32_t worker, uint64_t seq, uint64_t status,
                         std::string_view text) {
  if (!is_on_) return;
  add(seq, "report", worker, 0,
      LogComment().word("status", status).error(first_line(text)));
}

void RunRecorder::lost(uint32_t worker, uint64_t seq, std::string_view why) {
  if (!is_on_) return;
  add(seq, "lost", worker, 0,
      LogComment().word("status", uint64_t{4}).error(first_line(why)));
}

void RunRecorder::bye(uint32_t worker, uint64_t seq, uint64_t status) {
  if (!is_on_) return;
  add(seq, "bye", worker, 0, LogComment().word("status", status));
}

void RunRecorder::end(Exit status) {
  if (!is_on_) return;
  add(last_, "end", UINT32_MAX, 0,
      LogComment().word("status", static_cast<uint64_t>(status)));
  flush();
}

}  // namespace gt
