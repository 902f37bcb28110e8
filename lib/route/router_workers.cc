// gt-route and its workers: what they say, what they are sent, how they end.
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
    dispatcher_->done(worker, seq);
    log_.done(worker, host_->state().worker(worker));
    std::deque<Batch>& on_way = workers_[worker].on_way;
    while (!on_way.empty() && on_way.front().last <= seq) on_way.pop_front();
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

// "; it was at p.gt:8: y = matmul x w", the first line that it had not done.
std::string RouterLoop::where_was(uint32_t worker) const {
  const uint64_t done = host_->state().worker(worker).done_seq;
  for (const Batch& batch : workers_[worker].on_way) {
    if (batch.last <= done) continue;
    const auto message = parse_message(batch.frame.bytes());
    if (!message.ok()) break;
    const auto seq = number(message.value(), "seq");
    const auto line = number(message.value(), "line");
    NumberedLines lines(message.value().body, seq.ok() ? seq.value() : 0,
                        line.ok() ? static_cast<int64_t>(line.value()) : 0);
    NumberedLines::Item item;
    for (;;) {
      const auto more = lines.next(item);
      if (!more.ok() || !more.value()) break;
      if (item.seq <= done || item.text.starts_with('#')) continue;
      return "; it was at " +
             to_string({batch.file, static_cast<size_t>(item.line)}) + ": " +
             excerpt(item.text);
    }
  }
  return "; it had done all it was sent";
}

// Full bodies leave; when no input is to be had, all do.
void RouterLoop::send_bodies() {
  if (is_lost_ || !host_->state().is_complete()) return;
  if (input_ended_) dispatcher_->flush();
  const bool idle = input_idle_ || input_ended_ || !wants_input();
  const std::vector<uint32_t> due = dispatcher_->outbox().take_due();
  if (idle) {
    for (uint32_t w = 0; w < workers_.size(); ++w) send_body(w);
  } else {
    for (const uint32_t w : due) send_body(w);
  }
  for (uint32_t w = 0; w < workers_.size(); ++w) send_unsent(w);
}

void RouterLoop::send_body(uint32_t w) {
  Worker& worker = workers_[w];
  if (dispatcher_->outbox().empty(w) || !worker.unsent.empty()) return;
  const Outbox::Batch batch = dispatcher_->take(w);
  MessageWriter message(Verb::kLines);
  message.field("seq", batch.seq)
      .field("line", static_cast<uint64_t>(batch.line));
  for (std::string& part : message.finish_all(batch.body)) {
    Frame frame(std::move(part));
    worker.unsent_bytes += frame.size();
    worker.on_way.push_back(
        {batch.seq, batch.last, dispatcher_->file(), frame});
    worker.unsent.push_back(std::move(frame));
  }
}

void RouterLoop::send_unsent(uint32_t w) {
  Worker& worker = workers_[w];
  while (!worker.unsent.empty()) {
    const Frame& frame = worker.unsent.front();
    if (!host_->can_send(w, frame.size())) return;
    const Batch& sent = worker.on_way.back();
    log_.send(w, sent.first, sent.last, frame.size());
    worker.unsent_bytes -= frame.size();
    host_->send(w, frame);
    worker.unsent.pop_front();
  }
  if (!input_ended_ || worker.told_end || !dispatcher_->outbox().empty(w)) {
    return;
  }
  worker.told_end = true;
  host_->send(w, Frame(MessageWriter(Verb::kEnd).finish()));
}

}  // namespace gt
