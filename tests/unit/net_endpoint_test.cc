// Which endpoints are allowed, and who can reach them.
#include "net/endpoint.h"

#include <gtest/gtest.h>

#include "net/host.h"
#include "net/member.h"
#include "net/peers.h"
#include "net/roster.h"

namespace gt::net {
namespace {

// Whether gt-route would listen there without keys, with names looked up.
bool is_taken(const std::string& endpoint) {
  const auto at = listening_endpoint(endpoint);
  return at.ok() && is_local(at.value());
}

TEST(Endpoint, WithoutKeysOnlyWhatIsKnownToBeOfThisHostIsTaken) {
  for (const char* endpoint :
       {"ipc:///tmp/gt", "ipc://gt", "ipc://@gt", "tcp://127.0.0.1:5560",
        "tcp://127.0.0.1:*", "tcp://127.1.2.3:0", "tcp://[::1]:5560",
        "tcp://::1:5560", "tcp://[::ffff:127.0.0.1]:5560",
        "tcp://localhost:5560", "tcp://lo:5560", "tcp://127.1:5560"}) {
    EXPECT_TRUE(is_taken(endpoint)) << endpoint;
  }
  for (const char* endpoint :
       {// Every address, in all ways to write it.
        "tcp://*:5560", "tcp://*:*", "tcp://0.0.0.0:5560", "tcp://0:5560",
        "tcp://[::]:5560", "tcp://:::5560", "tcp://[::ffff:0.0.0.0]:5560",
        // These are addresses of other hosts.
        "tcp://10.0.0.1:5560", "tcp://128.0.0.1:5560",
        "tcp://126.255.255.255:5560", "tcp://[::2]:5560",
        "tcp://[fe80::1]:5560", "tcp://[::ffff:10.0.0.1]:5560",
        "tcp://[::127.0.0.1]:5560", "tcp://2130706434.0:5560",
        // These names only look like this host.
        "tcp://localhost.evil:5560", "tcp://127.0.0.1.evil:5560",
        "tcp://eth0:5560", "tcp://lo0.none.invalid:5560",
        // These have no host, no port, two of one, or blanks.
        "tcp://:5560", "tcp://127.0.0.1", "tcp://127.0.0.1:", "tcp://[::1]",
        "tcp://127.0.0.1:x", "tcp://127.0.0.1:-1", "tcp://127.0.0.1:99999",
        "tcp://127.0.0.1;10.0.0.1:5560", "tcp://127.0.0.1:1;10.0.0.1:5560",
        "tcp:// 127.0.0.1:5560", "tcp://127.0.0.1:5560 ", "tcp://",
        "tcp:127.0.0.1:5560",
        // These are other transports of libzmq, or none.
        "ws://127.0.0.1:5560", "ws://0.0.0.0:5560", "wss://0.0.0.0:5560",
        "tipc://{5560,0,0}", "tipc://<*>", "udp://0.0.0.0:5560",
        "pgm://eth0;239.0.0.1:5560", "epgm://eth0;239.0.0.1:5560",
        "norm://239.0.0.1:5560", "vmci://*:5560", "inproc://gt",
        "TCP://127.0.0.1:5560", "IPC://@gt", "127.0.0.1:5560", "0.0.0.0:5560",
        "localhost:5560", "/tmp/gt", "@gt", "gt", "", "://", "ipc://",
        "ipc://@"}) {
    EXPECT_FALSE(is_taken(endpoint)) << endpoint;
  }
}

std::string why(const Status& status) {
  return status.ok() ? "" : status.error().message;
}

TEST(Endpoint, WhatWasMeantIsSaid) {
  EXPECT_EQ(why(check_endpoint("127.0.0.1:5799")),
            "it has no transport; did you mean tcp://127.0.0.1:5799?");
  EXPECT_EQ(why(check_endpoint("head:5799")),
            "it has no transport; did you mean tcp://head:5799?");
  EXPECT_EQ(why(check_endpoint("[::1]:5799")),
            "it has no transport; did you mean tcp://[::1]:5799?");
  EXPECT_EQ(why(check_endpoint("/tmp/gt")),
            "it has no transport; did you mean ipc:///tmp/gt?");
  EXPECT_EQ(why(check_endpoint("@gt")),
            "it has no transport; did you mean ipc://@gt?");
  EXPECT_EQ(why(check_endpoint("ws://127.0.0.1:5799")),
            "gt takes no such transport; expected tcp://HOST:PORT, ipc://PATH "
            "or ipc://@NAME");
  EXPECT_EQ(why(check_endpoint("tcp://head")),
            "it has no port; expected tcp://head:PORT");
}

TEST(Endpoint, NobodyConnectsToAWildcard) {
  for (const char* endpoint :
       {"tcp://*:5560", "tcp://127.0.0.1:*", "tcp://127.0.0.1:0"}) {
    EXPECT_TRUE(check_endpoint(endpoint).ok()) << endpoint;
    EXPECT_FALSE(check_connectable(endpoint).ok()) << endpoint;
    EXPECT_FALSE(connecting_endpoint(endpoint).ok()) << endpoint;
  }
  EXPECT_EQ(connecting_endpoint("tcp://127.1:5560").value(),
            "tcp://127.0.0.1:5560");
  EXPECT_FALSE(connecting_endpoint("tcp://none.invalid:5560").ok());
}

// Even if a program does not ask, no socket is opened to other hosts.
TEST(Endpoint, NoSocketWithoutKeysLeavesTheHost) {
  Context context;
  HostOptions options;
  EXPECT_FALSE(Host::make(context, "tcp://0.0.0.0:*", options).ok());
  EXPECT_FALSE(Host::make(context, "ws://127.0.0.1:*", options).ok());
  EXPECT_TRUE(Host::make(context, "tcp://127.0.0.1:*", options).ok());
  const Trust any{.anyone = true};
  EXPECT_TRUE(Host::make(context, "tcp://0.0.0.0:*", options, any).ok());
  EXPECT_FALSE(Host::make(context, "ws://127.0.0.1:*", options, any).ok());

  MemberOptions member;
  member.info.name = "w";
  EXPECT_FALSE(Member::make(context, "tcp://10.0.0.1:5560", member).ok());
  EXPECT_FALSE(Member::make(context, "ws://127.0.0.1:5560", member).ok());

  auto peers = Peers::make(context, "tcp://127.0.0.1:5560");
  ASSERT_TRUE(peers.ok());
  // Peers of the same host are reached by a Unix socket.
  EXPECT_TRUE(peers.value()->endpoint().starts_with("ipc://@"));
  EXPECT_FALSE(
      peers.value()->connect(0, "s", {{1, "tcp://10.0.0.1:1", {}}}).ok());
}

// A peer announces its data endpoint in its hello, and a welcome announces
// others'.
TEST(Endpoint, WhatAPeerAnnouncesIsCheckedLikeWhatAUserGives) {
  for (const char* data : {"ws://127.0.0.1:1", "inproc://x", "tcp://*:1",
                           "tcp://127.0.0.1:0", "tcp://h", "x"}) {
    const std::string hello = MessageWriter(Verb::kHello)
                                  .field("name", "w")
                                  .field("pid", 1)
                                  .field("data", data)
                                  .finish();
    EXPECT_FALSE(read_info(parse_message(hello).value()).ok()) << data;
    const std::string row = std::string("0 w h \"") + data + "\" 1\n";
    EXPECT_FALSE(parse_roster(row).ok()) << data;
  }
  EXPECT_TRUE(parse_roster("0 w h ipc://@x 1\n").ok());
  EXPECT_TRUE(parse_roster("0 w h tcp://10.0.0.1:7 1\n").ok());
}

}  // namespace
}  // namespace gt::net
