#include "exec/remote_session.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "exec/comm/peer_link.h"
#include "exec/mailbox.h"
#include "net/endpoint.h"
#include "net/member.h"
#include "net/peers.h"
#include "ops/table.h"
#include "stream/line.h"

namespace gt {
namespace {

using std::chrono::milliseconds;

// Results that wait to be sent; who makes more sleeps.
constexpr size_t kMostWaiting = size_t{16} << 20;
// How often what a worker waits for is told anew.
constexpr int64_t kTell = 500;  // milliseconds
// How long the last messages may take to leave.
constexpr int kLinger = 2000;  // milliseconds
// How long what computes may take to notice that gt-route is gone.
constexpr milliseconds kGrace{300};

// SIGTERM and SIGINT, told to the thread that waits.
std::atomic<int> g_signal{0};
std::atomic<Wake*> g_wake{nullptr};

void on_signal(int signal) {
  g_signal.store(signal);
  if (Wake* wake = g_wake.load()) wake->signal();
}

class SignalGuard {
 public:
  SignalGuard(Wake& wake, bool is_local) {
    g_wake.store(&wake);
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigaction(SIGTERM, &action, nullptr);
    // A terminal's SIGINT reaches a local worker's parent too, which decides.
    if (is_local) action.sa_handler = SIG_IGN;
    sigaction(SIGINT, &action, nullptr);
  }
  SignalGuard(const SignalGuard&) = delete;
  ~SignalGuard() { g_wake.store(nullptr); }
};

// For the thread that decodes: a message with lines, or the end of them.
struct Inbound {
  Letter letter;
  bool is_end = false;
};

std::vector<PeerAddress> addresses_of(const Welcome& welcome) {
  std::vector<PeerAddress> others;
  for (const RosterEntry& entry : welcome.roster) {
    if (entry.worker == welcome.worker) continue;
    others.push_back({entry.worker, entry.data});
  }
  return others;
}

class RemoteSession {
 public:
  RemoteSession(const RemoteOptions& options, const WorkerOptions& worker,
                const std::function<void(std::string_view)>& say)
      : options_(options),
        worker_options_(worker),
        say_(say),
        guard_(wake_, !options.token.empty()) {}

  Exit run(Files files);

 private:
  // ---- the thread that talks to gt-route
  Status join();
  bool await_welcome();
  void wait();
  void talk();
  bool take(MemberEvent& event);
  void send_out();
  void send_done();
  void stop(std::string why);
  Exit end(std::thread& decoder);

  // ---- the thread that decodes
  void work(Files files);
  Status meet_peers(Worker& worker, comm::Link& link, Backend& backend,
                    Arena* arena);
  void work_on(Worker& worker);
  void take_body(Worker& worker, const Letter& letter);
  std::string_view body_of(const Message& message);
  void take_line(Worker& worker, const NumberedLines::Item& item);
  void note_done(Worker& worker);
  void show(Worker* worker);
  void send_report(const Report& report);
  int send_results(std::string_view bytes);
  void leave(Exit status, std::string_view why);

  const RemoteOptions& options_;
  const WorkerOptions& worker_options_;
  const std::function<void(std::string_view)>& say_;
  Wake wake_;
  SignalGuard guard_;
  Context context_;
  std::unique_ptr<Peers> peers_;
  std::unique_ptr<Member> member_;
  Poller poller_;

  Mailbox<Inbound> inbox_{SIZE_MAX};  // credits bound it
  Mailbox<std::string> outbox_{kMostWaiting};
  std::atomic<uint64_t> done_seq_{0};
  std::atomic<uint64_t> done_bytes_{0};
  std::atomic<bool> has_left_{false};
  std::atomic<bool> is_over_{false};  // nothing more is to be decoded
  std::mutex worker_mutex_;
  Worker* worker_ = nullptr;  // while there is one
  Exit status_ = Exit::kDone;

  // Of the thread that talks.
  std::string lost_;  // why it is over
  Exit lost_status_ = Exit::kLost;
  bool is_draining_ = false;
  uint64_t told_seq_ = 0;
  uint64_t told_bytes_ = 0;
  int64_t told_at_ = 0;

  bool has_told_loss_ = false;  // of the queue's thread

