// The protocol of gt-emit -l and its clients: who is let in, kept or lost, and
// what a client that comes back is told.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "net/wire.h"
#include "serve/client_connections.h"
#include "serve/client_hello.h"

namespace gt::serve {
namespace {

using Kind = ClientEvent::Kind;
using net::MessageWriter;
using net::Verb;

constexpr int64_t kKeep = 10'000;  // ms

class ClientConnectionsTest : public testing::Test {
 protected:
  static ClientConnectionsOptions options() {
    ClientConnectionsOptions options;
    options.table = "7";
    options.most = 4;
    options.most_of_user = 3;
    options.window = 1000;
    options.keep = kKeep;
    options.timing = net::Timing::with_silence(1500);
    return options;
  }

  static MessageWriter hello(const std::string& user) {
    MessageWriter message(Verb::kHello);
    message.field("version", uint64_t{net::kWireVersion})
        .field("table", "7")
        .field("user", user)
        .field("seed", uint64_t{0})
        .field("history", uint64_t{100});
    return message;
  }
  static MessageWriter named(const std::string& user, bool attaches) {
    MessageWriter message = hello(user);
    message.field("keep", "job").field("attach", uint64_t{attaches});
    message.field("stay", uint64_t{1});
    return message;
  }

  void say(const std::string& peer, std::string bytes,
           const std::string& key = "") {
    connections_.receive(peer, net::Frame(std::move(bytes)), now_, key);
  }
  // The messages since the last call, each as "PEER MESSAGE".
  std::vector<std::string> sent() {
    std::vector<std::string> all;
    net::ListenerState::Outgoing out;
    while (connections_.next(out)) {
      if (!out.frame.bytes().starts_with("beat")) {
        all.push_back(out.peer + " " + std::string(out.frame.bytes()));
      }
    }
    return all;
  }
  std::string last() {
    const auto all = sent();
    return all.empty() ? "" : all.back();
  }
  std::vector<std::pair<Kind, ClientId>> events() {
    std::vector<std::pair<Kind, ClientId>> all;
    ClientEvent event;
    while (connections_.next(event)) all.emplace_back(event.kind, event.client);
    return all;
  }
  using Events = std::vector<std::pair<Kind, ClientId>>;
  void pass(int64_t ms) {
    for (; ms > 0; ms -= 100) connections_.tick(now_ += 100, true);
  }

