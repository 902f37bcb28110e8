// light_members N ENDPOINT [NAME]: N workers in one process that compute
// nothing, called NAME.0, NAME.1 and so on. Each is attached to gt-route over
// its own connection, checks that the lines it is sent continue where the last
// ended, gives the credit back, and answers every print of its ranks with a
// failure that says so. They show what it takes to dispatch to a thousand
// workers, without the machines. GT_SILENCE is as for gt-work.
#include <sys/epoll.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/message.h"
#include "base/shortage.h"
#include "base/text.h"
#include "exec/decode/hosting.h"
#include "exec/remote/attaching.h"
#include "line_check.h"
#include "net/control_lines.h"
#include "spmd/labels.h"

namespace gt::exec {
namespace {

// Milliseconds between checks which members' beats are due.
constexpr int64_t kLook = 100;

constexpr std::string_view kAnswer =
    "not computed: its worker checks what it is sent and computes nothing";

void say(const std::string& message) {
  std::fprintf(stderr, "light_members: %s\n", message.c_str());
}

// Waits for very many sockets. The cost of a wait grows only with the number of
// sockets to which something happened. ZeroMQ signals that only once, so
// everything must be received from a socket that wait() names, and the socket
// must be checked again after each send.
class ManyPoller {
 public:
  ManyPoller();
  ManyPoller(const ManyPoller&) = delete;
  ManyPoller& operator=(const ManyPoller&) = delete;
  ~ManyPoller();
  void add_socket(void* socket, uint32_t key);
  void add_fd(int fd, uint32_t key);
  // Waits as Poller does. Returns the keys of sockets to which something
  // happened; if there are very many, the rest come next time.
  const std::vector<uint32_t>& wait(int64_t limit_ms);

 private:
  int epoll_;
  std::vector<uint32_t> keys_;
};

ManyPoller::ManyPoller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) fail_short("cannot make a descriptor that waits");
}

ManyPoller::~ManyPoller() { ::close(epoll_); }

void ManyPoller::add_socket(void* socket, uint32_t key) {
  int fd = -1;
  size_t size = sizeof fd;
  GT_CHECK(zmq_getsockopt(socket, ZMQ_FD, &fd, &size) == 0);
  add_fd(fd, key);
}

void ManyPoller::add_fd(int fd, uint32_t key) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = key;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) {
    fail_short("cannot wait for one more descriptor");
  }
}

const std::vector<uint32_t>& ManyPoller::wait(int64_t limit_ms) {
  epoll_event events[256];
  keys_.clear();
  const int n = ::epoll_wait(epoll_, events, 256, static_cast<int>(limit_ms));
  GT_CHECK(n >= 0 || errno == EINTR);
  for (int i = 0; i < n; ++i) keys_.push_back(events[i].data.u32);
  return keys_;
}

// One light member.
class LightMember {
 public:
  LightMember(std::unique_ptr<net::Member> member, net::BodyPool& pool)
      : member_(std::move(member)),
        check_(pool, [this](std::string_view line) { return handle(line); }) {}

  void add_to(ManyPoller& poller, uint32_t key) const {
    member_->each_socket([&](void* socket) { poller.add_socket(socket, key); });
  }
  bool is_time() const { return member_->wait_ms() == 0; }
  bool has_left() const { return has_left_; }
  // Handles everything that has come and sends what is due. Error: why the
  // member must end.
  Status step();
  void leave(Exit status, std::string_view why);
  // Waits for the answer to its bye, until `until` (in now_ms()) at most, which
  // is one limit for all members.
  void close(int64_t until) {
    member_->await_answer(until - net::now_ms());
    member_->linger(kLinger);
  }

 private:
  Status take(const net::MemberEvent& event);
  Status handle(std::string_view line);
  Status check_fence(const net::FenceLine& fence) const;
  Status answer(std::string_view line);
  bool say_progress();  // false if there was none

  std::unique_ptr<net::Member> member_;
  net::LineCheck check_;
  std::unique_ptr<Hosting> hosting_;
  std::string results_;
  size_t bytes_ = 0;  // of credit, taken and not given back yet
  bool has_left_ = false;
};

Status LightMember::step() {
  for (bool again = true; again;) {
    again = is_time() && !has_left_;
    member_->step();
    net::MemberEvent event;
    while (!has_left_ && member_->can_send() && member_->next(event)) {
      if (Status s = take(event); !s.ok()) return s;
      again = true;
    }
    again = say_progress() || again;
  }
  return ok_status();
}

Status LightMember::take(const net::MemberEvent& event) {
  switch (event.kind) {
    case net::MemberEvent::Kind::kAttached: {
      const net::Welcome& welcome = member_->state().welcome();
      hosting_ = std::make_unique<Hosting>(welcome.worker, welcome.workers);
      return ok_status();
    }
    case net::MemberEvent::Kind::kMessage:
    case net::MemberEvent::Kind::kEnd: {
      Status status = check_.take(event.owned.message);
      if (!status.ok()) {
        return Error{"worker " + std::to_string(hosting_->self()) + ": " +
                     status.error().message};
      }
      bytes_ += event.owned.bytes;
      if (event.kind == net::MemberEvent::Kind::kEnd) leave(Exit::kDone, "");
      return ok_status();
    }
    case net::MemberEvent::Kind::kPeerLost:
      return ok_status();
    default:
      return Error{event.why};
  }
}

