// gt-route and its workers: what they say, and how they end.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/message.h"
#include "base/printable.h"
#include "base/text.h"
#include "route/router_loop.h"

namespace gt {
namespace {

// How long a worker that has done all may be silent about it.
constexpr int64_t kIdlePatience = 10'000;  // milliseconds

}  // namespace

void RouterLoop::take_events() {
  HostEvent event;
  while (host_->next(event)) {
    switch (event.kind) {
      case HostEvent::Kind::kMessage:
        take_message(event.worker, event.letter.message);
        break;
      case HostEvent::Kind::kLeft:
        take_bye(event.worker, event.letter.message);
        break;
      case HostEvent::Kind::kLost:
        lose_worker(event.worker, event.why);
        break;
      case HostEvent::Kind::kRefused:
        say_("gt-route: " + event.why + "\n");
        break;
      case HostEvent::Kind::kAttached:
        log_.attach(event.worker, host_->state().worker(event.worker).info,
                    host_->state().worker(event.worker).epoch);
        if (options_.verbose > 0) say_progress(event);
        break;
      case HostEvent::Kind::kSuspect:
      case HostEvent::Kind::kResumed:
        if (options_.verbose > 0) say_progress(event);
    }
  }
}

void RouterLoop::say_progress(const HostEvent& event) {
  const char* what = event.kind == HostEvent::Kind::kAttached  ? " is here"
                     : event.kind == HostEvent::Kind::kSuspect ? " says nothing"
                                                               : " goes on";
  options_.tell("gt-route: " + describe(event.worker) + what + "\n");
}

// While others are waited for: on a terminal one line that changes, else now
// and then a line.
void RouterLoop::say_who_is_here() {
  constexpr int64_t kApart = 3000;  // milliseconds
  static const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  const HostState& host = host_->state();
  if (options_.bind.empty() || told_here_ == options_.workers) return;
  const size_t here = host.is_complete() ? options_.workers : host.here();
  if (here == told_here_ || (!is_terminal && now_ms() < next_told_)) return;
  told_here_ = here;
  next_told_ = now_ms() + kApart;
  const bool is_all = here == options_.workers;
  std::string text = "gt-route: " + std::to_string(here) + " of " +
                     std::to_string(options_.workers) + " workers are here";
  if (!is_all) text += "; waits for " + host.who_is_missing();
  options_.tell(text + (is_all ? "\n" : ""));
}

std::string RouterLoop::describe(uint32_t worker) const {
  return gt::describe(worker, host_->state().worker(worker).info);
}

void RouterLoop::take_message(uint32_t worker, const Message& message) {
  Status status = ok_status();
  if (message.verb == Verb::kResults) {
    workers_[worker].idle_ms = 0;  // a `done` alone is a beat, and owes as much
    status = client_.results.take(worker, message.body);
  } else if (message.verb == Verb::kDone) {
    status = take_done(worker, host_->state().worker(worker).done_seq);
    log_.done(worker, host_->state().worker(worker));
  } else if (message.verb == Verb::kReport) {
    take_report(worker, message);
  } else if (message.verb == Verb::kRan) {
    status = log_.ran(worker, message);
    if (!status.ok()) status = Error{"said " + status.error().message};
  }
  if (status.ok()) return;
  lose_worker(worker, describe(worker) + " " + status.error().message);
}

// Workers that share a line say the same of it.
void RouterLoop::take_report(uint32_t worker, const Message& message) {
  const Exit status = status_of(message).value();  // the host has looked
  client_.worsen(status);
  if (options_.fail_fast) input_ended_ = true;
  const std::string at = text(message, "at");
  const auto line = number(message, "line");
  const Place place{std::string_view(at).substr(0, at.rfind(':')),
                    line.ok() ? line.value() : 0};
  if (!at.empty() && !client_.reported.is_first(place, message.body, "")) {
    return;
  }
  // What has no status of its own is no failure: how often others came again.
  if (status == Exit::kDone) return say_(message.body);
  const auto seq = number(message, "seq");
  log_.report(worker,
              seq.ok() ? seq.value() : host_->state().worker(worker).done_seq,
              static_cast<uint64_t>(status), message.body);
  say_(message.body);
}

void RouterLoop::take_bye(uint32_t worker, const Message& message) {
  workers_[worker].left = true;
  const Exit status = status_of(message).value();  // the host has looked
  client_.worsen(status);
  log_.bye(worker, host_->state().worker(worker).done_seq,
           static_cast<uint64_t>(status));
  if (workers_[worker].told_end && has_done_all(worker)) return;
  std::string why = describe(worker) + " left";
  if (!message.body.empty()) why += ": " + printable(message.body);
  lose_worker(worker, why);
}

bool RouterLoop::has_done_all(uint32_t worker) const {
  return host_->state().worker(worker).done_seq == workers_[worker].last_seq &&
         !client_.results.owes(worker);
}

// A worker that has done all it was sent soon says what it owes, and leaves
// once it was told the end. Who does not is alive, but will never be done.
void RouterLoop::check_idle() {
  constexpr int64_t kMostPassed = 1000;  // more is time that we slept ourselves
  const int64_t passed =
      std::min(now_ms() - std::exchange(idle_checked_, now_ms()), kMostPassed);
  if (is_lost_) return;
  for (uint32_t w = 0; w < workers_.size(); ++w) {
    Worker& worker = workers_[w];
    const bool owes = client_.results.owes(w);
    const WorkerStatus& status = host_->state().worker(w);
    const bool is_waited_for = !worker.left && (owes || worker.told_end) &&
                               status.done_seq == worker.last_seq &&
                               status.waits_for.empty();
    worker.idle_ms = is_waited_for ? worker.idle_ms + passed : 0;
    if (worker.idle_ms >= kIdlePatience) {
      lose_worker(w, describe(w) + " has done all it was sent, but has not " +
                         (owes ? "sent the results that it owes" : "said bye") +
                         " for " + seconds_text(kIdlePatience));
    }
  }
}

// A child that ended. What it said last may still be on its way, so its
// connection tells whether it left in order; but not for long, and one that was
// killed had no last words.
void RouterLoop::take_ends() {
  constexpr int64_t kPatience = 1000;  // milliseconds
  for (uint32_t w = 0; w < local_.size(); ++w) {
    Worker& worker = workers_[w];
    if (local_.fd(w) >= 0 && see_end(w, 0)) {
      const bool was_here =
          host_->state().worker(w).state != WorkerState::kAbsent;
      const bool may_speak = was_here && !local_.was_killed(w);
      worker.ended_at = now_ms() + (may_speak ? kPatience : 0);
    }
    if (!worker.left && !worker.ended.empty() && now_ms() >= worker.ended_at) {
      lose_worker(w, worker.ended);
    }
  }
}

// Whether a child has ended, or does so soon; then how is known.
bool RouterLoop::see_end(uint32_t w, int milliseconds) {
  pollfd p{local_.fd(w), POLLIN, 0};
  if (::poll(&p, 1, milliseconds) <= 0) return false;
  workers_[w].ended = "worker " + std::to_string(w) + " " + local_.take_end(w);
  return true;
}

void RouterLoop::lose_worker(uint32_t worker, const std::string& why) {
  // Its connection ends a moment before the system says how it did.
  constexpr int kMoment = 200;  // milliseconds
  if (is_lost_) return;
  if (worker == kNoWorker) {
    // Nothing was begun with it: it may come back, or another may come.
    if (host_->state().is_complete()) return lose(why);
    told_here_ = host_->state().here();
    return say_("gt-route: " + why + "\n");
  }
  log_.lost(worker, host_->state().worker(worker).done_seq, why);
  const bool is_gone =
      host_->state().worker(worker).state == WorkerState::kLost;
  if (is_gone && worker < local_.size() && local_.fd(worker) >= 0) {
    see_end(worker, kMoment);
  }
  const std::string& ended = workers_[worker].ended;
  lose((ended.empty() ? why : ended) + where_was(worker));
}

// Once; all that comes later comes of it.
void RouterLoop::lose(const std::string& why) {
  if (is_lost_) return;
  is_lost_ = true;
  client_.worsen(Exit::kLost);
  input_ended_ = true;
  say_("gt-route: " + why + "\n");
  client_.results.fail(why);
  for (Worker& worker : workers_) worker.unsent.clear();
  abort_workers(why);
}

// Those that we started have nothing to add but the rest of their traces: for
// that they leave by themselves, and end() waits for them.
void RouterLoop::abort_workers(const std::string& why) {
  host_->abort(why);
  if (!options_.traces || !host_->state().is_complete()) local_.kill_all();
}

}  // namespace gt
