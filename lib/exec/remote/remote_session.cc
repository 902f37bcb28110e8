#include "exec/remote/remote_session.h"

#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <thread>

#include "exec/remote/attaching.h"
#include "exec/remote/channel.h"
#include "exec/remote/remote_worker.h"

namespace gt::exec {
namespace {

using std::chrono::milliseconds;

// How often progress is sent although nothing new is done: it says what the
// worker waits for.
constexpr int64_t kProgress = 500;  // milliseconds
// How long the computing threads may take to notice that gt-route is gone.
constexpr milliseconds kGrace{300};
// How long a process may take to end after its connections have ended.
constexpr milliseconds kParentEnds{200};

// A worker that gt-route started is killed when gt-route ends, for example
// because the reader of its output closed the pipe. The connection ends a
// moment before that, which is then not worth a message.
void await_parents_end() {
  int signal = 0;
  if (::prctl(PR_GET_PDEATHSIG, &signal) != 0 || signal == 0) return;
  std::this_thread::sleep_for(kParentEnds);
}

// The part of the worker that runs on the thread that talks to gt-route, so
// that gt-route is answered however long an instruction takes.
class RemoteSession {
 public:
  RemoteSession(const RemoteOptions& options, const WorkerOptions& worker,
                const std::function<void(std::string_view)>& say)
      : options_(options),
        worker_options_(worker),
        say_(say),
        guard_(channel_.wake, !options.token.empty()) {}

  Exit run(Files files);

 private:
  // The progress that gt-route was sent last (send_done()).
  struct Progress {
    uint64_t seq = 0;    // the instruction up to which all are done
    uint64_t done = 0;   // the Channel::done_seq from which seq was computed
    uint64_t bytes = 0;  // Channel::done_bytes
    int64_t at = 0;      // when it was sent, in now_ms()
  };

  Status join();
  bool await_welcome();
  void wait();
  void talk();
  bool take(net::MemberEvent& event);
  void send_out();
  comm::Waiting waiting();
  void send_done();
  void send_ran(std::string_view rows);
  void send_used(bool is_last);
  void stop(std::string why);
  Exit end(std::thread& decoder);

  const RemoteOptions& options_;
  const WorkerOptions& worker_options_;
  const std::function<void(std::string_view)>& say_;
  Channel channel_;
  SignalGuard guard_;
  net::Context context_;
  std::unique_ptr<net::Peers> peers_;
  std::unique_ptr<net::Member> member_;
  net::Poller poller_;
  std::optional<RanLog> ran_;  // set once attached

