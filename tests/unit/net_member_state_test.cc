// Messages and the time alone decide what a worker's side of its connection
// does.
#include <gtest/gtest.h>

#include <optional>

#include "net/member_state.h"

namespace gt::net {
namespace {

using MemberKind = MemberEvent::Kind;

constexpr const char* kWelcome =
    "welcome worker=1 workers=2 epoch=3 session=S file=a.gt size=32\n"
    "0 a h ipc://e 1\n1 b h ipc://e 2\n";

class MemberStateTest : public testing::Test {
 protected:
  MemberStateTest() { begin(); }
  void begin() {
    MemberOptions options;
    options.info.name = "b";
    options.info.host = "h";
    options.info.pid = 2;
    options.table = "T";
    options.token = "t";
    options.host = "ipc://@route";
    options.connect_limit = 2000;
    options.clock = [this] { return clock_; };
    member_.emplace(options, now_);
  }
  void say(std::string bytes) {
    member_->receive(Frame(std::move(bytes)), now_);
  }
  void pass(int64_t ms) {
    now_ += ms;
    member_->tick(now_, true);
  }
  std::vector<std::string> sent() {
    std::vector<std::string> out;
    Frame frame;
    while (member_->next(frame)) out.emplace_back(frame.bytes());
    return out;
  }
  MemberEvent event() {
    MemberEvent event;
    EXPECT_TRUE(member_->next(event));
    return event;
  }
  bool no_event() {
    MemberEvent event;
    return !member_->next(event);
  }
  void attach() {
    member_->link_up(now_);
    EXPECT_EQ(sent().size(), 1u);
    say(kWelcome);
    EXPECT_EQ(event().kind, MemberKind::kAttached);
  }

