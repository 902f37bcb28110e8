// Garbage that strangers send to gt-route is not delivered and costs no
// descriptor, and the attached worker does not notice.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "net_harness.h"

namespace gt::net {
namespace {

using namespace std::string_literals;
using Kind = HostEvent::Kind;

// A connection that sends bytes without ZeroMQ.
class RawLink {
 public:
  explicit RawLink(const std::string& endpoint) {
    const bool is_local = endpoint.starts_with("ipc://@");
    fd_ = ::socket(is_local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    is_local ? connect_local(endpoint) : connect_tcp(endpoint);
    ::fcntl(fd_, F_SETFL, O_NONBLOCK);
  }
  RawLink(RawLink&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  RawLink(const RawLink&) = delete;
  ~RawLink() {
    if (fd_ >= 0) ::close(fd_);
  }
  // The answer to a greeting is read before anything else is said.
  void greet() {
    say("\xff\0\0\0\0\0\0\0\x01\x7f"s);
    say("\x03\0NULL"s + std::string(48, '\0'));
    char answer[64];
    size_t got = 0;
    pollfd wait{fd_, POLLIN, 0};
    while (got<sizeof answer&& ::poll(&wait, 1, 10000)> 0) {
      const ssize_t n = ::recv(fd_, answer + got, sizeof answer - got, 0);
      if (n <= 0) return;
      got += static_cast<size_t>(n);
    }
  }
  // Says as much as the other end takes; it may have closed the connection.
  void say(std::string_view bytes) {
    [[maybe_unused]] const auto n =
        ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  bool is_closed() {
    char bytes[256];
    ssize_t n;
    while ((n = ::recv(fd_, bytes, sizeof bytes, 0)) > 0) {
    }
    return n == 0 || errno != EAGAIN;
  }

 private:
  void connect_local(const std::string& endpoint) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string_view name = std::string_view(endpoint).substr(7);
    name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    const auto size = offsetof(sockaddr_un, sun_path) + 1 + name.size();
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    ::connect(fd_, to, static_cast<socklen_t>(size));
  }
  void connect_tcp(const std::string& endpoint) {
    const auto colon = endpoint.rfind(':');
    const auto port = std::stoi(endpoint.substr(colon + 1));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    ::connect(fd_, to, sizeof address);
  }

  int fd_ = -1;
};

std::string frame(std::string_view body) {
  return "\0"s + static_cast<char>(body.size()) + std::string(body);
}

// The rest of the handshake of ZMTP 3.0 (RFC 23) after the greeting, for a
// DEALER that calls itself `identity`.
std::string handshake(std::string_view identity = "") {
  std::string ready = "\x05READY\x0bSocket-Type\0\0\0\x06"s + "DEALER";
  if (!identity.empty()) {
    ready += "\x08Identity\0\0\0"s + static_cast<char>(identity.size()) +
             std::string(identity);
  }
  return "\x04"s + static_cast<char>(ready.size()) + ready;
}

// What a port scanner, a browser or an attacker might say, by kind.
std::string garbage(int kind, std::mt19937& random) {
  switch (kind) {
    case 0:
      return "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    case 1:  // the beginning of a TLS hello
      return "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s +
             std::string(500, '\x5a');
    case 2: {
      std::string bytes(1 + random() % 2000, '\0');
      for (char& c : bytes) c = static_cast<char>(random());
      return bytes;
    }
    case 3:  // a frame of 2^63 - 1 bytes
      return handshake() + "\x02\x7f\xff\xff\xff\xff\xff\xff\xff"s + "x";
    case 4:  // one byte more than is allowed
      return handshake() + "\x02\0\0\0\0\0\x10\0\x01"s + std::string(1000, 'x');
    case 5:  // a frame that is cut short
      return handshake() + "\0\x40hello version=1"s;
    case 6:  // good frames without a hello
      return handshake() + frame("results size=2\nr\n") + frame("") +
             frame("done seq=1 bytes=0 wait=0 size=0\n");
    case 7:  // a hello in two parts
      return handshake() + "\x01\x05hello"s + frame(" size=0\n");
    case 8:  // a name that another connection has
      return handshake("\0\0\0\0\x01"s) + frame("bye status=0 size=0\n");
    default:  // a handshake that is cut short
      return handshake().substr(0, random() % 30);
  }
}
constexpr int kKinds = 10;
constexpr int kFirstGreeting = 3;

RawLink stranger(const std::string& endpoint, int kind, std::mt19937& random) {
  RawLink link(endpoint);
  if (kind >= kFirstGreeting) link.greet();
  link.say(garbage(kind, random));
  return link;
}

size_t open_files() {
  size_t count = 0;
  DIR* dir = ::opendir("/proc/self/fd");
  while (::readdir(dir) != nullptr) ++count;
  ::closedir(dir);
  return count;
}

int connections() {
  const char* many = std::getenv("GT_GARBAGE_CONNECTIONS");
  return many != nullptr ? std::atoi(many) : 1000;
}

class GarbageTest : public testing::TestWithParam<const char*> {
 protected:
  static std::string endpoint() {
    const std::string where = GetParam();
    return where == "ipc" ? local_endpoint() : "tcp://127.0.0.1:*";
  }
  // The worker answers, and gt-route delivers its answer and nothing else.
  static void expect_undisturbed(NetHarness& net, Member& worker) {
    net.host_events_.clear();
    worker.send(Frame(MessageWriter(Verb::kResults).finish("mine\n")));
    const auto results = [&net] {
      std::string out;
      for (const HostEvent& event : net.host_events_) {
        if (event.kind == Kind::kMessage &&
            event.owned.message.verb == Verb::kResults) {
          out += event.owned.message.body;
        }
      }
      return out;
    };
    EXPECT_TRUE(net.run([&] { return !results().empty(); }));
    EXPECT_EQ(results(), "mine\n");
  }
};

TEST_P(GarbageTest, IsNotDeliveredAndLeavesNothing) {
  NetHarness net(1, endpoint());
  Member& worker = net.join("w");
  ASSERT_TRUE(net.run_until_attached());
  const std::string where = net.host_->endpoint();
  const size_t files = open_files();
  std::mt19937 random(4);
  const int many = connections();
  std::vector<RawLink> open;
  for (int i = 0; i < many; ++i) {
    open.push_back(stranger(where, i % kKinds, random));
    if (open.size() == 50) {
      net.turn(0);
      if (i % 500 == 499) expect_undisturbed(net, worker);
      open.clear();
    }
  }
  open.clear();
  // Kinds 6 (three messages), 7 and 8 are ZeroMQ but no hello. A link that is
  // closed at once may be gone before it was read.
  EXPECT_TRUE(net.run([&] { return open_files() <= files; }));
  expect_undisturbed(net, worker);
  EXPECT_EQ(net.count(Kind::kLost), 0u);
  EXPECT_EQ(net.count(Kind::kAttached), 0u);
  EXPECT_LE(net.host_->state().ignored(), static_cast<uint64_t>(many));
  EXPECT_TRUE(worker.state().is_attached());
}

TEST_P(GarbageTest, IsCountedWhenItIsZeroMq) {
  NetHarness net(1, endpoint());
  Member& worker = net.join("w");
  ASSERT_TRUE(net.run_until_attached());
  std::mt19937 random(5);
  const std::string where = net.host_->endpoint();
  const RawLink frames = stranger(where, 6, random);
  const RawLink parts = stranger(where, 7, random);
  EXPECT_TRUE(net.run([&] { return net.host_->state().ignored() == 4; }));
  for (int kind : {3, 4}) {  // too long
    RawLink link = stranger(where, kind, random);
    EXPECT_TRUE(net.run([&] { return link.is_closed(); })) << kind;
  }
  expect_undisturbed(net, worker);
}

// A peer that says nothing, or half a handshake, keeps nobody waiting, and is
// closed.
TEST_P(GarbageTest, HalfOpenConnectionsHoldUpNobody) {
  NetHarness net(2, endpoint(), 2000);
  Member& first = net.join("a");
  std::vector<RawLink> open;
  for (int i = 0; i < 200; ++i) {
    open.emplace_back(net.host_->endpoint());
    if (i % 3 != 0) open.back().greet();
    if (i % 3 == 2) open.back().say(handshake().substr(0, 20));
  }
  net.join("b");
  ASSERT_TRUE(net.run_until_attached());
  expect_undisturbed(net, first);
  EXPECT_TRUE(net.run([&] {
    return std::ranges::all_of(open, [](RawLink& l) { return l.is_closed(); });
  }));
  expect_undisturbed(net, first);
}

// Two connections have the same name: the first is heard, no other takes its
// place, and neither counts as a worker.
TEST_P(GarbageTest, ANameThatAnotherHasGivesNothing) {
  NetHarness net(1, endpoint());
  Member& worker = net.join("w");
  ASSERT_TRUE(net.run_until_attached());
  RawLink first(net.host_->endpoint());
  first.greet();
  first.say(handshake("same") + frame("results size=2\n1\n"));
  ASSERT_TRUE(net.run([&] { return net.host_->state().ignored() >= 1; }));
  RawLink second(net.host_->endpoint());
  second.greet();
  second.say(handshake("same") + frame("results size=2\n2\n"));
  for (int i = 0; i < 5; ++i) expect_undisturbed(net, worker);
}

INSTANTIATE_TEST_SUITE_P(Links, GarbageTest, testing::Values("ipc", "tcp"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace gt::net
