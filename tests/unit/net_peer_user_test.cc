// The user to whom the other end of a connection belongs. Tests with a process
// of another user need root.
#include "net/peer_user.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>

#include "base/random_token.h"
#include "net/endpoint.h"
#include "net/peers.h"

namespace gt::net {
namespace {

constexpr uid_t kNobody = 65534;

// A process of that user, which does `work`, says that it has, goes on with
// `after`, and waits to be ended.
class Other {
 public:
  Other(
      uid_t user, const std::function<void()>& work,
      const std::function<void()>& after = [] {}) {
    int pipe[2];
    GT_CHECK(::pipe(pipe) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      if (::setresuid(user, user, user) != 0) ::_exit(1);
      work();
      if (::write(pipe[1], "", 1) != 1) ::_exit(1);
      after();
      for (;;) ::pause();
    }
    ::close(pipe[1]);
    char byte = 0;
    is_ready_ = ::read(pipe[0], &byte, 1) == 1;
    ::close(pipe[0]);
  }
  ~Other() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  bool is_ready() const { return is_ready_; }

 private:
  pid_t pid_;
  bool is_ready_ = false;
};

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* raw() { return reinterpret_cast<sockaddr*>(&storage); }
};

Address four() {
  Address out;
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::memcpy(&out.storage, &in, out.size = sizeof in);
  return out;
}

Address six(const char* text) {
  Address out;
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  ::inet_pton(AF_INET6, text, &in.sin6_addr);
  std::memcpy(&out.storage, &in, out.size = sizeof in);
  return out;
}

Address unix_socket() {
  Address out;
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  const std::string name = "gt-test-" + random_token();
  std::memcpy(un.sun_path + 1, name.data(), name.size());
  out.size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  std::memcpy(&out.storage, &un, out.size);
  return out;
}

class PeerUser : public testing::TestWithParam<const char*> {
 protected:
  static Address address() {
    const std::string kind = GetParam();
    return kind == "unix"   ? unix_socket()
           : kind == "four" ? four()
           : kind == "six"  ? six("::1")
                            : six("::ffff:127.0.0.1");
  }
  static int socket_for(const Address& at) {
    return ::socket(at.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  }
  static int connected(Address at) {
    const int fd = socket_for(at);
    return ::connect(fd, at.raw(), at.size) == 0 ? fd : -1;
  }
  void SetUp() override {
    at_ = address();
    listener_ = socket_for(at_);
    if (::bind(listener_, at_.raw(), at_.size) != 0 ||
        ::listen(listener_, 5) != 0) {
      GTEST_SKIP() << "this machine has no such address";
    }
    ::getsockname(listener_, at_.raw(), &at_.size);
  }
  void TearDown() override { ::close(listener_); }

  Address at_;
  int listener_ = -1;
};

TEST_P(PeerUser, OurOwnUserIsToldFromBothEnds) {
  const int out = connected(at_);
  const int in = ::accept(listener_, nullptr, nullptr);
  EXPECT_EQ(check_peer(out).is, PeerIs::kSameUser) << check_peer(out).why;
  EXPECT_EQ(check_peer(in).is, PeerIs::kSameUser) << check_peer(in).why;
  ::close(out);
  ::close(in);
}

TEST_P(PeerUser, AnotherUserThatConnectsIsTold) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user's process needs root";
  const Other other(kNobody, [this] { connected(at_); });
  ASSERT_TRUE(other.is_ready());
  const int in = ::accept(listener_, nullptr, nullptr);
  const PeerCheck check = check_peer(in);
  EXPECT_EQ(check.is, PeerIs::kOther);
  EXPECT_EQ(check.why, "it belongs to user 65534, and this is user 0");
  ::close(in);
}

TEST_P(PeerUser, AnotherUserThatListensIsTold) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user's process needs root";
  ::close(listener_);
  listener_ = -1;
  int fd = -1;
  const auto listen = [&] {
    fd = socket_for(at_);
    const int yes = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(fd, at_.raw(), at_.size) != 0 || ::listen(fd, 5) != 0) {
      ::_exit(1);
    }
  };
  const Other other(kNobody, listen, [&] { ::accept(fd, nullptr, nullptr); });
  ASSERT_TRUE(other.is_ready());
  const int out = connected(at_);
  ASSERT_GE(out, 0);
  PeerCheck check = check_peer(out);
  // Until a tcp connection is accepted, its other end belongs to nobody.
  for (int i = 0; i < 1000 && check.is == PeerIs::kGone; ++i) {
    ::usleep(10000);
    check = check_peer(out);
  }
  EXPECT_EQ(check.is, PeerIs::kOther) << check.why;
  ::close(out);
}

TEST_P(PeerUser, AnEndThatHasGoneIsNobodys) {
  const int out = connected(at_);
  const int in = ::accept(listener_, nullptr, nullptr);
  ::close(out);
  // A Unix socket keeps who the other end was.
  if (std::string(GetParam()) != "unix") {
    EXPECT_EQ(check_peer(in).is, PeerIs::kGone);
  }
  ::close(in);
  EXPECT_EQ(check_peer(in).is, PeerIs::kGone);
  EXPECT_EQ(check_peer(STDERR_FILENO).is, PeerIs::kGone);
}

INSTANTIATE_TEST_SUITE_P(Links, PeerUser,
                         testing::Values("unix", "four", "six", "mapped"),
                         [](const auto& p) { return std::string(p.param); });

// A worker that finds a process of another user in the place of a worker says
// nothing to it, and that worker is lost.
TEST(PeerUserOfPeers, NoHelloIsSaidToAnotherUsersProcess) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user's process needs root";
  Address at = unix_socket();
  const std::string name(reinterpret_cast<sockaddr_un*>(&at.storage)->sun_path +
                         1);
  const Other other(kNobody, [&at] {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::bind(fd, at.raw(), at.size) != 0 || ::listen(fd, 5) != 0) ::_exit(1);
  });
  ASSERT_TRUE(other.is_ready());
  Context context;
  auto peers = std::move(Peers::make(context, "ipc://@x").value());
  const std::string endpoint = "ipc://@" + name;
  ASSERT_TRUE(peers->connect(0, "secret", {{1, endpoint, {}}}).ok());
  PeerEvent event;
  const int64_t end = now_ms() + 20000;
  while (!peers->receive(event)) {
    ASSERT_LT(now_ms(), end);
    Poller poller;
    poller.add_socket(peers->monitor());
    poller.wait(100);
  }
  EXPECT_EQ(event.kind, PeerEvent::Kind::kLost);
  EXPECT_EQ(event.worker, 1u);
  EXPECT_NE(event.header.find("belongs to user 65534"), std::string::npos)
      << event.header;
  EXPECT_FALSE(peers->send(1, "tag"));
}

}  // namespace
}  // namespace gt::net