  // Of the thread that decodes.
  std::deque<std::string> files_;
  std::unordered_map<std::string, std::string> blocks_;
  uint64_t last_seq_ = 0;
  uint64_t taken_bytes_ = 0;
};

// ---- talking ----------------------------------------------------------------

Status RemoteSession::join() {
  auto peers = Peers::make(context_, options_.endpoint);
  if (!peers.ok()) return peers.error();
  peers_ = std::move(peers.value());
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  MemberOptions member;
  member.info.name = options_.name.empty() ? host : options_.name;
  member.info.rank = options_.rank;
  member.info.host = host;
  member.info.data = peers_->endpoint();
  member.info.pid = static_cast<uint64_t>(::getpid());
  member.info.threads = static_cast<uint64_t>(options_.threads);
  member.info.isa = options_.isa.empty() ? "best" : options_.isa;
  member.info.backend = options_.backend;
  member.table = std::to_string(table_digest());
  member.token = options_.token;
  member.host = options_.endpoint;
  member.connect_limit = options_.patience.count();
  auto made = Member::make(context_, options_.endpoint, std::move(member));
  if (!made.ok()) return made.error();
  member_ = std::move(made.value());
  return ok_status();
}

void RemoteSession::wait() {
  poller_.clear();
  member_->add_to(poller_);
  poller_.add_fd(wake_.fd());
  const int64_t tell = told_at_ + kTell - now_ms();
  poller_.wait(std::max<int64_t>(0, std::min(member_->wait_ms(), tell)));
  wake_.clear();
  member_->step();
}

// False when it does not come; then lost_ says why.
bool RemoteSession::await_welcome() {
  while (!member_->state().is_attached()) {
    told_at_ = now_ms();
    wait();
    if (g_signal.load() != 0) {
      lost_ = "ended by a signal before it was attached";
      lost_status_ = Exit::kInterrupted;
      return false;
    }
    MemberEvent event;
    while (!member_->state().is_attached() && member_->next(event)) {
      if (!take(event)) return false;
    }
  }
  return true;
}

void RemoteSession::stop(std::string why) {
  if (!lost_.empty()) return;
  lost_ = std::move(why);
  is_over_.store(true);
  inbox_.close();
  outbox_.close();
  const std::lock_guard lock(worker_mutex_);
  if (worker_ != nullptr) worker_->abort(lost_);
}

// False when it is over.
bool RemoteSession::take(MemberEvent& event) {
  switch (event.kind) {
    case MemberEvent::Kind::kAttached:
      return true;
    case MemberEvent::Kind::kMessage:
      if (!is_draining_) inbox_.push({std::move(event.letter), false}, 0);
      return true;
    case MemberEvent::Kind::kEnd:
      inbox_.push({{}, true}, 0);
      return true;
    case MemberEvent::Kind::kRefused:
    case MemberEvent::Kind::kAborted:
    case MemberEvent::Kind::kLost:
      stop(std::move(event.why));
      return false;
  }
  return true;
}

void RemoteSession::send_out() {
  std::string message;
  while (member_->can_send() && outbox_.pop(message, milliseconds(0))) {
    member_->send(Frame(std::move(message)));
  }
}

void RemoteSession::send_done() {
  const uint64_t bytes = done_bytes_.load();
  const uint64_t seq = done_seq_.load();
  const int64_t now = now_ms();
  const bool is_new = bytes != told_bytes_ || seq != told_seq_;
  if (!is_new && now - told_at_ < kTell) return;
  std::string waits;
  {
    const std::lock_guard lock(worker_mutex_);
    if (worker_ != nullptr) waits = worker_->waiting();
  }
  member_->give_back(bytes - told_bytes_);
  member_->done(seq, 0, waits);
  told_seq_ = seq;
  told_bytes_ = bytes;
  told_at_ = now;
}

void RemoteSession::talk() {
  for (;;) {
    if (g_signal.load() != 0 && !is_draining_) {
      is_draining_ = true;
      inbox_.push({{}, true}, 0);
    }
    MemberEvent event;
    while (member_->next(event)) {
      if (!take(event)) return;
    }
    const bool is_last = has_left_.load();
    send_done();
    send_out();
    if (is_last && member_->can_send()) return;
    wait();  // last, since lines may have come right behind the welcome
  }
}

// What computes ends with its instruction, or with the process.
Exit RemoteSession::end(std::thread& decoder) {
  if (lost_.empty()) {
    decoder.join();
    member_->linger(kLinger);
    return status_;
  }
  say_("gt-work: " + lost_ + "\n");
  std::atomic<bool> has_ended{false};
  std::thread watch([&has_ended] {
    for (milliseconds waited{0}; waited < kGrace; waited += milliseconds(10)) {
      if (has_ended.load()) return;
      std::this_thread::sleep_for(milliseconds(10));
    }
    std::_Exit(static_cast<int>(Exit::kLost));
  });
  decoder.join();
  has_ended.store(true);
  watch.join();
  return lost_status_;
}

Exit RemoteSession::run(Files files) {
  if (Status s = join(); !s.ok()) {
    say_("gt-work: --connect: " + s.error().message + "\n");
    return Exit::kUsage;
  }
  if (!await_welcome()) {
    say_("gt-work: " + lost_ + "\n");
    return lost_status_;
  }
  std::thread decoder([&] { work(std::move(files)); });
  talk();
  return end(decoder);
}

// ---- decoding ---------------------------------------------------------------

void RemoteSession::send_report(const Report& report) {
  // After the first loss of a peer, others are consequences.
  if (report.status == Exit::kLost && std::exchange(has_told_loss_, true)) {
    return;
  }
  MessageWriter message(Verb::kReport);
  message.field("at", to_string(report.place));
  message.field("line", static_cast<uint64_t>(report.place.line));
  message.field("status", static_cast<uint64_t>(report.status));
  outbox_.push(message.finish(report.text), report.text.size());
  wake_.signal();
}

int RemoteSession::send_results(std::string_view bytes) {
  for (std::string& part : MessageWriter(Verb::kResults).finish_all(bytes)) {
    const size_t size = part.size();
    wake_.signal();  // before it may sleep
    outbox_.push(std::move(part), size);
  }
  wake_.signal();
  return 0;
}

void RemoteSession::take_line(Worker& worker, const NumberedLines::Item& item) {
  constexpr std::string_view kFile = "#file ";
  if (item.text.starts_with(kFile)) {
    files_.push_back(unquote(item.text.substr(kFile.size())));
    return;
  }
  last_seq_ = item.seq;
  worker.line(item.text, &files_.back(), static_cast<uint64_t>(item.line),
              item.seq);
}

// The lines of a message; a block is kept under its id, and found by it.
std::string_view RemoteSession::body_of(const Message& message) {
  if (message.verb == Verb::kLines) return message.body;
  const std::string id = text(message, "id");
  if (message.verb == Verb::kForget) {
    blocks_.erase(id);
    return {};
  }
  if (message.verb == Verb::kBlock) blocks_[id] = message.body;
  const auto it = blocks_.find(id);
  return it == blocks_.end() ? std::string_view() : it->second;
}

void RemoteSession::take_body(Worker& worker, const Letter& letter) {
  const auto seq = number(letter.message, "seq");
  const auto line = number(letter.message, "line");
  NumberedLines lines(body_of(letter.message), seq.ok() ? seq.value() : 0,
                      line.ok() ? static_cast<int64_t>(line.value()) : 0);
  NumberedLines::Item item;
  while (!is_over_.load(std::memory_order_relaxed)) {
    const auto more = lines.next(item);
    if (!more.ok() || !more.value()) break;
    take_line(worker, item);
  }
  taken_bytes_ += letter.bytes;
  note_done(worker);
}

void RemoteSession::note_done(Worker& worker) {
  worker.after_lines([this, seq = last_seq_, bytes = taken_bytes_] {
    done_seq_.store(seq);
    done_bytes_.store(bytes);
    wake_.signal();
  });
}

void RemoteSession::work_on(Worker& worker) {
  Inbound in;
  for (;;) {
    if (!inbox_.pop(in, milliseconds(0))) {
      worker.idle();
      if (!inbox_.pop(in)) return;
    }
    if (in.is_end || is_over_.load()) return;
    take_body(worker, in.letter);
  }
}

Status RemoteSession::meet_peers(Worker& worker, comm::Link& link,
                                 Backend& backend, Arena* arena) {
  const Welcome& welcome = member_->state().welcome();
  if (welcome.workers == 1) return ok_status();
  Attachment attachment{welcome.worker,   welcome.workers, link,
                        backend,          arena,           {},
                        options_.patience};
  attachment.names.resize(welcome.workers);
  for (const RosterEntry& entry : welcome.roster) {
    if (entry.worker < welcome.workers) {
      attachment.names[entry.worker] = entry.name;
    }
  }
  return worker.attach(attachment);
}

void RemoteSession::show(Worker* worker) {
  const std::lock_guard lock(worker_mutex_);
  worker_ = worker;
}

void RemoteSession::leave(Exit status, std::string_view why) {
  MessageWriter bye(Verb::kBye);
  bye.field("status", static_cast<uint64_t>(status));
  outbox_.push(bye.finish(why), why.size());
  status_ = status;
  has_left_.store(true);
  wake_.signal();
}

void RemoteSession::work(Files files) {
  const Welcome& welcome = member_->state().welcome();
  std::unique_ptr<Arena> arena;
  if (welcome.workers > 1) {
    auto made = Arena::make();
    if (made.ok()) arena = std::move(made.value());
  }
  const auto compute = make_backend(
      options_.backend, {options_.threads, options_.isa, arena.get()});
  const auto exchange =
      make_backend(options_.backend, {1, options_.isa, arena.get()});
  for (const auto* made : {&compute, &exchange}) {
    if (!made->ok()) return leave(Exit::kUsage, made->error().message);
  }
  files_.push_back(welcome.file);
  Writer out([this](std::string_view bytes) { return send_results(bytes); });
  comm::PeerLink link(*peers_, welcome.worker, welcome.session,
                      addresses_of(welcome));
  Worker worker(
      *compute.value(), std::move(files), out,
      [this](const Report& report) { send_report(report); }, worker_options_);
  show(&worker);
  if (Status s = meet_peers(worker, link, *exchange.value(), arena.get());
      !s.ok()) {
    show(nullptr);
    return leave(Exit::kLost, s.error().message);
  }
  work_on(worker);
  const Exit status = worker.finish();
  show(nullptr);
  leave(status, is_draining_ ? "ended by a signal" : "");
}

}  // namespace

Exit run_remote_session(const RemoteOptions& options, Files files,
                        const WorkerOptions& worker,
                        const std::function<void(std::string_view)>& say) {
  return RemoteSession(options, worker, say).run(std::move(files));
}

}  // namespace gt
