// Messages and the time alone decide who is attached, is alive and has room.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "net/host_state.h"

namespace gt::net {
namespace {

using Kind = HostEvent::Kind;

WorkerInfo info_of(const std::string& name) {
  WorkerInfo info;
  info.name = name;
  info.host = "h";
  info.data = "ipc://@gt-" + name;
  info.pid = 7;
  return info;
}

std::string hello(const WorkerInfo& info, const std::string& token = "t",
                  const std::string& table = "T",
                  uint64_t version = kWireVersion) {
  MessageWriter writer(Verb::kHello);
  writer.field("version", version).field("table", table);
  writer.field("token", token).field("epoch", 0);
  add_info(writer, info);
  return writer.finish();
}

std::string done(uint64_t seq, uint64_t bytes, const char* waits = "") {
  MessageWriter writer(Verb::kDone);
  writer.field("seq", seq).field("bytes", bytes).field("wait", 0);
  return writer.finish(waits);
}

std::string lines(size_t size) {
  MessageWriter writer(Verb::kLines);
  writer.field("seq", 1).field("line", 1);
  return writer.finish(std::string(size, '\n'));
}

class HostStateTest : public testing::Test {
 protected:
  static HostOptions options(uint32_t workers) {
    HostOptions options;
    options.workers = workers;
    options.table = "T";
    options.token = "t";
    options.session = "S";
    return options;
  }
  void start(uint32_t workers) { host_.emplace(options(workers), now_); }
  void say(const std::string& peer, std::string bytes) {
    host_->receive(peer, Frame(std::move(bytes)), now_);
  }
  void pass(int64_t ms, bool all_read = true) {
    now_ += ms;
    host_->tick(now_, all_read);
  }
  // What was sent since the last call, as "peer: header" (without newline and
  // body).
  std::vector<std::string> sent() {
    std::vector<std::string> out;
    HostState::Outgoing message;
    while (host_->next(message)) {
      const std::string_view bytes = message.frame.bytes();
      out.push_back(message.peer + ": " +
                    std::string(bytes.substr(0, bytes.find(' '))));
      bodies_.emplace_back(parse_message(bytes).value().body);
    }
    std::ranges::sort(out);
    return out;
  }
  std::vector<HostEvent> events() {
    std::vector<HostEvent> out;
    HostEvent event;
    while (host_->next(event)) out.push_back(std::move(event));
    return out;
  }
  // Attaches two workers and reads all messages.
  void attach_two() {
    start(2);
    say("a", hello(info_of("w0")));
    say("b", hello(info_of("w1")));
    sent();
    events();
  }
  // The only event.
  HostEvent event() {
    auto all = events();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? HostEvent() : std::move(all[0]);
  }
  std::string refusal(std::string bytes) {
    now_ += 1000;
    say("x", std::move(bytes));
    EXPECT_EQ(sent(), std::vector<std::string>{"x: refuse"});
    const HostEvent e = event();
    EXPECT_EQ(e.kind, Kind::kRefused);
    EXPECT_EQ(e.why, bodies_.back());
    return e.why;
  }

