// Watchers of gt-route and what is said to them: records, and how a watcher
// finds a gt-route.
#include <gtest/gtest.h>

#include <string>

#include "net/monitors.h"
#include "net/record.h"
#include "net/used.h"
#include "net/watcher.h"
#include "net/watchers.h"

namespace gt::net {
namespace {

constexpr const char* kWatch = "watch version=6 size=0\n";

Frame frame(std::string_view text) { return Frame(std::string(text)); }

std::string all_said(ListenerState& state) {
  std::string out;
  ListenerState::Outgoing said;
  while (state.next(said)) {
    out += said.peer + ": " + std::string(said.frame.bytes()) + "\n";
  }
  return out;
}

TEST(Record, IsReadAsItIsWritten) {
  std::string text;
  RecordWriter(text, "worker")
      .field("id", 3)
      .field("at", "a \"b\" #c\n")
      .field("name", "")
      .field("host", "node7");
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  text.pop_back();
  const auto record = parse_record(text);
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record.value().kind, "worker");
  EXPECT_EQ(record.value().number("id"), 3u);
  EXPECT_EQ(record.value().text("at"), "a \"b\" #c\n");
  EXPECT_EQ(record.value().find("name"), nullptr);
  EXPECT_EQ(record.value().number("host", 7), 7u);
  EXPECT_FALSE(record.value().need("pid").ok());
  for (const char* bad : {"", " a=b", "Worker", "w4 a=1", "w a", "w  a=1",
                          "w a=1 a=2", "w a=\"", "w A=1"}) {
    EXPECT_FALSE(parse_record(bad).ok()) << bad;
  }
}

TEST(Used, IsReadAsItIsWritten) {
  Used used{9, 8, 7, 6, 5, 4, 3, 2, 1, 10, 13, 14, {{"matmul", 11, 12}}};
  std::string body;
  append_used(body, used);
  EXPECT_EQ(body,
            "use time=9 busy=8 waited=7 lines=6 memory=5 peak=4 in=3 out=2 "
            "exchanges=1 exchanging=10 cpu=13 "
            "resident=14\nop name=matmul count=11 ns=12\n");
  const auto read = parse_used(body);
  ASSERT_TRUE(read.ok());
  std::string again;
  append_used(again, read.value());
  EXPECT_EQ(again, body);
  EXPECT_FALSE(parse_used("use time=1\n").ok());
  EXPECT_FALSE(parse_used("op name=x count=-1 ns=1\n").ok());
  EXPECT_FALSE(parse_used(std::string(kMaxUsed + 1, 'a')).ok());
  EXPECT_TRUE(parse_used("else x=1\n").ok());
}

TEST(Watchers, GetAsManyStatesAsTheyAskFor) {
  Watchers watchers;
  EXPECT_FALSE(watchers.is_asked());
  watchers.receive("a", frame(kWatch), 0, "");
  watchers.receive("a", frame(kWatch), 0, "");  // no more states for that
  watchers.receive("b", frame(kWatch), 0, "");
  EXPECT_EQ(watchers.size(), 2u);
  EXPECT_TRUE(watchers.is_asked());
  watchers.tell("route pid=1\n");
  EXPECT_FALSE(watchers.is_asked());
  const std::string said = all_said(watchers);
  EXPECT_NE(said.find("a: state size=12\nroute pid=1\n"), said.npos);
  EXPECT_NE(said.find("b: state size=12\nroute pid=1\n"), said.npos);
  watchers.tell("route pid=2\n");
  EXPECT_EQ(all_said(watchers), "");
  watchers.link_ended("a");
  watchers.end("route pid=3\n", Exit::kFailed);
  EXPECT_EQ(all_said(watchers),
            "b: state size=12\nroute pid=3\n\nb: bye status=1 size=0\n\n");
}

TEST(Watchers, LongStatesGoInParts) {
  Watchers watchers;
  watchers.receive("a", frame(kWatch), 0, "");
  watchers.tell(std::string(kMaxBody + 5, 'x'));
  ListenerState::Outgoing first;
  ListenerState::Outgoing second;
  ASSERT_TRUE(watchers.next(first));
  ASSERT_TRUE(watchers.next(second));
  EXPECT_TRUE(first.frame.bytes().starts_with("state more=1 "));
  EXPECT_TRUE(second.frame.bytes().starts_with("state size=5\n"));
}

TEST(Watchers, AWatcherThatBreaksTheProtocolIsForgotten) {
  for (const char* text :
       {"", "nonsense", "watch size=0\n", "watch version=x size=0\n",
        "watch version=3 size=0\n", "done seq=1 size=0\n",
        "watch version=6 size=1\n"}) {
    Watchers watchers;
    watchers.receive("b", frame(kWatch), 0, "");
    watchers.receive("a", frame(kWatch), 0, "");
    watchers.receive("a", frame(text), 0, "");
    EXPECT_FALSE(watchers.knows("a")) << text;
    EXPECT_TRUE(watchers.knows("b"));
    EXPECT_TRUE(all_said(watchers).starts_with("a: refuse size=")) << text;
    watchers.receive("a", frame(kWatch), 0, "");
    EXPECT_TRUE(watchers.knows("a"));
  }
}

TEST(Watchers, AreBoundedAndForgottenWhenTheyAreSilent) {
  Watchers watchers;
  for (size_t i = 0; i <= Watchers::kMost; ++i) {
    watchers.receive(std::to_string(i), frame(kWatch), 1, "");
  }
  EXPECT_EQ(watchers.size(), Watchers::kMost);
  watchers.receive("0", frame(kWatch), 5000, "");
  EXPECT_EQ(watchers.next_tick(), 1 + Watchers::kSilence);
  watchers.tick(1 + Watchers::kSilence, false);  // a message is unread
  EXPECT_EQ(watchers.size(), Watchers::kMost);
  watchers.tick(1 + Watchers::kSilence, true);
  EXPECT_EQ(watchers.size(), 1u);
  watchers.undelivered("0");
  EXPECT_EQ(watchers.size(), 0u);
  EXPECT_FALSE(watchers.is_asked());
}

WatcherState watching() {
  WatcherOptions options;
  options.endpoint = "ipc://@x";
  return {options, 0};
}

size_t asked(WatcherState& state) {
  size_t count = 0;
  Frame out;
  while (state.next(out)) {
    EXPECT_EQ(out.bytes(), kWatch);
    ++count;
  }
  return count;
}

TEST(Watcher, AsksOnceForEachState) {
  WatcherState state = watching();
  state.ask();
  EXPECT_EQ(asked(state), 0u);  // it is not connected
  state.link_up(1);
  EXPECT_EQ(asked(state), 1u);
  state.ask();
  EXPECT_EQ(asked(state), 0u);
  state.receive(frame("state more=1 size=2\nab"), 2);
  state.receive(frame("state size=1\nc"), 2);
  WatchEvent event;
  ASSERT_TRUE(state.next(event));
  EXPECT_EQ(event.text, "abc");
  EXPECT_EQ(asked(state), 0u);
  state.ask();
  EXPECT_EQ(asked(state), 1u);
  state.receive(frame("state size=0\n"), 3);
  state.receive(frame("bye status=1 size=0\n"), 3);
  ASSERT_TRUE(state.next(event));
  ASSERT_TRUE(state.next(event));
  EXPECT_EQ(event.kind, WatchEvent::Kind::kEnded);
  EXPECT_EQ(event.status, Exit::kFailed);
  state.link_down();
  EXPECT_FALSE(state.next(event));
}

TEST(Watcher, OneThatWasForgottenComesAgainOnce) {
  WatcherState state = watching();
  state.link_up(1);
  state.receive(frame("state size=0\n"), 2);
  EXPECT_EQ(asked(state), 1u);
  state.receive(frame("refuse size=3\nwhy"), 3);
  EXPECT_EQ(asked(state), 1u);
  state.receive(frame("refuse size=3\nwhy"), 4);
  WatchEvent event;
  ASSERT_TRUE(state.next(event));
  ASSERT_TRUE(state.next(event));
  EXPECT_EQ(event.kind, WatchEvent::Kind::kRefused);
  EXPECT_EQ(event.text, "gt-route at ipc://@x says: why");
}

TEST(Watcher, IsLostWhereThereIsNoneAndWhereItBreaksTheProtocol) {
  for (const char* text : {"", "lines size=0\n", "state size=4\n",
                           "bye size=0\n", "bye status=77 size=0\n"}) {
    WatcherState state = watching();
    state.link_up(1);
    state.receive(frame(text), 2);
    WatchEvent event;
    ASSERT_TRUE(state.next(event)) << text;
    EXPECT_EQ(event.kind, WatchEvent::Kind::kLost) << text;
  }
  WatcherState state = watching();
  WatchEvent event;
  state.tick(4999, true);
  EXPECT_FALSE(state.next(event));
  state.tick(5000, true);
  ASSERT_TRUE(state.next(event));
  EXPECT_EQ(event.text, "there is no gt-route at ipc://@x within 5.0 s");
}

TEST(Monitors, AreFoundByTheirNames) {
  const std::string listens = "0: 00000002 00000000 00010000 0001 01 7 ";
  const std::string sockets =
      "Num       RefCount Protocol Flags    Type St Inode Path\n" + listens +
      "@gt-route.1000.42.0123456789abcdef\n" +
      "0: 00000003 00000000 00000000 0001 03 8 "
      "@gt-route.1000.42.0123456789abcdef\n" +
      listens + "@gt-route.1000.7.ffffffffffffffff\n" + listens +
      "@gt-route.1001.9.0123456789abcdef\n" + listens +
      "@gt-route.1000.x.0123456789abcdef\n" + listens +
      "@gt-route.1000.10.0123\n" + listens + "@gt-route.1000.11.\n" + listens +
      "/tmp/@gt-route.1000.11.0123456789abcdef\n" + listens;
  const auto found = find_monitors(sockets, 1000);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].pid, 7u);
  EXPECT_EQ(found[1].endpoint, "ipc://@gt-route.1000.42.0123456789abcdef");
  EXPECT_TRUE(monitor_endpoint() != monitor_endpoint());
}

}  // namespace
}  // namespace gt::net