  std::string lost_;      // why it ended early, or ""
  bool is_told_ = false;  // people were told why
  Exit lost_status_ = Exit::kLost;
  uint64_t sent_reports_ = 0;
  Progress sent_;
  bool is_metered_ = false;  // the time of each op is measured
  int64_t used_at_ = 0;      // when gt-route was last sent the use, in now_ms()
};

Status RemoteSession::join() {
  auto peers = net::Peers::make(context_, options_.endpoint, options_.trust);
  if (!peers.ok()) return peers.error();
  peers_ = std::move(peers.value());
  net::MemberOptions member = member_options(options_);
  member.info.data = peers_->endpoint();
  auto made = net::Member::make(context_, options_.endpoint, std::move(member));
  if (!made.ok()) return made.error();
  member_ = std::move(made.value());
  return ok_status();
}

void RemoteSession::wait() {
  poller_.clear();
  member_->add_to(poller_);
  poller_.add_fd(channel_.wake.fd());
  const int64_t left = sent_.at + kProgress - net::now_ms();
  poller_.wait(std::max<int64_t>(0, std::min(member_->wait_ms(), left)));
  channel_.wake.clear();
  member_->step();
}

// Waits for the welcome. False if it does not come; lost_ then says why.
bool RemoteSession::await_welcome() {
  while (!member_->state().is_attached()) {
    sent_.at = net::now_ms();
    wait();
    if (SignalGuard::is_told()) {
      lost_ = "ended by a signal before it was attached";
      lost_status_ = Exit::kInterrupted;
      return false;
    }
    net::MemberEvent event;
    while (!member_->state().is_attached() && member_->next(event)) {
      if (!take(event)) return false;
    }
  }
  return true;
}

void RemoteSession::stop(std::string why) {
  if (!lost_.empty()) return;
  lost_ = std::move(why);
  channel_.stop(lost_);
}

// Handles an event. False if the session is over.
bool RemoteSession::take(net::MemberEvent& event) {
  switch (event.kind) {
    case net::MemberEvent::Kind::kAttached:
      return true;
    case net::MemberEvent::Kind::kMessage: {
      const size_t bytes = event.owned.message.body.size();
      if (channel_.inbox.bytes() + bytes > Channel::kMostInbox) {
        stop("gt-route at " + options_.endpoint +
             " sent more lines than there is room for");
        return false;
      }
      if (!channel_.is_draining)
        channel_.inbox.push({std::move(event.owned), false}, bytes);
      return true;
    }
    case net::MemberEvent::Kind::kEnd:
      channel_.inbox.push({std::move(event.owned), true}, 0);
      return true;
    case net::MemberEvent::Kind::kPeerLost:
      channel_.lose(event.worker, event.why);
      return true;
    case net::MemberEvent::Kind::kAborted:
      is_told_ = !options_.token.empty();  // the parent has said why
      [[fallthrough]];
    case net::MemberEvent::Kind::kRefused:
    case net::MemberEvent::Kind::kLost:
      stop(std::move(event.why));
      return false;
  }
  return true;
}

void RemoteSession::send_out() {
  Outbound out;
  while (member_->can_send() && channel_.outbox.pop(out, milliseconds(0))) {
    if (out.is_report) ++sent_reports_;
    member_->send(net::Frame(std::move(out.message)));
  }
}

// Returns what the worker waits for: for other workers or, when all lines have
// run, for its saves and its readers.
comm::Waiting RemoteSession::waiting() {
  comm::Waiting waits;
  channel_.with_worker([&](Worker& worker) {
    waits = worker.waiting();
    const int64_t since = channel_.finishes_since.load();
    if (!waits.what.empty() || since == 0) return;
    waits = {"what it saves to be written, and what it made to be read",
             net::now_ms() - since, 0};
  });
  return waits;
}

// gt-route must get the reports of failed lines before it hears that the lines
// are done. So reports are sent first, and while one cannot be sent, no more
// lines are said to be done.
void RemoteSession::send_done() {
  const uint64_t bytes = channel_.done_bytes.load();
  const uint64_t done = channel_.done_seq.load();
  const int64_t now = net::now_ms();
  const bool is_new = bytes != sent_.bytes || done != sent_.done;
  if (!is_new && now - sent_.at < kProgress) return;
  const comm::Waiting waits = waiting();
  uint64_t seq = std::max(done, sent_.seq);
  // Includes the lines that have run of a message that is not finished yet.
  channel_.with_worker(
      [&seq](Worker& worker) { seq = std::max(seq, worker.ran_up_to()); });
  const uint64_t reports = channel_.reports.load();
  const std::string rows = ran_->take();
  send_out();
  send_ran(rows);
  if (sent_reports_ < reports) seq = sent_.seq;
  member_->give_back(bytes - sent_.bytes);
  member_->done(seq, static_cast<uint64_t>(waits.ms), waits.what, waits.seq);
  sent_ = {seq, done, bytes, now};
}

// Sends the worker's use while somebody watches: at once, and then every
// kProgress ms.
void RemoteSession::send_used(bool is_last) {
  const bool is_watched = member_->state().is_watched();
  if (!is_watched && !is_metered_) return;
  const int64_t now = net::now_ms();
  const bool is_due =
      is_last || is_watched != is_metered_ || now - used_at_ >= kProgress;
  if (!is_due) return;
  std::string body;
  channel_.with_worker([&](Worker& worker) {
    worker.watch(is_watched);
    is_metered_ = is_watched;
    net::append_used(body, worker.meter().used());
  });
  if (is_last) body = channel_.used;
  if (!body.empty()) member_->used(body);
  used_at_ = now;
}

// Must be called before the `done` that says that these lines have run.
void RemoteSession::send_ran(std::string_view rows) {
  constexpr size_t kMost = net::kMaxBody / 2;
  while (!rows.empty()) {
    const size_t size =
        rows.size() <= kMost ? rows.size() : rows.rfind('\n', kMost) + 1;
    member_->ran(rows.substr(0, size));
    rows.remove_prefix(size);
  }
}

void RemoteSession::talk() {
  for (;;) {
    if (SignalGuard::is_told() && !channel_.is_draining) {
      channel_.is_draining = true;
      channel_.inbox.push({{}, true}, 0);
    }
    net::MemberEvent event;
    while (member_->next(event)) {
      if (!take(event)) return;
    }
    const bool is_last = channel_.has_left.load();
    send_used(is_last);
    send_done();
    // These are rows of exchanges that compute did not wait for.
    if (is_last) send_ran(ran_->take());
    send_out();
    if (is_last && member_->can_send())
      return member_->bye(channel_.status, channel_.farewell);
    // This is at the end of the loop, since lines may have come with the
    // welcome.
    wait();
  }
}

// Ends the session. If it was lost, the computing threads end after their
// instruction, or with the process.
Exit RemoteSession::end(std::thread& decoder) {
  if (lost_.empty()) {
    decoder.join();
    member_->await_answer(kLinger);
    member_->linger(kLinger);
    return channel_.status;
  }
  if (!is_told_) {
    await_parents_end();
    say_("gt-work: " + lost_ + "\n");
  }
  std::atomic<bool> has_ended{false};
  std::thread watch([this, &has_ended] {
    for (milliseconds waited{0}; waited < kGrace; waited += milliseconds(10)) {
      if (has_ended.load()) return;
      std::this_thread::sleep_for(milliseconds(10));
    }
    options_.end_process();
  });
  decoder.join();
  has_ended.store(true);
  watch.join();
  return lost_status_;
}

Exit RemoteSession::run(Files files) {
  // A worker that cannot compute takes no other worker's place. One that
  // gt-route started attaches to tell gt-route why (RemoteWorker::run()).
  std::unique_ptr<Backend> opened;
  if (options_.token.empty()) {
    auto made = RemoteWorker::open_backend(options_);
    if (!made.ok()) {
      say_("gt-work: " + made.error().message + "\n");
      return Exit::kUsage;
    }
    opened = std::move(made.value());
  }
  if (Status s = join(); !s.ok()) {
    say_("gt-work: --connect: " + s.error().message + "\n");
    return Exit::kUsage;
  }
  if (!await_welcome()) {
    if (!is_told_) say_("gt-work: " + lost_ + "\n");
    return lost_status_;
  }
  ran_.emplace(member_->state().is_logged(), worker_options_.trace);
  RemoteWorker worker(options_, worker_options_, member_->state().welcome(),
                      *peers_, *ran_, channel_, say_);
  std::thread decoder([&] { worker.run(std::move(files), std::move(opened)); });
  talk();
  return end(decoder);
}

}  // namespace

Exit run_remote_session(const RemoteOptions& options, Files files,
                        const WorkerOptions& worker,
                        const std::function<void(std::string_view)>& say) {
  return RemoteSession(options, worker, say).run(std::move(files));
}

}  // namespace gt::exec
