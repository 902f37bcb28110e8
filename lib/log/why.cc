#include "log/why.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/clock.h"
#include "base/message.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/units.h"
#include "stream/line.h"
#include "stream/notes.h"
#include "stream/ranks.h"
#include "stream/source.h"

namespace gt::log {
namespace {

std::string ago(uint64_t now, uint64_t then) {
  return decimal(static_cast<double>(now > then ? now - then : 0) / 1e9, 1) +
         " s";
}

}  // namespace

// ---- reading ----------------------------------------------------------------

Why::Worker* Why::worker_of(std::string_view peer) {
  uint64_t number = 0;
  if (!read_number(peer, number)) return nullptr;
  if (workers_.size() >= kMaxWorkers && !workers_.contains(number)) {
    return nullptr;
  }
  return &workers_[number];
}

void Why::take(const LogRow& row) {
  uint64_t seq = 0;
  const auto time = parse_log_time(row.time);
  if (!time || !read_number(row.seq, seq)) return;
  last_ = std::max(last_, *time);
  if (row.event == "issue") return take_issue(seq, row);
  words_.parse(row.text);
  if (row.event == "end") {
    ended_ = words_.find("status");
    if (ended_.empty()) ended_ = "0";
    return;
  }
  if (row.event == "wait" && row.peer == "-") {
    return take_wait(seq, *time, full_);
  }
  Worker* worker = worker_of(row.peer);
  if (worker == nullptr) return;
  if (row.event == "attach") {
    const uint64_t done = worker->done;
    *worker = Worker{};
    worker->done = worker->sent = done;
    worker->name = words_.find("name");
    worker->moved = *time;
  } else if (row.event == "send") {
    worker->sent = std::max(worker->sent, seq);
    worker->unread.push_back({seq, *time});
  } else if (row.event == "done" || row.event == "progress") {
    take_done(seq, *time, *worker);
  } else if (row.event == "wait") {
    take_wait(seq, *time, worker->wait);
  } else if (row.event == "lost") {
    worker->is_lost = true;
    worker->lost = words_.words();
    worker->moved = *time;
  } else if (row.event == "bye") {
    worker->has_left = true;
  }
}

void Why::take_issue(uint64_t seq, const LogRow& row) {
  full_ = {};  // the dispatcher has read on
  const std::string_view text = split_notes(row.text).text;
  issues_.push_back({seq, std::string(row.peer),
                     std::string(text.substr(0, kMaxText)),
                     unquote(find_note(row.text, "at"))});
  if (text.size() > kMaxText) issues_.back().text += " ...";
  if (issues_.size() >= next_sweep_) forget_finished();
}

void Why::take_done(uint64_t seq, uint64_t time, Worker& worker) {
  const bool is_new = words_.find("queue") == "comm" || seq > worker.done;
  if (is_new) worker.moved = time;
  if (worker.wait.seq <= seq) worker.wait = {};
  // Only the compute queue says what is finished.
  if (words_.find("queue") == "comm") return;
  worker.done = std::max(worker.done, seq);
  while (!worker.unread.empty() && worker.unread.front().seq <= worker.done) {
    worker.unread.pop_front();
  }
}

void Why::take_wait(uint64_t seq, uint64_t time, Wait& wait) {
  wait.seq = seq;
  wait.since = words_.time("since").value_or(time);
  wait.whom = words_.find("for");
  wait.words = words_.words();
}

// Forgets the issues that every worker has finished, and the oldest ones if
// there are very many.
void Why::forget_finished() {
  uint64_t least = UINT64_MAX;
  for (const auto& [number, worker] : workers_) {
    if (worker.is_lost || worker.has_left) continue;
    // A worker that has finished all it was sent holds nothing back.
    least = std::min(least, worker.unread.empty() ? worker.sent : worker.done);
  }
  while (!issues_.empty() &&
         (issues_.front().seq <= least || issues_.size() > kMaxIssues)) {
    issues_.pop_front();
  }
  next_sweep_ = std::min(2 * issues_.size() + 1024, kMaxIssues + 1);
}

// ---- answering --------------------------------------------------------------

bool Why::is_for(const Issue& issue, uint64_t number) {
  uint64_t one = 0;
  if (read_number(issue.peers, one)) return one == number;
  const auto all = parse_ranks(issue.peers);
  return all.ok() &&
         std::find(all.value().begin(), all.value().end(),
                   static_cast<int64_t>(number)) != all.value().end();
}

const Why::Issue* Why::next_of(uint64_t number, const Worker& worker) const {
  for (const Issue& issue : issues_) {
    if (issue.seq > worker.done && is_for(issue, number)) return &issue;
  }
  return nullptr;
}

size_t Why::behind(uint64_t number, const Worker& worker) const {
  return static_cast<size_t>(
      std::count_if(issues_.begin(), issues_.end(), [&](const Issue& issue) {
        return issue.seq > worker.done && is_for(issue, number);
      }));
}

std::string Why::title(uint64_t number) const {
  const auto it = workers_.find(number);
  std::string out = "worker " + std::to_string(number);
  if (it != workers_.end() && !it->second.name.empty()) {
    out += " (" + it->second.name + ")";
  }
  return out;
}

std::string Why::place_of(const Issue* issue, uint64_t seq) const {
  if (issue == nullptr) return "instruction " + std::to_string(seq);
  return (issue->at.empty() ? "instruction " + std::to_string(issue->seq)
                            : issue->at) +
         ": " + issue->text;
}

Why::State Why::state_of(uint64_t number, const Worker& worker,
                         uint64_t now) const {
  State state;
  if (worker.is_lost) {
    state.text = "lost " + ago(now, worker.moved) + " ago: " + worker.lost;
    return state;
  }
  if (worker.has_left) {
    state.text = "has left";
    return state;
  }
  if (worker.wait.since != 0) {
    const auto at = std::find_if(
        issues_.begin(), issues_.end(),
        [&](const Issue& issue) { return issue.seq == worker.wait.seq; });
    uint64_t peer = 0;
    const std::string& whom = worker.wait.whom;
    state.since = worker.wait.since;
    state.seq = worker.wait.seq;
    state.text =
        "waits " + ago(now, state.since) +
        (whom.empty()
             ? ""
             : " for " + (read_number(whom, peer) ? title(peer) : whom)) +
        " at " + place_of(at == issues_.end() ? nullptr : &*at, state.seq);
    if (!worker.wait.words.empty()) {
      state.text += " (" + worker.wait.words + ")";
    }
    return state;
  }
  if (worker.unread.empty()) {
    state.text =
        "has done all that it was sent, " + ago(now, worker.moved) + " ago";
    return state;
  }
  state.since = std::max(worker.moved, worker.unread.front().time);
  const Issue* next = next_of(number, worker);
  state.seq = next == nullptr ? worker.done + 1 : next->seq;
  state.text =
      "is " + ago(now, state.since) + " at " + place_of(next, state.seq);
  if (const size_t lines = behind(number, worker); lines > 1) {
    state.text += " (" + std::to_string(lines - 1) +
                  (lines == 2 ? " more line)" : " more lines)");
  }
  return state;
}

// Returns a line about the dispatcher if it reads no more; else "".
std::string Why::dispatcher(uint64_t now) const {
  if (full_.since == 0) return "";
  uint64_t worker = 0;
  return "gt-route: reads no more for " + ago(now, full_.since) + ", since " +
         (read_number(full_.whom, worker) ? title(worker) + " has no room"
                                          : full_.whom + ": " + full_.words) +
         "\n";
}

// Says for whom the run waits: goes from the worker that has waited longest to
// the one that it waits for, and so on.
std::string Why::verdict(const std::map<uint64_t, State>& states,
                         uint64_t now) const {
  const auto first = std::max_element(
      states.begin(), states.end(), [now](const auto& a, const auto& b) {
        const auto length = [now](const State& s) {
          return s.since == 0 || s.since > now ? 0 : now - s.since;
        };
        return length(a.second) < length(b.second);
      });
  std::set<uint64_t> seen;
  uint64_t at = first->first;
  for (;;) {
    const auto worker = workers_.find(at);
    uint64_t next = 0;
    if (!seen.insert(at).second) {
      std::string ring;
      for (const uint64_t one : seen)
        ring += (ring.empty() ? "" : ", ") + title(one);
      return "the run waits for itself: " + ring;
    }
    if (worker == workers_.end()) return "the run waits for " + title(at);
    if (worker->second.wait.since == 0 || worker->second.is_lost) break;
    if (!read_number(worker->second.wait.whom, next)) break;
    at = next;
  }
  const auto state = states.find(at);
  return "the run waits for " + title(at) + ", which " + state->second.text;
}

Why::Answer Why::answer(uint64_t now) const {
  Answer answer;
  if (!ended_.empty()) {
    answer.text = "the run is over, status " + ended_ + "\n";
    return answer;
  }
  const bool is_busy = std::ranges::any_of(workers_, [](const auto& one) {
    return !one.second.unread.empty() && !one.second.is_lost;
  });
  if (now > last_ + kSilent && is_busy) {
    answer.text = "nothing was written to the log for " + ago(now, last_) +
                  ": the dispatcher is stopped or gone; when it last wrote:\n";
    answer.is_stalled = true;
  }
  if (answer.is_stalled || now < last_) now = last_;
  std::map<uint64_t, State> states;
  bool is_behind = full_.since != 0 && now >= full_.since + kStalled;
  answer.text += dispatcher(now);
  for (const auto& [number, worker] : workers_) {
    const State state = state_of(number, worker, now);
    answer.text += title(number) + ": " + state.text + "\n";
    is_behind =
        is_behind || (state.since != 0 && now >= state.since + kStalled);
    states.emplace(number, state);
  }
  if (is_behind && !states.empty()) answer.text += verdict(states, now) + "\n";
  if (workers_.empty()) answer.text += "no worker is attached\n";
  answer.is_stalled = answer.is_stalled || is_behind;
  return answer;
}

// ---- reading a file ---------------------------------------------------------

Exit why(const std::string& path, uint64_t now, Writer& out, const Say& say) {
  const auto complain = [&](uint64_t number, const std::string& message) {
    const std::string name = name_of_input(path);
    say(format_error("gt-log", {name, number}, {message, 0}, ""));
  };
  const auto source = open_source(path);
  if (source == nullptr) {
    complain(0, std::strerror(errno));
    return Exit::kUsage;
  }
  Why why;
  LogRow row;
  std::string_view line;
  Exit status = Exit::kDone;
  // Number of the last malformed row; it may still be being written.
  uint64_t bad = 0;
  while (status == Exit::kDone) {
    const Reader::Item item = source->next(line);
    const uint64_t number = source->line();
    if (item == Reader::Item::kEnd) break;
    if (item == Reader::Item::kError) {
      complain(0, std::strerror(source->errno_value()));
      status = Exit::kUsage;
    } else if (number == 1 && line != kLogHeader) {
      complain(1, "not the log of a run; gt-route --log FILE writes one");
      status = Exit::kRejected;
    } else if (bad != 0) {
      complain(bad, "not a row of a log");
      status = Exit::kRejected;
    } else if (number > 1 && !parse_row(line, row)) {
      bad = number;
    } else if (number > 1) {
      why.take(row);
    }
  }
  if (status != Exit::kDone) return status;
  if (now == 0) now = static_cast<uint64_t>(wall_ns());
  const Why::Answer answer = why.answer(now);
  out.write(printable_lines(answer.text));
  return answer.is_stalled ? Exit::kDone : Exit::kFailed;
}

}  // namespace gt::log
