// gt-route and its workers: what they say, and how they end.
#include <poll.h>
#include <unistd.h>

#include "base/message.h"
#include "route/router_loop.h"

namespace gt {

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
  say_("gt-route: " + describe(event.worker) + what + "\n");
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
  if (is_terminal) text = "\r\x1b[K" + text;
  say_(text + (is_terminal && !is_all ? "" : "\n"));
}

std::string RouterLoop::describe(uint32_t worker) const {
  return gt::describe(worker, host_->state().worker(worker).info);
}

void RouterLoop::take_message(uint32_t worker, const Message& message) {
  if (message.verb == Verb::kResults) {
    if (!dispatcher_->results().take(worker, message.body)) {
      lose_worker(worker, describe(worker) + " sent more results than asked");
    }
  } else if (message.verb == Verb::kDone) {
    const uint64_t seq = host_->state().worker(worker).done_seq;
    take_done(worker, seq);
    log_.done(worker, host_->state().worker(worker));
  } else if (message.verb == Verb::kReport) {
    take_report(worker, message);
  } else if (message.verb == Verb::kRan) {
    const Status taken = log_.ran(worker, message);
    if (taken.ok()) return;
    lose_worker(worker, describe(worker) + " said " + taken.error().message);
  }
}

// Workers that share a line say the same of it.
void RouterLoop::take_report(uint32_t worker, const Message& message) {
  const auto status = number(message, "status");
  if (status.ok()) {
    status_ = worst(status_, static_cast<Exit>(status.value()));
  }
  if (options_.fail_fast) input_ended_ = true;
  if (reported_.size() > kMostReported) reported_.clear();
  const std::string at = text(message, "at");
  if (!at.empty() && !reported_.insert(at).second) return;
  const auto seq = number(message, "seq");
  log_.report(worker,
              seq.ok() ? seq.value() : host_->state().worker(worker).done_seq,
              status.ok() ? status.value() : 1, message.body);
  say_(message.body);
}

void RouterLoop::take_bye(uint32_t worker, const Message& message) {
  workers_[worker].left = true;
  const auto status = number(message, "status");
  if (status.ok()) {
    status_ = worst(status_, static_cast<Exit>(status.value()));
  }
  log_.bye(worker, host_->state().worker(worker).done_seq,
           status.ok() ? status.value() : 0);
  if (workers_[worker].told_end) return;
  std::string why = describe(worker) + " left";
  if (!message.body.empty()) why += ": " + std::string(message.body);
  lose_worker(worker, why);
}

// A child that ended. What it said last may still be on its way, so its
// connection tells whether it left in order; but not for long.
void RouterLoop::take_ends() {
  constexpr int64_t kPatience = 1000;  // milliseconds
  for (uint32_t w = 0; w < local_.size(); ++w) {
    Worker& worker = workers_[w];
    if (local_.fd(w) >= 0) {
      pollfd p{local_.fd(w), POLLIN, 0};
      if (::poll(&p, 1, 0) <= 0) continue;
      worker.ended = "worker " + std::to_string(w) + " " + local_.take_end(w);
      const bool was_here =
          host_->state().worker(w).state != WorkerState::kAbsent;
      worker.ended_at = now_ms() + (was_here ? kPatience : 0);
    }
    if (!worker.left && !worker.ended.empty() && now_ms() >= worker.ended_at) {
      lose_worker(w, worker.ended);
    }
  }
}

void RouterLoop::lose_worker(uint32_t worker, const std::string& why) {
  if (is_lost_) return;
  if (worker == kNoWorker) {
    // Nothing was begun with it: it may come back, or another may come.
    if (host_->state().is_complete()) return lose(why);
    told_here_ = host_->state().here();
    return say_("gt-route: " + why + "\n");
  }
  log_.lost(worker, host_->state().worker(worker).done_seq, why);
  const std::string& ended = workers_[worker].ended;
  lose((ended.empty() ? why : ended) + where_was(worker));
}

// Once; all that comes later comes of it.
void RouterLoop::lose(const std::string& why) {
  if (is_lost_) return;
  is_lost_ = true;
  status_ = worst(status_, Exit::kLost);
  input_ended_ = true;
  say_("gt-route: " + why + "\n");
  dispatcher_->results().fail(why);
  const Frame frame(MessageWriter(Verb::kAbort).finish(why));
  for (uint32_t w = 0; w < workers_.size(); ++w) {
    workers_[w].unsent.clear();
    host_->send(w, frame);
  }
}

}  // namespace gt
