#include "route/router.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/message.h"
#include "base/text.h"
#include "net/endpoint.h"
#include "ops/table.h"
#include "route/router_loop.h"

namespace gt {
namespace {

// Lines that wait for a worker's credit, before no more input is read.
constexpr size_t kMostUnsent = size_t{2} << 20;
// Results that are owed, or wait for their turn.
constexpr uint64_t kMostResults = uint64_t{64} << 20;
constexpr size_t kMostOut = size_t{256} << 10;  // at a time
// A pipe that can be written to takes so many bytes at once.
constexpr size_t kPipeBytes = 4096;
// Between two looks at everything else.
constexpr int kLinesAtOnce = 4096;
constexpr size_t kLongLine = size_t{1} << 20;
constexpr int64_t kLogPatience = 500;  // milliseconds
constexpr int kEndPatience = 2000;
// Between SIGTERM and the end.
constexpr int64_t kDrainPatience = 10'000;

}  // namespace

Exit run_router(const RouterOptions& options,
                const std::function<void(std::string_view)>& say) {
  return RouterLoop(options, say).run();
}

RouterLoop::RouterLoop(const RouterOptions& options, Client::Say say)
    : options_(options),
      say_(std::move(say)),
      log_(options.log_fd),
      input_(options.files),
      client_(options.workers, say_),
      dispatcher_({.workers = options.workers, .hot = options.hot},
                  log_.is_on() ? [this](const Issue& i) { log_.issue(i); }
                               : Sequencer::Sink()),
      workers_(options.workers) {
  if (!log_.is_on()) return;
  results_ = [this](int64_t worker, uint64_t seq, std::string_view line) {
    log_.result(static_cast<uint32_t>(worker), seq, line);
  };
}

Exit RouterLoop::run() {
  if (Status s = begin(); !s.ok()) {
    say_("gt-route: " + s.error().message + "\n");
    return Exit::kUsage;
  }
  while (!is_over()) {
    wait();
    log_.tick();
    host_->step();
    say_who_is_here();
    take_events();
    take_ends();
    check_idle();
    take_signals();
    read_input();
    send_bodies();
    write_results();
  }
  return end();
}

Status RouterLoop::begin() {
  HostOptions host;
  host.workers = options_.workers;
  host.timing = Timing::with_silence(options_.silence);
  host.table = std::to_string(table_digest());
  host.session = random_token();
  host.anyone = options_.anyone;
  host.file = options_.files.empty() ? "" : options_.files[0];
  if (log_.is_on()) host.clock = wall_clock;
  const bool is_local = options_.bind.empty();
  if (is_local) host.token = random_token();
  const std::string token = host.token;
  auto made = Host::make(context_, is_local ? local_endpoint() : options_.bind,
                         std::move(host), options_.keys, options_.admits);
  if (!made.ok()) return made.error();
  host_ = std::move(made.value());
  deadline_ = now_ms() + int64_t{options_.timeout} * 1000;
  // The connection of each and, of those that are started, its process.
  need_descriptors(size_t{2} * options_.workers + 8);
  if (is_local) {
    return local_.start(options_.workers,
                        {host_->endpoint(), token, options_.worker_arguments});
  }
  options_.tell("gt-route: waits for " + std::to_string(options_.workers) +
                " workers at " + host_->endpoint() + "\n");
  return ok_status();
}

bool RouterLoop::all_left() const {
  for (const Worker& w : workers_) {
    if (!w.left) return false;
  }
  return true;
}

bool RouterLoop::is_over() const {
  if (killed_) return true;
  const bool written = out_.empty() && client_.results.empty();
  return written && (is_lost_ || all_left());
}

bool RouterLoop::wants_input() const {
  return !input_ended_ && host_->state().is_complete() && !who_is_full();
}

// A worker that has no room for what waits for it; kNoWorker: results are not
// read. Until then no more is read.
std::optional<uint32_t> RouterLoop::who_is_full() const {
  if (client_.results.bytes() > kMostResults) return kNoWorker;
  for (uint32_t w = 0; w < workers_.size(); ++w) {
    if (workers_[w].unsent_bytes + dispatcher_.outbox().size(w) > kMostUnsent) {
      return w;
    }
  }
  return std::nullopt;
}

// When it lasts, the log says so.
void RouterLoop::note_full() {
  const auto who = who_is_full();
  const int64_t now = now_ms();
  if (!who) {
    full_since_ = 0;
  } else if (full_since_ == 0) {
    full_since_ = now;
  } else if (now - full_since_ >= kLogPatience && now >= next_flush_) {
    log_.full(*who, now - full_since_);
  }
}

void RouterLoop::wait() {
  poller_.clear();
  host_->add_to(poller_);
  poller_.add_fd(interrupts_.fd());
  const bool reads = wants_input();
  if (reads && input_idle_) poller_.add_fd(input_.fd());
  if (!out_.empty()) poller_.add_fd(STDOUT_FILENO, true);
  for (size_t w = 0; w < local_.size(); ++w) {
    if (local_.fd(w) >= 0) poller_.add_fd(local_.fd(w));
  }
  int64_t limit = host_->wait_ms();
  if (log_.is_on()) {
    note_full();
    if (input_idle_ || now_ms() >= next_flush_) {
      log_.flush();
      next_flush_ = now_ms() + kLogPatience;
    }
  }
  if (!host_->state().is_complete()) {
    limit = std::min(limit, std::max<int64_t>(0, deadline_ - now_ms()));
  }
  if (drained_by_ != 0) {
    limit = std::min(limit, std::max<int64_t>(0, drained_by_ - now_ms()));
  }
  poller_.wait(reads && !input_idle_ ? 0 : limit);
  if (!host_->state().is_complete() && now_ms() >= deadline_) {
    lose("waited " + std::to_string(options_.timeout) + " s for all workers; " +
         host_->state().who_is_here() +
         "; missing: " + host_->state().who_is_missing());
  }
}

void RouterLoop::read_input() {
  input_idle_ = false;
  std::string_view line;
  for (int n = 0; n < kLinesAtOnce; ++n) {
    if ((n & 63) == 0 && !wants_input()) return;
    if (repeat_rounds() && !wants_input()) return;
    switch (input_.next(line)) {
      case RouteInput::Item::kPart:
        if (client_.marks.drops_part(line)) break;
        [[fallthrough]];
      case RouteInput::Item::kLine:
        take_line(line);
        if (has_stopped()) return end_input();
        if (line.size() > kLongLine) return;
        break;
      case RouteInput::Item::kTooLong:
        dispatcher_.reject(client_, line,
                           "the line is over " +
                               std::to_string(Reader::kMaxLine >> 20) + " MiB",
                           input_.number());
        break;
      case RouteInput::Item::kFile:
        dispatcher_.set_file(client_, input_.name());
        break;
      case RouteInput::Item::kNothing:
        input_idle_ = true;
        return;
      case RouteInput::Item::kError:
        has_unread_ = true;
        client_.worsen(Exit::kUsage);
        say_(format_error("gt-route", {input_.name(), 0}, {input_.why(), 0},
                          ""));
        break;
      case RouteInput::Item::kEnd:
        return end_input();
    }
  }
}

// A long one takes its time, in which workers hear of us all the same.
void RouterLoop::take_line(std::string_view line) {
  std::optional<Pulse> pulse;
  if (line.size() > kLongLine) pulse.emplace(*host_);
  dispatcher_.line(client_, line, input_.number());
}

// Rounds that come once more, as far as there is room for them.
bool RouterLoop::repeat_rounds() {
  const Round* round = dispatcher_.round();
  if (round == nullptr) return false;
  const uint64_t most =
      std::min(kMostUnsent / round->text.size(),
               kMostResults / std::max<uint64_t>(1, round->owed_bytes));
  const uint64_t times =
      input_.take(round->text, round->lines, std::max<uint64_t>(1, most));
  if (times > 0) dispatcher_.repeat(client_, times);
  return times > 0;
}

void RouterLoop::end_input() {
  input_ended_ = true;
  // Of what --fail-fast or an error left unread nothing is known.
  if (has_stopped() || has_unread_) return;
  const std::string lost = cut_short_message(
      client_.marks, input_.has_empty_pipe(), input_.number());
  if (lost.empty()) return;
  say_(format_error("gt-route", {input_.name(), 0}, {lost, 0}, ""));
  client_.worsen(Exit::kLost);
}

// The first drains, the second ends all at once. A person who has said SIGINT
// can say it again; whoever says SIGTERM expects an end.
void RouterLoop::take_signals() {
  while (const int signal = interrupts_.take()) {
    killed_ = killed_ || is_interrupted_;
    is_interrupted_ = true;
    input_ended_ = true;
    client_.worsen(Exit::kInterrupted);
    if (signal == SIGTERM && drained_by_ == 0) {
      drained_by_ = now_ms() + kDrainPatience;
    }
  }
  if (drained_by_ != 0 && now_ms() >= drained_by_ && !killed_) {
    killed_ = true;
    say_("gt-route: what was read is not done " + seconds_text(kDrainPatience) +
         " after SIGTERM; ends all the same\n");
  }
  // Nothing was begun, so there is nothing to drain.
  if (is_interrupted_ && !host_->state().is_complete()) killed_ = true;
}

// Only as much as our reader takes without making us wait.
void RouterLoop::write_results() {
  for (;;) {
    if (out_.empty()) client_.results.emit(out_, kMostOut, results_);
    if (out_.empty()) return;
    pollfd p{STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&p, 1, 0) <= 0) return;
    const ssize_t n = ::write(STDOUT_FILENO, out_.data() + written_,
                              std::min(out_.size() - written_, kPipeBytes));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n < 0) return lose_output(std::strerror(errno));
    written_ += static_cast<size_t>(n);
    if (written_ < out_.size()) continue;
    out_.clear();
    written_ = 0;
  }
}