  int64_t now_ = 1000;
  ClientConnections connections_{options(), now_};
};

TEST(ClientHello, IsReadAsItWasWritten) {
  const std::string version = std::to_string(net::kWireVersion);
  ClientHello hello;
  hello.user = "ann";
  hello.key = "not written";
  hello.history = 100;
  EXPECT_EQ(write_client_hello(hello, "7"),
            "hello version=" + version +
                " table=7 user=ann seed=0 history=100 fail_fast=0 replay=1 "
                "size=0\n");
  hello.seed = -1;
  hello.fails_fast = true;
  hello.replays = false;
  hello.name = "job";
  hello.attaches = true;
  hello.stays = true;
  hello.visit = 2;
  hello.results = 30;
  hello.reports = 4;
  const std::string bytes = write_client_hello(hello, "7");
  EXPECT_EQ(bytes,
            "hello version=" + version +
                " table=7 user=ann seed=18446744073709551615 history=100 "
                "fail_fast=1 replay=0 keep=job attach=1 stay=1 visit=2 "
                "results=30 reports=4 size=0\n");
  const auto read = read_client_hello(net::parse_message(bytes).value(), "7");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().key, "");
  EXPECT_EQ(read.value().seed, -1);
  EXPECT_EQ(write_client_hello(read.value(), "7"), bytes);
}

TEST_F(ClientConnectionsTest, AClientIsTakenAndToldItsRoom) {
  say("p", hello("ann").finish());
  EXPECT_EQ(events(), Events({{Kind::kCame, 1}}));
  const std::string welcome = last();
  EXPECT_NE(welcome.find("p welcome name=c1 "), std::string::npos) << welcome;
  EXPECT_NE(welcome.find(" room=1000 "), std::string::npos) << welcome;
  EXPECT_NE(welcome.find(" keep=0 "), std::string::npos) << welcome;
  // A message is not sent before its owner has opened the connection.
  connections_.send(1, "results size=0\n");
  EXPECT_TRUE(sent().empty());
  connections_.open(1);
  connections_.send(1, "results size=0\n");
  EXPECT_EQ(last(), "p results size=0\n");
}

TEST_F(ClientConnectionsTest, APeerThatIsNoClientIsRefusedOrNotHeard) {
  say("p", "text size=1\nx");
  say("p", "\xff\xff");
  EXPECT_TRUE(sent().empty());
  say("p", hello("../x").finish());
  EXPECT_NE(last().find("is no name for a user"), std::string::npos);
  MessageWriter other(Verb::kHello);
  say("p", other.field("version", uint64_t{net::kWireVersion})
               .field("table", "8")
               .finish());
  EXPECT_NE(last().find("another version of gt"), std::string::npos);
  // Only the first refusal in a second is reported.
  EXPECT_EQ(events(), Events({{Kind::kRefused, 0}}));
}

TEST_F(ClientConnectionsTest, OneUserCannotTakeAllPlacesNorAllUsersMore) {
  for (const char* peer : {"a", "b", "c"}) say(peer, hello("ann").finish());
  say("d", hello("ann").finish());
  EXPECT_NE(last().find("3 clients of this user are here"), std::string::npos);
  say("d", hello("bob").finish());
  say("e", hello("eve").finish());
  EXPECT_NE(last().find("4 clients are here already"), std::string::npos);
  EXPECT_EQ(events().size(), 5u);  // four came, one refusal was told
}

TEST_F(ClientConnectionsTest, MoreTextThanThereWasRoomForEndsTheClient) {
  say("p", hello("ann").finish());
  connections_.open(1);
  (void)sent();
  say("p", MessageWriter(Verb::kText).finish(std::string(999, ' ')));
  EXPECT_TRUE(sent().empty());
  connections_.make_room(1, 999);
  EXPECT_NE(last().find("room bytes=1999 "), std::string::npos);
  say("p", MessageWriter(Verb::kText).finish(std::string(1001, ' ')));
  EXPECT_NE(last().find("more text than there was room for"),
            std::string::npos);
  EXPECT_EQ(events(),
            Events({{Kind::kCame, 1}, {Kind::kMessage, 1}, {Kind::kGone, 1}}));
}

// A line whose end has not come counts as read until it comes.
TEST_F(ClientConnectionsTest, RoomThatWasToldIsNotTakenBack) {
  say("p", hello("ann").finish());
  connections_.open(1);
  say("p", MessageWriter(Verb::kText).finish(std::string(900, ' ')));
  connections_.make_room(1, 900);
  EXPECT_NE(last().find("room bytes=1900 "), std::string::npos);
  connections_.make_room(1, 0);
  say("p", MessageWriter(Verb::kText).finish(std::string(1000, ' ')));
  EXPECT_EQ(
      events(),
      Events({{Kind::kCame, 1}, {Kind::kMessage, 1}, {Kind::kMessage, 1}}));
}

TEST_F(ClientConnectionsTest, WithoutANameTheEndOfTheConnectionIsTheEnd) {
  say("p", hello("ann").finish());
  connections_.link_ended("p");
  EXPECT_EQ(events(), Events({{Kind::kCame, 1}, {Kind::kGone, 1}}));
  EXPECT_FALSE(connections_.knows("p"));
  say("q", hello("ann").finish());
  pass(1600);  // the other end says nothing
  EXPECT_EQ(events(), Events({{Kind::kCame, 2}, {Kind::kGone, 2}}));
}

TEST_F(ClientConnectionsTest, AVisitGoesOnOverANewConnectionWhereItStood) {
  say("p", named("ann", false).finish());
  say("p", MessageWriter(Verb::kInput).field("name", "a").finish());
  say("p", MessageWriter(Verb::kText).finish("x = 1\n"));
  connections_.link_ended("p");
  EXPECT_EQ(events(), Events({{Kind::kCame, 1},
                              {Kind::kMessage, 1},
                              {Kind::kMessage, 1},
                              {Kind::kAway, 1}}));
  (void)sent();
  say("q", named("ann", true).field("visit", uint64_t{1}).finish());
  const std::string welcome = last();
  EXPECT_NE(welcome.find("q welcome name=c1 visit=1 said=2 "),
            std::string::npos)
      << welcome;
  EXPECT_EQ(events(), Events({{Kind::kBack, 1}}));
  // Bytes that come late by the old connection belong to nobody.
  say("p", MessageWriter(Verb::kText).finish("y = 2\n"));
  EXPECT_TRUE(events().empty());
}

TEST_F(ClientConnectionsTest, AClientThatAttachesTakesThePlaceOfTheOneThere) {
  say("p", named("ann", false).finish());
  (void)sent();
  say("q", named("ann", true).finish());
  const auto said = sent();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_NE(said[0].find("p bye status=4 "), std::string::npos);
  EXPECT_NE(said[0].find("somebody else has come back"), std::string::npos);
  EXPECT_NE(said[1].find("q welcome name=c1 visit=2 said=0 "),
            std::string::npos);
  // The first visitor cannot go on with its visit.
  say("r", named("ann", true).field("visit", uint64_t{1}).finish());
  EXPECT_NE(last().find("somebody else has come back"), std::string::npos);
}

TEST_F(ClientConnectionsTest, ANameIsItsUsersOwn) {
  say("p", named("ann", false).finish());
  say("q", named("ann", false).finish());
  EXPECT_NE(last().find("is here already"), std::string::npos);
  say("r", named("bob", true).finish());
  EXPECT_NE(last().find("nobody is kept as 'job'"), std::string::npos);
  say("r", named("bob", false).finish());
  EXPECT_NE(last().find("welcome name=c2"), std::string::npos);
}

TEST_F(ClientConnectionsTest, AClientThatIsAwayTooLongIsEnded) {
  say("p", named("ann", false).finish());
  connections_.part(1, Exit::kDone);
  EXPECT_NE(last().find("p bye status=0 "), std::string::npos);
  pass(kKeep - 200);
  say("q", named("ann", true).finish());
  connections_.part(1, Exit::kDone);
  (void)events();
  pass(kKeep - 200);
  EXPECT_TRUE(events().empty());
  pass(300);
  EXPECT_EQ(events(), Events({{Kind::kGone, 1}}));
  say("r", named("ann", true).finish());
  EXPECT_NE(last().find("nobody is kept"), std::string::npos);
}

TEST_F(ClientConnectionsTest,
       TheLastWordIsSaidAgainToAVisitThatMayNotHaveHeardIt) {
  say("p", named("ann", false).finish());
  connections_.bye(1, Exit::kFailed, "");
  (void)sent();
  say("q", named("ann", true).field("visit", uint64_t{1}).finish());
  EXPECT_NE(last().find("q bye status=1 "), std::string::npos);
  // Another visit is not told.
  say("r", named("ann", true).finish());
  EXPECT_NE(last().find("nobody is kept"), std::string::npos);
  pass(kKeep + 1000);
  say("s", named("ann", true).field("visit", uint64_t{1}).finish());
  EXPECT_NE(last().find("nobody is kept"), std::string::npos);
}

TEST_F(ClientConnectionsTest, AClientThatHasGotItsByeIsNotDistrusted) {
  say("p", hello("ann").finish());
  connections_.bye(1, Exit::kDone, "");
  EXPECT_EQ(connections_.leaving(), 1u);
  (void)sent();
  (void)events();
  connections_.distrust("p", "it is gone", now_);
  EXPECT_TRUE(sent().empty());
  EXPECT_TRUE(events().empty());
  connections_.distrust("q", "it is another user's", now_);
  EXPECT_NE(last().find("q refuse "), std::string::npos);
  connections_.link_ended("p");
  EXPECT_EQ(connections_.leaving(), 0u);
}

TEST(ClientConnectionsOfKeys, AUserIsWhoTheKeySaysAndARevokedKeyIsLost) {
  ClientConnectionsOptions options;
  options.table = "7";
  options.keep = kKeep;
  options.users = std::map<std::string, net::KeyHolder>{
      {"KEYA", {.user = "ann"}}, {"KEYB", {}}};
  ClientConnections connections(options, 0);
  const auto say = [&](const std::string& peer, const std::string& key) {
    MessageWriter message(Verb::kHello);
    message.field("version", uint64_t{net::kWireVersion})
        .field("table", "7")
        .field("user", "root")
        .field("keep", "job")
        .field("stay", uint64_t{1});
    connections.receive(peer, net::Frame(message.finish()), 0, key);
  };
  say("p", "KEYA");
  say("q", "KEYB");
  ClientEvent event;
  ASSERT_TRUE(connections.next(event));
  EXPECT_EQ(event.hello.user, "ann");
  ASSERT_TRUE(connections.next(event));
  EXPECT_EQ(event.hello.user, "");
  EXPECT_EQ(event.hello.owner(), "KEYB");
  connections.link_ended("p");
  connections.set_users({{"KEYB", net::KeyHolder{}}});
  ASSERT_TRUE(connections.next(event));
  EXPECT_EQ(event.kind, Kind::kAway);
  ASSERT_TRUE(connections.next(event));
  EXPECT_EQ(event.kind, Kind::kGone);
  EXPECT_EQ(event.client, 1u);
  EXPECT_FALSE(connections.next(event));
}

}  // namespace
}  // namespace gt::serve
