// The server of /metrics, and clients that hold its connections.
#include "top/metrics_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

namespace gt::top {
namespace {

using std::chrono::milliseconds;

// Connects from one of this host's addresses.
int connected(uint16_t port, uint32_t from = INADDR_LOOPBACK) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(from);
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  return fd;
}

void say(int fd, const std::string& text) {
  (void)::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
}

// Reads until the text ends with `end`, or the connection does.
std::string read_to(int fd, const std::string& end) {
  std::string text;
  char byte = 0;
  while (!text.ends_with(end) && ::recv(fd, &byte, 1, 0) == 1) text += byte;
  return text;
}

TEST(MetricsServer, AByteNowAndThenKeepsNobodyOut) {
  auto made = MetricsServer::make("127.0.0.1:0", milliseconds(300));
  ASSERT_TRUE(made.ok()) << made.error().message;
  MetricsServer& server = *made.value();
  server.set("up 1\n");
  std::vector<int> slow;
  for (int i = 0; i < 40; ++i) slow.push_back(connected(server.port()));
  std::jthread trickle([&slow](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (const int fd : slow) say(fd, "G");
      std::this_thread::sleep_for(milliseconds(20));
    }
  });
  // A connection that comes when there is no room for it is closed, as those
  // are that take too long.
  std::string got;
  for (int tries = 0; tries < 1000 && got.empty(); ++tries) {
    std::this_thread::sleep_for(milliseconds(10));
    const int fd = connected(server.port());
    say(fd, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    got = read_to(fd, "\nup 1\n");
    ::close(fd);
  }
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200")) << got;
  trickle = {};
  for (const int other : slow) ::close(other);
}

TEST(MetricsServer, ConnectionsOfOneAddressLeaveRoomForAnother) {
  auto made = MetricsServer::make("127.0.0.1:0", std::chrono::hours(1));
  ASSERT_TRUE(made.ok()) << made.error().message;
  MetricsServer& server = *made.value();
  server.set("up 1\n");
  std::vector<int> held;
  for (int i = 0; i < 40; ++i) held.push_back(connected(server.port()));
  const int fd = connected(server.port(), INADDR_LOOPBACK + 1);
  say(fd, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string got = read_to(fd, "\nup 1\n");
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200")) << got;
  ::close(fd);
  for (const int other : held) ::close(other);
}

}  // namespace
}  // namespace gt::top
