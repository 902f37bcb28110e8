#include "route/worker_pool.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/message.h"
#include "base/printable.h"
#include "base/random_token.h"
#include "base/text.h"
#include "net/endpoint.h"
#include "ops/table.h"

namespace gt::route {
namespace {

// The most text that may wait for a worker's credit before no more input is
// read.
constexpr size_t kMostUnsent = size_t{2} << 20;
// How long a worker that has done all it was sent may keep results that it
// owes, or its bye.
constexpr int64_t kIdlePatience = 10'000;  // milliseconds
constexpr int kEndWait = 2000;             // milliseconds

}  // namespace

WorkerPool::WorkerPool(const RouterOptions& options, RunRecorder& log,
                       Dispatcher& dispatcher, ResultSources& sources,
                       Client& client)
    : options_(options),
      log_(log),
      dispatcher_(dispatcher),
      sources_(sources),
      client_(client),
      deliveries_(options.workers),
      workers_(options.workers) {}

Status WorkerPool::begin() {
  net::HostOptions host;
  host.workers = options_.workers;
  host.timing = net::Timing::with_silence(options_.silence);
  host.table = std::to_string(table_digest());
  host.session = random_token();
  host.file = options_.files.empty() ? "" : options_.files[0];
  if (log_.is_on()) host.clock = wall_us;
  const bool is_local = options_.bind.empty();
  if (is_local) host.token = random_token();
  const std::string token = host.token;
  auto made = net::Host::make(context_,
                              is_local ? net::local_endpoint() : options_.bind,
                              std::move(host), options_.trust, options_.admits);
  if (!made.ok()) return made.error();
  host_ = std::move(made.value());
  deadline_ = net::now_ms() + int64_t{options_.timeout} * 1000;
  // Each worker needs a connection and, if it is started here, a pidfd.
  net::need_descriptors(size_t{2} * options_.workers + 8);
  if (is_local) {
    return local_.start(options_.workers,
                        {host_->endpoint(), token, options_.worker_arguments});
  }
  options_.tell("gt-route: waits for " + std::to_string(options_.workers) +
                (options_.workers == 1 ? " worker" : " workers") + " at " +
                host_->endpoint() + "\n");
  return ok_status();
}

void WorkerPool::add_to(net::Poller& poller) const {
  host_->add_to(poller);
  local_.add_to(poller);
}

int64_t WorkerPool::wait_ms() const {
  const int64_t limit = host_->wait_ms();
  if (is_complete()) return limit;
  return std::min(limit, std::max<int64_t>(0, deadline_ - net::now_ms()));
}

void WorkerPool::step() {
  check_patience();
  host_->step();
  say_who_is_here();
  take_events();
  take_ends();
  check_idle();
}

void WorkerPool::check_patience() {
  if (is_complete() || net::now_ms() < deadline_) return;
  lose("waited " + std::to_string(options_.timeout) + " s for all workers; " +
       host_->state().who_is_here() +
       "; missing: " + host_->state().who_is_missing());
}

bool WorkerPool::all_left() const {
  return std::ranges::all_of(workers_, &Worker::left);
}

bool WorkerPool::is_full(uint32_t worker) const {
  return deliveries_.unsent_bytes(worker) + dispatcher_.outbox().size(worker) >
         kMostUnsent;
}

void WorkerPool::send(std::vector<Outbox::Batch> batches, bool ends) {
  for (Outbox::Batch& batch : batches) {
    deliveries_.add(std::move(batch));
  }
  for (const uint64_t id : dispatcher_.take_forgotten()) {
    deliveries_.add_forget(id);
  }
  for (uint32_t w = 0; w < workers_.size(); ++w) {
    deliveries_.send(w, *host_, log_);
    if (ends && dispatcher_.outbox().size(w) == 0) {
      deliveries_.send_end(w, *host_);
    }
  }
}

// ---- what workers say -------------------------------------------------------

void WorkerPool::take_events() {
  net::HostEvent event;
  while (host_->next(event)) {
    switch (event.kind) {
      case net::HostEvent::Kind::kMessage:
        take_message(event.worker, event.owned.message);
        break;
      case net::HostEvent::Kind::kLeft:
        take_bye(event.worker, event.owned.message);
        break;
      case net::HostEvent::Kind::kLost:
        lose_worker(event.worker, event.why);
        break;
      case net::HostEvent::Kind::kRefused:
        client_.say("gt-route: " + event.why + "\n");
        break;
      case net::HostEvent::Kind::kAttached:
        // The worker has come back, with no values.
        if (workers_[event.worker].is_lost) {
          host_->drop(event.worker, "the run went on without it");
          break;
        }
        log_.attach(event.worker, status(event.worker).info,
                    status(event.worker).epoch);
        if (options_.verbose > 0) say_progress(event);
        break;
      case net::HostEvent::Kind::kSuspect:
      case net::HostEvent::Kind::kResumed:
        if (options_.verbose > 0) say_progress(event);
    }
  }
}

void WorkerPool::say_progress(const net::HostEvent& event) const {
  const char* what = event.kind == net::HostEvent::Kind::kAttached ? " is here"
                     : event.kind == net::HostEvent::Kind::kSuspect
                         ? " says nothing"
                         : " goes on";
  options_.tell("gt-route: " + describe(event.worker) + what + "\n");
}

// Reports, while workers are waited for, how many are here: on a terminal on
// one line that changes, else with a new line from time to time.
void WorkerPool::say_who_is_here() {
  constexpr int64_t kApart = 3000;  // milliseconds
  static const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  const net::HostState& host = host_->state();
  if (options_.bind.empty() || told_here_ == options_.workers) return;
  const size_t here = host.is_complete() ? options_.workers : host.here();
  if (here == told_here_ || (!is_terminal && net::now_ms() < next_told_))
    return;
  told_here_ = here;
  next_told_ = net::now_ms() + kApart;
  const bool is_all = here == options_.workers;
  std::string text =
      "gt-route: " + std::to_string(here) + " of " +
      std::to_string(options_.workers) +
      (options_.workers == 1 ? " worker is here" : " workers are here");
  if (!is_all) text += "; waits for " + host.who_is_missing();
  options_.tell(text + (is_all ? "\n" : ""));
}

std::string WorkerPool::describe(uint32_t worker) const {
  return net::describe(worker, status(worker).info);
}

void WorkerPool::take_message(uint32_t worker, const net::Message& message) {
  Status taken = ok_status();
  if (message.verb == net::Verb::kResults) {
    workers_[worker].results += message.body.size();
    // A `done` alone is a sign of life, and leaves as much owed.
    workers_[worker].idle_ms = 0;
    taken = sources_.take(worker, message.body);
  } else if (message.verb == net::Verb::kDone) {
    taken = take_done(worker, message);
  } else if (message.verb == net::Verb::kReport) {
    take_report(worker, message);
  } else if (message.verb == net::Verb::kRan) {
    taken = log_.ran(worker, message);
    if (!taken.ok()) taken = Error{"said " + taken.error().message};
  } else if (message.verb == net::Verb::kState) {
    taken = take_used(worker, message.body);
  }
  if (taken.ok()) return;
  lose_worker(worker, describe(worker) + " " + taken.error().message);
}

// The host's state of the worker may be ahead of the messages that are taken
// here one by one, such as a report about a line that is done.
Status WorkerPool::take_done(uint32_t worker, const net::Message& message) {
  // The host has checked it.
  const uint64_t seq = number(message, "seq").value();
  if (Status s = deliveries_.take_done(worker, seq); !s.ok()) return s;
  dispatcher_.done(worker, seq);
  log_.done(worker, status(worker));
  return ok_status();
}

// Workers that share a line report the same failure of it; it is reported to
// people once.
void WorkerPool::take_report(uint32_t worker, const net::Message& message) {
  const Exit exit = status_of(message).value();  // the host has checked it
  client_.worsen(exit);
  const std::string at = message.text("at");
  const auto line = number(message, "line");
  const Place place{std::string_view(at).substr(0, at.rfind(':')),
                    line.ok() ? line.value() : 0};
  if (!at.empty() && !client_.reported.is_first(place, message.body, "")) {
    return;
  }
  // A report of status 0 is not a failure, but a count of repeated failures
  // (Reported::take_counts()). It gets no row in the log.
  if (exit == Exit::kDone) return client_.say(message.body);
  const auto seq = number(message, "seq");
  log_.report(worker, seq.ok() ? seq.value() : status(worker).done_seq,
              static_cast<uint64_t>(exit), message.body);
  client_.tell({exit, message.text("space"), std::string(message.body)});
}

void WorkerPool::take_bye(uint32_t worker, const net::Message& message) {
  workers_[worker].left = true;
  const Exit exit = status_of(message).value();  // the host has checked it
  client_.worsen(exit);
  const uint64_t done = status(worker).done_seq;
  log_.bye(worker, done, static_cast<uint64_t>(exit));
  if (deliveries_.told_end(worker) && deliveries_.has_done_all(worker, done) &&
      !sources_.owes(worker)) {
    return;
  }
  const std::string reason =
      message.body.empty() ? "" : ": " + printable(message.body);
  if (cannot_begin(worker, static_cast<int>(exit))) {
    const std::string why = describe(worker) + " cannot begin" + reason;
    log_.lost(worker, done, why);
    return lose(why, Exit::kUsage);
  }
  lose_worker(worker, describe(worker) + " left" + reason);
}

// True if a worker that gt-route started ends with this status before it has
// done anything, since its options are wrong or this host cannot run it. The
// others have the same options, and no line is to blame.
bool WorkerPool::cannot_begin(uint32_t worker, int status) const {
  return worker < local_.size() && status == static_cast<int>(Exit::kUsage) &&
         host_->state().worker(worker).done_seq == 0;
}

// ---- how they end -----------------------------------------------------------

// Finds workers that do not leave in order. A worker that has done all it was
// sent should soon send what it owes, and say bye once it was told the end. One
// that does not still gives signs of life, so it would be waited for forever.
void WorkerPool::check_idle() {
  // More than this is time that gt-route itself slept.
  constexpr int64_t kMostPassed = 1000;
  const int64_t passed = std::min(
      net::now_ms() - std::exchange(idle_checked_, net::now_ms()), kMostPassed);
  if (is_lost_) return;
  for (uint32_t w = 0; w < workers_.size(); ++w) {
    Worker& worker = workers_[w];
    const bool owes = sources_.owes(w);
    const bool is_waited_for =
        !worker.left && (owes || deliveries_.told_end(w)) &&
        deliveries_.has_done_all(w, status(w).done_seq) &&
        status(w).waits_for.empty();
    worker.idle_ms = is_waited_for ? worker.idle_ms + passed : 0;
    if (worker.idle_ms >= kIdlePatience) {
      lose_worker(w, describe(w) + " has done all it was sent, but has not " +
                         (owes ? "sent the results that it owes" : "said bye") +
                         " for " + seconds_text(kIdlePatience));
    }
  }
}

// Looks for child processes that ended. What such a worker said last may still
// be on its way, so its connection tells whether it left in order; but it is
// not waited for long, and a worker that was killed had nothing left to say.
void WorkerPool::take_ends() {
  constexpr int64_t kPatience = 1000;  // milliseconds
  for (uint32_t w = 0; w < local_.size(); ++w) {
    const LocalWorkers::End* end = local_.see_end(w, 0);
    if (end == nullptr || workers_[w].left) continue;
    const bool was_here = status(w).state != net::WorkerState::kAbsent;
    const bool may_speak = was_here && !end->was_killed;
    if (net::now_ms() < end->at + (may_speak ? kPatience : 0)) continue;
    if (!was_here && !end->was_killed && cannot_begin(w, end->status)) {
      // It has said on standard error what is wrong.
      log_.lost(w, 0, end->how);
      lose(end->how + " before it could begin", Exit::kUsage);
    } else {
      lose_worker(w, end->how);
    }
  }
}

void WorkerPool::lose_worker(uint32_t worker, const std::string& why) {
  // The connection ends a moment before the system can say how the process did.
  constexpr int kMoment = 200;  // milliseconds
  if (is_lost_) return;
  if (worker == net::kNoWorker) {
    // Nothing was begun with this worker: it may come back, or another may
    // come.
    if (host_->state().is_complete()) return lose(why);
    told_here_ = host_->state().here();
    return client_.say("gt-route: " + why + "\n");
  }
  const uint64_t done = status(worker).done_seq;
  log_.lost(worker, done, why);
  const bool is_gone = status(worker).state == net::WorkerState::kLost;
  const LocalWorkers::End* end =
      worker < local_.size() ? local_.see_end(worker, is_gone ? kMoment : 0)
                             : nullptr;
  // One that has left has said why, which says more than its process's end.
  const bool has_said = status(worker).state == net::WorkerState::kLeft;
  const std::string how = end == nullptr || has_said ? why : end->how;
  const std::string what = how + deliveries_.where_was(worker, done, client_);
  const bool has_begun = host_->state().is_complete();
  if (options_.on_loss == OnLoss::kEndRun || !has_begun) return lose(what);
  go_on_without(worker, what, client_.users.is_split() ? how : what);
}

// Fails what the worker owes; values that it alone had fail at the workers that
// need them. If the stream has several users, each one whose lines the worker
// had to do is told, but not at which line the worker was, which may be another
// user's.
void WorkerPool::go_on_without(uint32_t worker, const std::string& what,
                               const std::string& why) {
  if (workers_[worker].is_lost) return;
  workers_[worker].left = workers_[worker].is_lost = true;
  workers_[worker].idle_ms = 0;
  if (std::ranges::all_of(workers_, &Worker::is_lost)) return lose(what);
  client_.worsen(Exit::kLost);
  client_.say("gt-route: " + what + "; the run goes on without it\n");
  for (const std::string& space : dispatcher_.users_of(worker, client_.users)) {
    client_.tell(
        {Exit::kLost, space,
         "gt-route: " + why + ", and had lines of this program to do\n"});
  }
  sources_.lose(worker, why);
  client_.users.fail(worker);
  deliveries_.drop(worker);
  dispatcher_.lose(worker);
  host_->drop(worker, why);
  if (worker < local_.size()) local_.kill(worker);
}

// Ends the run. Only the first loss is reported: later ones follow from it.
void WorkerPool::lose(const std::string& why, Exit status) {
  if (is_lost_) return;
  is_lost_ = true;
  client_.worsen(status);
  client_.say("gt-route: " + why + "\n");
  client_.users.fail(why);
  deliveries_.drop_unsent();
  abort(why);
}

// Workers that we started can be killed, unless they have the rest of a trace
// to write: those leave by themselves when they are told to, and end() waits
// for them.
void WorkerPool::abort(const std::string& why) {
  host_->abort(why);
  if (!options_.traces || !host_->state().is_complete()) local_.kill_all();
}

void WorkerPool::end() {
  host_->linger(kEndWait);
  local_.wait_all(kEndWait);
  for (uint32_t w = 0; w < workers_.size(); ++w) {
    // A worker of the backend null computes nothing: its results are failures,
    // though nothing went wrong.
    const bool computes = status(w).info.backend != "null";
    if (computes && sources_.has_failed(w)) client_.worsen(Exit::kFailed);
  }
}

}  // namespace gt::route