void RouterLoop::lose_output(const char* why) {
  out_.clear();
  written_ = 0;
  killed_ = true;
  client_.worsen(Exit::kUsage);
  say_(std::string("gt-route: cannot write standard output: ") + why + "\n");
}

Exit RouterLoop::end() {
  if (killed_ && !is_lost_) abort_workers("gt-route ended before its time");
  host_->linger(kEndPatience);
  local_.wait_all(kEndPatience);
  if (options_.verbose > 0) {
    options_.tell("gt-route: " + std::to_string(client_.lines) + " lines, " +
                  std::to_string(dispatcher_.decoded()) + " decoded, " +
                  std::to_string(client_.repeated) +
                  " in rounds that came again, " +
                  std::to_string(dispatcher_.issued()) + " issued\n");
  }
  const std::string counts =
      client_.reported.take_counts("gt-route", client_.marks.opened());
  if (!counts.empty()) say_(counts);
  for (uint32_t w = 0; w < workers_.size(); ++w) {
    // Who computes nothing has nothing but failures to send.
    const bool computes = host_->state().worker(w).info.backend != "null";
    if (computes && client_.results.has_failed(w)) {
      client_.worsen(Exit::kFailed);
    }
  }
  client_.worsen(client_.marks.status());
  log_.end(client_.status);
  if (log_.errno_value() != 0) {
    say_(std::string("gt-route: --log: ") + std::strerror(log_.errno_value()) +
         "\n");
    client_.worsen(Exit::kUsage);
  }
  return client_.status;
}

}  // namespace gt