  int64_t now_ = 5000;
  std::optional<HostState> host_;
  std::vector<std::string> bodies_;
};

TEST_F(HostStateTest, AllAreWelcomeOnceAllAreHere) {
  start(3);
  WorkerInfo second = info_of("second");
  second.rank = 0;
  say("a", hello(info_of("first")));
  say("b", hello(second));
  EXPECT_TRUE(sent().empty());
  EXPECT_TRUE(events().empty());
  EXPECT_FALSE(host_->is_complete());
  EXPECT_EQ(host_->who_is_here(),
            "2 of 3 workers are here (first on h, pid 7; second on h, pid 7)");
  EXPECT_EQ(host_->who_is_missing(), "1 more");
  say("c", hello(info_of("third")));
  EXPECT_TRUE(host_->is_complete());
  EXPECT_EQ(sent(), (std::vector<std::string>{"a: welcome", "b: welcome",
                                              "c: welcome"}));
  // They are in the order of the ranks that they asked for, and then of their
  // coming.
  EXPECT_EQ(bodies_[0],
            "0 second h ipc://@gt-second 7\n1 first h ipc://@gt-first 7\n"
            "2 third h ipc://@gt-third 7\n");
  const auto all = events();
  ASSERT_EQ(all.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all[i].kind, Kind::kAttached);
    EXPECT_EQ(all[i].worker, i);
    EXPECT_EQ(host_->worker(i).epoch, 1u);
  }
  EXPECT_EQ(host_->worker(1).info.name, "first");
}

TEST_F(HostStateTest, WhatIsSaidBeforeAHelloIsCountedAndForgotten) {
  start(1);
  for (const char* bytes : {"", "GET / HTTP/1.1", "done seq=1 size=0\n",
                            "results size=2\nx\n", "bye size=0\n"}) {
    say("x", bytes);
  }
  EXPECT_EQ(host_->ignored(), 5u);
  EXPECT_FALSE(host_->knows("x"));
  EXPECT_TRUE(sent().empty());
  EXPECT_TRUE(events().empty());
}

TEST_F(HostStateTest, AWorkerThatTheRunGoesOnWithoutIsHeardNoMore) {
  attach_two();
  bodies_.clear();
  host_->drop(1, "it is wrong");
  EXPECT_EQ(sent(), (std::vector<std::string>{"a: gone", "b: abort"}));
  EXPECT_EQ(bodies_, (std::vector<std::string>{"it is wrong", "it is wrong"}));
  EXPECT_EQ(host_->worker(1).state, WorkerState::kLost);
  EXPECT_EQ(host_->worker(0).state, WorkerState::kAttached);
  EXPECT_FALSE(host_->can_send(1, 1));
  bodies_.clear();
  say("b", done(1, 0));
  EXPECT_TRUE(events().empty());
  // A worker that is lost already is told nothing more.
  host_->link_ended("a");
  events();
  sent();
  host_->drop(0, "it ended");
  EXPECT_TRUE(sent().empty());
}

TEST_F(HostStateTest, AHelloThatDoesNotFitIsRefusedInWords) {
  start(2);
  EXPECT_EQ(refusal(hello(info_of("w"), "t", "T", 1)),
            "w on h speaks version 1 of the wire, gt-route 6; install the same "
            "gt on both");
  EXPECT_EQ(refusal(hello(info_of("w"), "guess")),
            "w on h has not the token of this session");
  EXPECT_EQ(refusal(hello(info_of("w"), "t", "U")),
            "w on h has op table U, gt-route T; install the same gt on both");
  EXPECT_EQ(refusal("hello version=6 token=t table=T size=0\n"),
            "hello: no pid=");
  WorkerInfo far = info_of("w");
  far.rank = 2;
  EXPECT_EQ(refusal(hello(far)), "w on h: rank 2 of a session of 2 workers");
  EXPECT_EQ(refusal(hello(info_of(std::string(200, 'n')))),
            "hello: name= has more than 128 bytes");
  EXPECT_EQ(host_->refused(), 6u);
  WorkerInfo first = info_of("w");
  first.rank = 1;
  say("a", hello(first));
  EXPECT_EQ(refusal(hello(info_of("w"))),
            "w on h: a worker of this name is here, pid 7 on h");
  first.name = "v";
  EXPECT_EQ(refusal(hello(first)), "v on h: rank 1 is taken by w on h");
}

TEST_F(HostStateTest, NobodyIsTakenBeyondTheWorkersWanted) {
  attach_two();
  EXPECT_EQ(refusal(hello(info_of("w2"))),
            "w2 on h: all 2 workers were here before it");
}

TEST_F(HostStateTest, RefusalsThatComeTogetherAreToldOnce) {
  start(1);
  for (int i = 0; i < 100; ++i) say("x", hello(info_of("w"), "guess"));
  EXPECT_EQ(events().size(), 1u);
  EXPECT_EQ(host_->refused(), 100u);
}

TEST_F(HostStateTest, MessagesOfAttachedWorkersAreHandedOver) {
  attach_two();
  say("b", "results size=2\nx\n");
  HostEvent e = event();
  EXPECT_EQ(e.kind, Kind::kMessage);
  EXPECT_EQ(e.worker, 1u);
  EXPECT_EQ(e.owned.message.verb, Verb::kResults);
  EXPECT_EQ(e.owned.message.body, "x\n");
  say("a", "bye status=0 size=0\n");
  e = event();
  EXPECT_EQ(e.kind, Kind::kLeft);
  EXPECT_EQ(e.worker, 0u);
  EXPECT_EQ(host_->worker(0).state, WorkerState::kLeft);
  host_->link_ended("a");
  pass(5000);
  for (const HostEvent& other : events()) EXPECT_NE(other.worker, 0u);
}

// No message of a worker comes in parts.
TEST_F(HostStateTest, APartOfAMessageEndsTheWorkerThatSentIt) {
  attach_two();
  say("a", "results more=1 size=1\nx");
  EXPECT_NE(event().why.find("results: comes in parts, which only gt-route"),
            std::string::npos);
}

TEST_F(HostStateTest, AStatusIsOneOfOurs) {
  for (const char* status : {"0", "1", "2", "3", "4", "130"}) {
    attach_two();
    say("a", std::string("bye status=") + status + " size=0\n");
    EXPECT_EQ(event().kind, Kind::kLeft) << status;
  }
  for (const char* bytes :
       {"bye size=0\n", "bye status=256 size=0\n", "bye status=5 size=0\n",
        "bye status=-1 size=0\n", "report seq=1 line=1 size=1\nx",
        "report seq=1 line=1 status=260 size=1\nx"}) {
    attach_two();
    say("a", bytes);
    EXPECT_EQ(event().kind, Kind::kLost) << bytes;
  }
}

TEST_F(HostStateTest, TextForPeopleIsNotLong) {
  for (const Verb verb : {Verb::kReport, Verb::kBye, Verb::kDone}) {
    for (const size_t more : {0, 1}) {
      attach_two();
      MessageWriter writer(verb);
      writer.field("seq", 0).field("bytes", 0).field("wait", 0);
      writer.field("status", 1);
      say("a", writer.finish(std::string(kMaxWords + more, 'x')));
      EXPECT_EQ(event().kind == Kind::kLost, more == 1) << name_of(verb);
    }
  }
}

TEST_F(HostStateTest, GarbageEndsTheWorkerThatSentIt) {
  for (const char* bytes :
       {"\x16\x03\x01 tls", "hello size=0\n", "lines seq=1 line=1 size=0\n",
        "done size=0\n", "done seq=1 bytes=1 wait=0 size=0\n"}) {
    attach_two();
    say("a", bytes);
    const HostEvent e = event();
    EXPECT_EQ(e.kind, Kind::kLost) << bytes;
    EXPECT_EQ(e.worker, 0u);
    EXPECT_TRUE(e.why.starts_with("worker 0 (w0 on h, pid 7) is lost: "))
        << e.why;
    EXPECT_EQ(sent(), std::vector<std::string>{"a: abort"});
    EXPECT_EQ(host_->worker(0).state, WorkerState::kLost);
    EXPECT_EQ(host_->worker(1).state, WorkerState::kAttached);
  }
}

TEST_F(HostStateTest, CreditIsTakenAndGivenBack) {
  attach_two();
  const size_t window = options(2).window;
  EXPECT_TRUE(host_->can_send(0, window));
  EXPECT_FALSE(host_->can_send(0, window + 1));
  const Frame frame(lines(kMaxBody));
  uint64_t on_way = 0;
  for (; host_->can_send(0, frame.size()); on_way += frame.size()) {
    host_->send(0, frame);
  }
  EXPECT_LE(on_way, window);
  EXPECT_TRUE(host_->can_send(1, frame.size()));
  host_->send(0, Frame(MessageWriter(Verb::kEnd).finish()));  // no credit
  EXPECT_EQ(host_->worker(0).sent, on_way);
  say("a", done(1, frame.size()));
  EXPECT_TRUE(host_->can_send(0, frame.size()));
  EXPECT_EQ(host_->worker(0).taken, frame.size());
  EXPECT_EQ(event().owned.message.verb, Verb::kDone);
  say("a", done(1, frame.size() - 1));
  EXPECT_EQ(event().kind, Kind::kLost);
  EXPECT_FALSE(host_->can_send(0, 1));
}

TEST_F(HostStateTest, SmallMessagesAreBoundedByTheirNumber) {
  attach_two();
  const Frame frame(lines(1));
  size_t count = 0;
  for (; host_->can_send(0, frame.size()); ++count) host_->send(0, frame);
  EXPECT_EQ(count, HostState::kMaxOnWay);
  say("a", done(1, 10 * frame.size()));
  for (count = 0; host_->can_send(0, frame.size()); ++count) {
    host_->send(0, frame);
  }
  EXPECT_EQ(count, 10u);
}

TEST_F(HostStateTest, BeatsGoToAllWhoSaidHello) {
  start(2);
  say("a", hello(info_of("w0")));
  pass(499);
  EXPECT_TRUE(sent().empty());
  pass(1);
  EXPECT_EQ(sent(), std::vector<std::string>{"a: beat"});
  say("b", hello(info_of("w1")));
  sent();
  pass(500);
  EXPECT_EQ(sent(), (std::vector<std::string>{"a: beat", "b: beat"}));
}

TEST_F(HostStateTest, ASilentWorkerIsSuspectThenLost) {
  attach_two();
  for (int i = 0; i < 2; ++i) {
    pass(500);
    say("b", done(0, 0));
  }
  for (const HostEvent& e : events()) {
    if (e.kind == Kind::kMessage) continue;
    EXPECT_EQ(e.kind, Kind::kSuspect);
    EXPECT_EQ(e.worker, 0u);
  }
  EXPECT_EQ(host_->worker(0).state, WorkerState::kSuspect);
  EXPECT_TRUE(host_->can_send(0, 1));
  sent();
  pass(500);
  const HostEvent e = event();
  EXPECT_EQ(e.kind, Kind::kLost);
  EXPECT_EQ(e.why,
            "worker 0 (w0 on h, pid 7) is lost: nothing was heard of it for "
            "1.5 s");
  EXPECT_EQ(sent(), (std::vector<std::string>{"a: abort", "b: beat"}));
}

TEST_F(HostStateTest, ALateBeatBringsASuspectBack) {
  attach_two();
  pass(500);
  pass(500);
  ASSERT_EQ(host_->worker(0).state, WorkerState::kSuspect);
  events();
  say("a", done(0, 0));
  EXPECT_EQ(events()[0].kind, Kind::kResumed);
  EXPECT_EQ(host_->worker(0).state, WorkerState::kAttached);
}

TEST_F(HostStateTest, NobodyIsLostWhileMessagesAreUnread) {
  attach_two();
  for (int i = 0; i < 10; ++i) pass(500, false);
  EXPECT_TRUE(events().empty());
}

TEST_F(HostStateTest, OurOwnSleepIsNotTheirSilence) {
  attach_two();
  pass(60000);
  EXPECT_TRUE(events().empty());
  pass(500);
  pass(500);
  EXPECT_EQ(events().size(), 2u);  // suspects
  pass(500);
  EXPECT_EQ(events().size(), 2u);  // lost
}

TEST_F(HostStateTest, AWorkerThatComesBackHasANewEpochAndAnEmptySlate) {
  attach_two();
  host_->send(0, Frame(lines(100)));
  say("a", "results more=1 size=1\nx");
  for (int i = 0; i < 3; ++i) {
    pass(500);
    say("b", done(0, 0));
  }
  ASSERT_EQ(host_->worker(0).state, WorkerState::kLost);
  events();
  // The worker was stopped, and what it still says belongs to its old epoch.
  say("a", "results size=1\ny");
  say("a", hello(info_of("w0")));
  EXPECT_EQ(host_->stale(), 2u);
  EXPECT_TRUE(events().empty());
  sent();
  say("a2", hello(info_of("w0")));
  EXPECT_EQ(sent(), std::vector<std::string>{"a2: welcome"});
  const HostEvent e = event();
  EXPECT_EQ(e.kind, Kind::kAttached);
  EXPECT_EQ(e.worker, 0u);
  EXPECT_EQ(host_->worker(0).epoch, 2u);
  EXPECT_EQ(host_->worker(0).sent, 0u);
  say("a2", "results size=1\nz");
  EXPECT_EQ(event().owned.message.body, "z");
}

TEST_F(HostStateTest, TheEndOfAConnectionIsTheEndOfItsWorker) {
  attach_two();
  host_->link_ended("nobody");
  host_->link_ended("b");
  const HostEvent e = event();
  EXPECT_EQ(e.kind, Kind::kLost);
  EXPECT_EQ(e.why, "worker 1 (w1 on h, pid 7) is lost: its connection ended");
  EXPECT_TRUE(sent().empty());
}

TEST_F(HostStateTest, RanksThatAreMissingAreNamed) {
  start(6);
  EXPECT_EQ(host_->who_is_missing(), "6 more");
  for (const uint32_t rank : {2U, 0U}) {
    WorkerInfo info = info_of("w" + std::to_string(rank));
    info.rank = rank;
    say(info.name, hello(info));
  }
  EXPECT_EQ(host_->here(), 2u);
  EXPECT_EQ(host_->who_is_missing(), "rank 1,3-5");
}

// Messages that still come by its former connection are dropped and counted.
TEST_F(HostStateTest, AWorkerGivenUpWhileOthersAreWaitedForComesBack) {
  start(2);
  say("a", hello(info_of("w0")));
  for (int i = 0; i < 3; ++i) pass(500);
  EXPECT_EQ(event().kind, Kind::kLost);
  EXPECT_EQ(sent()[0], "a: abort");
  EXPECT_EQ(host_->here(), 0u);
  say("a", "done seq=0 bytes=0 wait=0 size=0\n");
  say("a", "results size=2\nx\n");
  EXPECT_EQ(host_->ignored(), 2u);
  say("a", hello(info_of("w0")));
  say("b", hello(info_of("w1")));
  EXPECT_TRUE(host_->is_complete());
  EXPECT_EQ(host_->worker(0).epoch, 1u);
}

TEST_F(HostStateTest, AWorkerThatGoesWhileOthersAreWaitedForMakesRoom) {
  start(2);
  say("a", hello(info_of("w0")));
  host_->link_ended("a");
  const HostEvent e = event();
  EXPECT_EQ(e.kind, Kind::kLost);
  EXPECT_EQ(e.worker, kNoWorker);
  EXPECT_NE(e.why.find("w0 on h is lost before all workers were here"),
            std::string::npos);
  say("a2", hello(info_of("w0")));
  say("b", hello(info_of("w1")));
  EXPECT_TRUE(host_->is_complete());
  EXPECT_EQ(host_->worker(0).epoch, 1u);
}

}  // namespace
}  // namespace gt::net