  int64_t now_ = 9000;
  uint64_t clock_ = 5'000'000;
  std::optional<MemberState> member_;
};

TEST_F(MemberStateTest, SaysHelloOnceThereIsAConnection) {
  EXPECT_TRUE(sent().empty());
  member_->link_up(now_);
  EXPECT_EQ(sent(),
            std::vector<std::string>{
                "hello version=6 table=T token=t epoch=0 name=b host=h pid=2 "
                "data=\"\" threads=0 isa=\"\" backend=\"\" size=0\n"});
}

TEST_F(MemberStateTest, IsAttachedByAWelcome) {
  attach();
  const Welcome& welcome = member_->welcome();
  EXPECT_EQ(welcome.worker, 1u);
  EXPECT_EQ(welcome.workers, 2u);
  EXPECT_EQ(welcome.epoch, 3u);
  EXPECT_EQ(welcome.session, "S");
  EXPECT_EQ(welcome.file, "a.gt");
  ASSERT_EQ(welcome.roster.size(), 2u);
  EXPECT_EQ(welcome.roster[1].name, "b");
  EXPECT_EQ(welcome.roster[1].pid, 2u);
}

TEST_F(MemberStateTest, AWelcomeThatDoesNotAddUpIsNone) {
  for (const char* bytes :
       {"welcome worker=2 workers=2 epoch=1 size=32\n0 a h ipc://e "
        "1\n1 b h ipc://e 2\n",
        "welcome worker=0 workers=2 epoch=1 size=16\n0 a h ipc://e 1\n",
        "welcome worker=0 workers=1 epoch=1 size=14\n0 a h ipc://e\n",
        "welcome worker=0 workers=1 epoch=1 size=20\n0 a h ws://h:1234 1\n",
        "welcome worker=0 workers=1 size=16\n0 a h ipc://e 1\n"}) {
    MemberOptions options;
    options.host = "E";
    MemberState member(options, now_);
    member.link_up(now_);
    member.receive(Frame(std::string(bytes)), now_);
    MemberEvent e;
    ASSERT_TRUE(member.next(e));
    EXPECT_EQ(e.kind, MemberKind::kLost) << bytes;
    EXPECT_TRUE(e.why.starts_with("gt-route at E: welcome: ")) << e.why;
  }
}

TEST_F(MemberStateTest, TellsWhatRanIfThereIsALog) {
  attach();
  member_->ran("comm 1 1 2 3\n");  // not wanted yet
  EXPECT_TRUE(sent().empty());
  // The second time was under way for less time, so it is the better one.
  say("beat time=4999000 size=0\n");
  EXPECT_TRUE(member_->is_logged());
  clock_ = 6'000'000;
  say("beat time=5999900 size=0\n");
  clock_ = 7'000'000;
  say("beat time=6990000 size=0\n");
  clock_ = 7'000'500;
  member_->ran("comm 1 1 2 3\n");
  EXPECT_EQ(sent(), std::vector<std::string>{
                        "ran time=7000500 told=5999900 heard=6000000 size=13\n"
                        "comm 1 1 2 3\n"});
}

TEST_F(MemberStateTest, HandsOverWhatComesAndGivesRoomBack) {
  attach();
  say("lines seq=5 line=2 size=2\nx\n");
  const MemberEvent e = event();
  EXPECT_EQ(e.kind, MemberKind::kMessage);
  EXPECT_EQ(e.owned.message.body, "x\n");
  EXPECT_EQ(e.owned.bytes, 28u);
  member_->give_back(e.owned.bytes);
  EXPECT_TRUE(sent().empty());
  member_->done(5, 20, "waits for b");
  const std::string done = "done seq=5 bytes=28 wait=20 size=11\nwaits for b";
  EXPECT_EQ(sent(), std::vector<std::string>{done});
  pass(500);
  EXPECT_EQ(sent(), std::vector<std::string>{done});
  say("forget id=3 size=0\n");
  EXPECT_EQ(event().owned.bytes, 0u);
  say("end size=0\n");
  EXPECT_EQ(event().kind, MemberKind::kEnd);
}

// The beats go with gt-route's, whenever they began, so that no process wakes
// twice.
TEST_F(MemberStateTest, ItsBeatsGoWithThoseOfGtRoute) {
  for (const int64_t apart : {10, 100, 200, 300, 490}) {
    begin();
    attach();
    pass(500);
    EXPECT_EQ(sent().size(), 1u);
    pass(apart);
    say("beat size=0\n");
    (void)sent();
    for (int i = 0; i < 5; ++i) {
      pass(500);
      EXPECT_TRUE(sent().empty());
      say("beat size=0\n");
      EXPECT_EQ(sent(),
                std::vector<std::string>{"done seq=0 bytes=0 wait=0 size=0\n"});
    }
    // Here gt-route is late.
    pass(620);
    EXPECT_TRUE(sent().empty());
    pass(5);
    EXPECT_EQ(sent().size(), 1u);
  }
}

TEST_F(MemberStateTest, RoomIsToldAtOnceWhenItIsMuch) {
  attach();
  member_->give_back(size_t{255} << 10);
  EXPECT_TRUE(sent().empty());
  member_->give_back(1024);
  EXPECT_EQ(sent(), std::vector<std::string>{
                        "done seq=0 bytes=262144 wait=0 size=0\n"});
}

TEST_F(MemberStateTest, PartsOfALongLineTakeNoRoomFromTheRest) {
  attach();
  MessageWriter writer(Verb::kLines);
  writer.field("seq", 1).field("line", 1);
  const auto parts = writer.finish_all(std::string(2 * kMaxBody, 'x'));
  ASSERT_EQ(parts.size(), 2u);
  say(parts[0]);
  EXPECT_TRUE(no_event());
  EXPECT_EQ(sent()[0], "done seq=0 bytes=" + std::to_string(parts[0].size()) +
                           " wait=0 size=0\n");
  say(parts[1]);
  const MemberEvent e = event();
  EXPECT_EQ(e.owned.message.body.size(), 2 * kMaxBody);
  EXPECT_EQ(e.owned.bytes, parts[1].size());
}

TEST_F(MemberStateTest, ABeatMayComeBetweenTheParts) {
  attach();
  MessageWriter writer(Verb::kLines);
  writer.field("seq", 1).field("line", 1);
  const auto parts = writer.finish_all(std::string(2 * kMaxBody, 'x'));
  say(parts[0]);
  say("beat size=0\n");
  EXPECT_TRUE(no_event());
  say(parts[1]);
  EXPECT_EQ(event().owned.message.body.size(), 2 * kMaxBody);
  say(parts[0]);
  say("abort size=3\nwhy");
  EXPECT_EQ(event().kind, MemberKind::kAborted);
}

TEST_F(MemberStateTest, TheLossOfAnotherWorkerIsAnEvent) {
  attach();
  say("gone worker=0 size=3\nwhy");
  const MemberEvent loss = event();
  EXPECT_EQ(loss.kind, MemberKind::kPeerLost);
  EXPECT_EQ(loss.worker, 0u);
  EXPECT_EQ(loss.why, "why");
  say("gone worker=1 size=0\n");  // the worker itself
  EXPECT_EQ(event().kind, MemberKind::kLost);
}

TEST_F(MemberStateTest, NothingElseComesBetweenTheParts) {
  for (const char* bytes :
       {"lines seq=1 line=1 size=0\n", "forget id=1 size=0\n", "end size=0\n",
        "block id=1 seq=1 line=1 size=0\n"}) {
    begin();
    attach();
    say("hot id=1 seq=1 line=1 more=1 size=1\nx");
    say(bytes);
    EXPECT_EQ(event().kind, MemberKind::kLost) << bytes;
  }
}

TEST_F(MemberStateTest, IsRefusedOrAbortedInTheWordsOfGtRoute) {
  member_->link_up(now_);
  say("refuse size=3\nwhy");
  MemberEvent e = event();
  EXPECT_EQ(e.kind, MemberKind::kRefused);
  EXPECT_EQ(e.why, "why");
  EXPECT_TRUE(member_->is_over());
}

TEST_F(MemberStateTest, ItsWordsAreOneLineThatDoesNothingToATerminal) {
  for (const std::string verb : {"refuse", "abort"}) {
    begin();
    if (verb == "abort") attach();
    member_->link_up(now_);
    say(verb + " size=9\na\x1b]0;b\x07\nc");
    EXPECT_EQ(event().why, "a\\x1b]0;b\\x07\\x0ac");
  }
}

TEST_F(MemberStateTest, GarbageFromGtRouteIsTheEnd) {
  for (const char* bytes :
       {"x", "results size=0\n", "welcome size=0\n", "hello size=0\n"}) {
    MemberOptions options;
    options.host = "E";
    MemberState member(options, now_);
    member.link_up(now_);
    member.receive(
        Frame(std::string(
            "welcome worker=0 workers=1 epoch=1 size=16\n0 a h ipc://e "
            "1\n")),
        now_);
    MemberEvent e;
    ASSERT_TRUE(member.next(e));
    ASSERT_EQ(e.kind, MemberKind::kAttached) << e.why;
    member.receive(Frame(std::string(bytes)), now_);
    ASSERT_TRUE(member.next(e));
    EXPECT_EQ(e.kind, MemberKind::kLost) << bytes;
  }
}

TEST_F(MemberStateTest, WithoutGtRouteItEndsInTime) {
  pass(1900);
  EXPECT_TRUE(no_event());
  pass(100);
  EXPECT_EQ(event().why, "no gt-route at ipc://@route within 2.0 s");
}

TEST_F(MemberStateTest, WhileOthersAreWaitedForBeatsKeepItThere) {
  member_->link_up(now_);
  for (int i = 0; i < 100; ++i) {
    say("beat size=0\n");
    pass(500);
  }
  EXPECT_TRUE(no_event());
  for (int i = 0; i < 2; ++i) pass(500);
  EXPECT_TRUE(no_event());  // nothing is lost yet
  pass(500);
  EXPECT_EQ(event().why,
            "gt-route at ipc://@route is lost: nothing was heard of it for "
            "2.0 s");
}

// gt-route was there, so the message must not say that there was none.
TEST_F(MemberStateTest, AGtRouteThatGaveUpIsToldWithItsWords) {
  member_->link_up(now_);
  say("abort size=8\nwaited\x1b\n");
  member_->link_down();
  pass(1900);
  EXPECT_TRUE(no_event());
  pass(100);
  EXPECT_EQ(event().why,
            "gt-route at ipc://@route ended before it had all its workers, and "
            "no other came within 2.0 s; the last that it said: "
            "waited\\x1b\\x0a");
}

TEST_F(MemberStateTest, AnUntrustedGtRouteIsToldNothing) {
  member_->link_untrusted("it has gone", false);
  EXPECT_TRUE(no_event());
  EXPECT_TRUE(sent().empty());
  member_->link_untrusted("it belongs to user 7, and this is user 8", true);
  const MemberEvent e = event();
  EXPECT_EQ(e.kind, MemberKind::kRefused);
  EXPECT_TRUE(e.why.starts_with(
      "what listens at ipc://@route is not taken for gt-route: it belongs to "
      "user 7, and this is user 8; "))
      << e.why;
  EXPECT_TRUE(sent().empty());
}

TEST_F(MemberStateTest, SilenceOfGtRouteIsItsLossOnceAttached) {
  attach();
  for (int i = 0; i < 2; ++i) pass(500);
  EXPECT_TRUE(no_event());
  pass(500);
  EXPECT_EQ(event().why,
            "gt-route at ipc://@route is lost: nothing was heard of it for "
            "1.5 s");
}

// A worker that was stopped for a while, and given up while others were waited
// for, comes again, each time after a longer pause.
TEST_F(MemberStateTest, GivenUpBeforeItIsWelcomeItSaysHelloAgain) {
  member_->link_up(now_);
  EXPECT_EQ(sent().size(), 1u);
  int64_t last = 0;
  for (int i = 0; i < 8; ++i) {
    say("abort size=4\ngone");
    const int64_t from = now_;
    std::vector<std::string> hellos;
    while (hellos.empty() && now_ < from + 5000) {
      pass(10);
      say("beat size=0\n");
      hellos = sent();
      std::erase_if(hellos, [](const std::string& bytes) {
        return !bytes.starts_with("hello ");
      });
    }
    EXPECT_EQ(hellos.size(), 1u);
    EXPECT_GE(now_ - from, last);
    last = now_ - from;
  }
  EXPECT_GE(last, 2000);
  EXPECT_LT(last, 4000);
  EXPECT_TRUE(no_event());
  say(kWelcome);
  EXPECT_EQ(event().kind, MemberKind::kAttached);
  say("abort size=4\ngone");  // now gt-route means it
  EXPECT_EQ(event().kind, MemberKind::kAborted);
}

TEST_F(MemberStateTest, OurOwnSleepIsNotItsSilence) {
  attach();
  pass(60000);
  EXPECT_TRUE(no_event());
}

TEST_F(MemberStateTest, AConnectionThatEndsIsLostOnlyOnceAttached) {
  member_->link_up(now_);
  member_->link_down();
  EXPECT_TRUE(no_event());
  EXPECT_TRUE(sent().empty());  // the hello was for that connection
  attach();
  member_->link_down();
  EXPECT_EQ(event().why,
            "gt-route at ipc://@route is lost: the connection ended");
}

}  // namespace
}  // namespace gt::net
