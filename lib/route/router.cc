#include "route/router.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "route/router_loop.h"
#include "route/state_text.h"

namespace gt::route {
namespace {

constexpr int64_t kLogPatience = 500;  // milliseconds
// How long after SIGTERM the run may take to do what was read; milliseconds.
constexpr int64_t kDrainPatience = 10'000;

}  // namespace

Exit run_router(const RouterOptions& options,
                const std::function<void(std::string_view)>& say) {
  return RouterLoop(options, say).run();
}

RouterLoop::RouterLoop(const RouterOptions& options, Client::Say say)
    : options_(options),
      log_(options.log_fd),
      sources_(options.workers),
      client_(sources_, std::move(say)),
      dispatcher_({.workers = options.workers, .hot = options.hot},
                  log_.is_on() ? [this](const Issue& i) { log_.issue(i); }
                               : Sequencer::Sink()),
      pipe_(client_, dispatcher_, options.files, options.fail_fast),
      pool_(options, log_, dispatcher_, sources_, client_),
      monitor_(options.monitor) {}

Exit RouterLoop::run() {
  if (Status s = pool_.begin(); !s.ok()) {
    client_.say("gt-route: " + s.error().message + "\n");
    return Exit::kUsage;
  }
  if (Status s = monitor_.begin(); !s.ok()) {
    client_.say("gt-route: --monitor: " + s.error().message + "\n");
    return Exit::kUsage;
  }
  if (!options_.monitor.endpoint.empty()) {
    options_.tell("gt-route: may be watched at " + monitor_.endpoint() + "\n");
  }
  while (!is_over()) {
    wait();
    log_.tick();
    pool_.step();
    take_signals();
    if (pool_.is_lost()) pipe_.end_reading();
    pipe_.read([this] { return has_room(); }, pool_.host());
    send_bodies();
    write_results();
    tell_watchers();
  }
  return end();
}

bool RouterLoop::is_over() const {
  if (killed_) return true;
  return pipe_.is_written() && (pool_.is_lost() || pool_.all_left());
}

bool RouterLoop::has_room() const {
  return pool_.is_complete() && !who_is_full() && !log_.is_full();
}

std::optional<uint32_t> RouterLoop::who_is_full() const {
  if (!client_.has_credit()) return net::kNoWorker;
  for (uint32_t w = 0; w < options_.workers; ++w) {
    if (pool_.is_full(w)) return w;
  }
  return std::nullopt;
}

// Notes whether there is room, and writes to the log if there has been none for
// some time.
void RouterLoop::note_full() {
  const auto who = who_is_full();
  const int64_t now = net::now_ms();
  if (!who) {
    full_since_ = 0;
  } else if (full_since_ == 0) {
    full_since_ = now;
  } else if (log_.is_on() && now - full_since_ >= kLogPatience &&
             now >= next_flush_) {
    log_.full(*who, now - full_since_);
  }
}

void RouterLoop::flush_log() {
  if (log_.is_on() || monitor_.watchers() > 0) note_full();
  if (!log_.is_on()) return;
  if (!pipe_.is_idle() && net::now_ms() < next_flush_) return;
  log_.flush();
  next_flush_ = net::now_ms() + kLogPatience;
}

void RouterLoop::wait() {
  const bool reads = !pipe_.has_ended() && has_room();
  poller_.clear();
  pool_.add_to(poller_);
  monitor_.add_to(poller_);
  poller_.add_fd(interrupts_.fd());
  pipe_.add_to(poller_, reads);
  flush_log();
  int64_t limit = std::min(pool_.wait_ms(), monitor_.wait_ms());
  if (drained_by_ != 0) {
    limit = std::min(limit, std::max<int64_t>(0, drained_by_ - net::now_ms()));
  }
  poller_.wait(reads && !pipe_.is_idle() ? 0 : limit);
}

// While input comes, only bodies that are due leave. When there is none, or it
// has ended, or a "#sync" waits for them, all leave. When there is no room to
// read more input, all leave except the lines of a block that may be coming:
// the workers make room by what they do with the others. If there are too many
// results, those lines leave as well, since their prints are among the results
// that are counted.
void RouterLoop::send_bodies() {
  if (pool_.is_lost() || !pool_.is_complete()) return;
  if (pipe_.has_ended()) dispatcher_.flush();
  const bool is_all = pipe_.is_idle() || pipe_.has_ended() ||
                      dispatcher_.hurries() || !client_.has_credit();
  const auto which = is_all       ? Outbox::Take::kAll
                     : has_room() ? Outbox::Take::kFull
                                  : Outbox::Take::kSettled;
  pool_.send(dispatcher_.take(which), pipe_.has_ended());
}

void RouterLoop::write_results() {
  ResultOrder::Sink sink;
  if (log_.is_on()) {
    sink = [this](int64_t worker, uint64_t seq, std::string_view line) {
      log_.result(static_cast<uint32_t>(worker), seq, line);
    };
  }
  const bool may_be_done = pool_.is_complete();
  const Status written = pipe_.write(
      [&](const Awaited& awaited) {
        return may_be_done && dispatcher_.has_done(awaited);
      },
      sink);
  constexpr uint32_t kTurns = 256;
  if (++turns_ % kTurns == 0) dispatcher_.forget_users(client_.users);
  if (written.ok()) return;
  killed_ = true;
  client_.worsen(Exit::kUsage);
  client_.say("gt-route: cannot write standard output: " +
              written.error().message + "\n");
}

// ---- the state for those who watch
// -------------------------------------------

std::string RouterLoop::state() const {
  StateOptions more;
  more.uptime_ms = net::now_ms() - began_;
  more.file = options_.files.empty() ? "" : options_.files[0];
  more.watchers = monitor_.watchers();
  more.written = pipe_.written();
  more.has_ended = pipe_.has_ended();
  more.full = who_is_full();
  more.full_ms = full_since_ == 0 ? 0 : net::now_ms() - full_since_;
  return state_text(client_, dispatcher_, pool_, more);
}

void RouterLoop::tell_watchers() {
  monitor_.step();
  pool_.watch(monitor_.watchers() > 0);
  if (monitor_.is_due()) monitor_.tell([this] { return state(); });
}

// SIGTERM sets a time limit and SIGINT does not: a person at a terminal can
// send SIGINT again, but a program that sends SIGTERM expects an end.
void RouterLoop::take_signals() {
  while (const int signal = interrupts_.take()) {
    killed_ = killed_ || is_interrupted_;
    is_interrupted_ = true;
    pipe_.end_reading();
    client_.worsen(Exit::kInterrupted);
    if (signal == SIGTERM && drained_by_ == 0) {
      drained_by_ = net::now_ms() + kDrainPatience;
    }
  }
  if (drained_by_ != 0 && net::now_ms() >= drained_by_ && !killed_) {
    killed_ = true;
    client_.say("gt-route: what was read is not done " +
                seconds_text(kDrainPatience) +
                " after SIGTERM; ends all the same\n");
  }
  // Workers are still waited for: nothing was begun that could be completed.
  if (is_interrupted_ && !pool_.is_complete()) killed_ = true;
}

Exit RouterLoop::end() {
  if (killed_ && !pool_.is_lost())
    pool_.abort("gt-route ended before its time");
  pool_.end();
  if (monitor_.watchers() > 0) {
    monitor_.end(state(), worst(client_.status, client_.marks.status()));
  }
  if (options_.verbose > 0) {
    options_.tell("gt-route: " + std::to_string(client_.lines) + " lines, " +
                  std::to_string(dispatcher_.decoded()) + " decoded, " +
                  std::to_string(client_.repeated) +
                  " in rounds that came again, " +
                  std::to_string(dispatcher_.issued()) + " issued\n");
  }
  const std::string counts =
      client_.reported.take_counts("gt-route", client_.marks.opened());
  if (!counts.empty()) client_.say(counts);
  client_.worsen(client_.marks.status());
  log_.end(client_.status);
  if (log_.errno_value() != 0) {
    client_.say("gt-route: --log: " + options_.log_name + ": " +
                std::strerror(log_.errno_value()) + "\n");
    client_.worsen(Exit::kUsage);
  }
  return client_.status;
}

}  // namespace gt::route