Status LightMember::handle(std::string_view line) {
  if (net::is_ranks_line(line)) {
    const auto ranks = net::parse_ranks_line(line);
    return ranks.ok() ? hosting_->take(ranks.value()) : ranks.error();
  }
  if (net::is_fence_line(line)) {
    const auto fence = net::parse_fence_line(line);
    return fence.ok() ? check_fence(fence.value()) : fence.error();
  }
  return answer(line);
}

// Error: the fence does not name this worker, although it is sent only to the
// workers that it names.
Status LightMember::check_fence(const net::FenceLine& fence) const {
  const unsigned self = hosting_->self();
  const bool is_for_self =
      fence.from == self || std::ranges::count(fence.to, self) > 0;
  if (is_for_self) return ok_status();
  std::string list = std::to_string(fence.from) + ",";
  for (const uint32_t to : fence.to) list += std::to_string(to) + ",";
  return Error{"a fence for " + excerpt(list) + " not for this worker"};
}

Status LightMember::answer(std::string_view text) {
  Line line;
  if (Status s = parse_line(text, line); !s.ok()) return s;
  const auto is_mine = [&](int64_t rank) {
    return hosting_->is_mine(space_name(line), rank);
  };
  for (const std::string& label : print_labels(line, is_mine)) {
    results_.append(label).append(" = fail ").append(quote(kAnswer));
    results_ += '\n';
  }
  return ok_status();
}

// Sends results and progress once for everything taken in a step.
bool LightMember::say_progress() {
  each_results_message(results_, [this](std::string message, size_t) {
    member_->send(net::Frame(std::move(message)));
  });
  results_.clear();
  if (bytes_ == 0) return false;
  member_->give_back(std::exchange(bytes_, 0));
  member_->done(check_.last_seq());
  return true;
}

void LightMember::leave(Exit status, std::string_view why) {
  say_progress();
  member_->bye(status, why);
  has_left_ = true;
}

// All light members, run in the caller's thread.
class LightMembers {
 public:
  explicit LightMembers(const RemoteOptions& options)
      : options_(options), guard_(wake_, false) {}
  Exit run(uint32_t workers);

 private:
  Status join(uint32_t number);
  void step(uint32_t number);
  bool all_left() const;

  const RemoteOptions& options_;
  net::Wake wake_;
  SignalGuard guard_;
  net::Context context_;
  net::BodyPool pool_;
  std::vector<std::unique_ptr<LightMember>> members_;
  ManyPoller poller_;
  std::string why_;            // why it ended early, or ""
  Exit status_ = Exit::kLost;  // the exit status in that case
};

Status LightMembers::join(uint32_t number) {
  net::MemberOptions member = member_options(options_);
  member.info.name += "." + std::to_string(number);
  if (member.info.rank.has_value()) *member.info.rank += number;
  member.info.threads = 0;
  member.info.isa = "none";
  auto made = net::Member::make(context_, options_.endpoint, std::move(member));
  if (!made.ok()) return made.error();
  members_.push_back(
      std::make_unique<LightMember>(std::move(made.value()), pool_));
  members_.back()->add_to(poller_, number);
  return ok_status();
}

void LightMembers::step(uint32_t number) {
  LightMember& member = *members_[number];
  Status status = member.step();
  if (status.ok()) return;
  if (why_.empty()) why_ = status.error().message;
  if (!member.has_left()) member.leave(Exit::kLost, why_);
}

bool LightMembers::all_left() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& member) { return member->has_left(); });
}

Exit LightMembers::run(uint32_t workers) {
  for (uint32_t n = 0; n < workers; ++n) {
    if (Status s = join(n); !s.ok()) {
      say(s.error().message);
      return Exit::kUsage;
    }
  }
  poller_.add_fd(wake_.fd(), workers);
  int64_t look_at = 0;
  while (why_.empty() && !all_left()) {
    for (const uint32_t key :
         poller_.wait(std::max<int64_t>(0, look_at - net::now_ms()))) {
      if (key < workers) step(key);
    }
    wake_.clear();
    if (SignalGuard::is_told()) {
      why_ = "ended by a signal";
      status_ = Exit::kInterrupted;
    }
    if (net::now_ms() < look_at) continue;
    look_at = net::now_ms() + kLook;
    for (uint32_t n = 0; n < workers; ++n) {
      if (members_[n]->is_time()) step(n);
    }
  }
  for (const auto& member : members_) {
    if (!member->has_left()) member->leave(status_, why_);
  }
  const int64_t until = net::now_ms() + kLinger;
  for (const auto& member : members_) member->close(until);
  if (why_.empty()) return Exit::kDone;
  say(why_);
  return status_;
}

}  // namespace
}  // namespace gt::exec

int main(int argc, char** argv) {
  uint32_t workers = 0;
  if (argc < 3 || !gt::read_number(argv[1], workers)) {
    gt::exec::say("usage: light_members N ENDPOINT [NAME]");
    return static_cast<int>(gt::Exit::kUsage);
  }
  gt::exec::RemoteOptions options;
  options.endpoint = argv[2];
  if (argc > 3) options.name = argv[3];
  options.backend = "null";
  double silence = 0;
  const char* said = std::getenv("GT_SILENCE");
  if (said != nullptr && gt::read_number(said, silence)) {
    options.silence = static_cast<int64_t>(silence * 1000);
  }
  return static_cast<int>(gt::exec::LightMembers(options).run(workers));
}
