// Exchanges that wait or go wrong: failures that cross, fences, and workers
// that lie or fall silent.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <future>
#include <optional>

#include "comm_harness.h"
#include "comm_noter.h"

namespace gt::exec {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

TeamOptions two_workers() {
  TeamOptions options;
  options.ranks = "0=0 1=1";
  return options;
}

// Results and messages are those of one worker that plays all ranks.
void expect_as_alone(const std::string& program) {
  const Outcome alone = run_text(program);
  std::vector<std::string> wanted = lines_of(alone.out);
  std::sort(wanted.begin(), wanted.end());
  for (const Way way : kWays) {
    TeamOptions options = two_workers();
    options.way = way;
    const auto outcomes = run_team(Noter().note(program), options);
    EXPECT_EQ(sorted_lines(outcomes), wanted);
    EXPECT_EQ(outcomes[0].messages + outcomes[1].messages, alone.messages);
    EXPECT_EQ(worst(outcomes[0].status, outcomes[1].status), alone.status);
  }
}

TEST(CommFailure, TravelsToWhatDependsOnItAndNoFurther) {
  expect_as_alone(
      "x@0-1 = tensor i64[2] 3 4\nx@1 = tensor i64[2] 0 4\n"
      "y@0-1 = mod 7 x@0-1\n"
      "s@0-1 = all_reduce y@0-1\nprint s@0-1\n"
      "c@0 = copy y@1\nd@1 = copy y@0\nprint c@0\nprint d@1\n"
      "e@0 = add c@0 1\nprint e@0\n"
      "f@1 = copy c@0\nprint f@1\n");
}

TEST(CommFailure, AnAddressThatFailedHoldsValuesAgain) {
  std::string text = "x@0-1 = tensor i64[2] 3 4\n";
  for (int i = 0; i < 6; ++i) {
    text += "z@1 = tensor i64[2] " + std::to_string(i % 2) + " 1\n" +
            "x@1 = mod 7 z@1\ns@0-1 = all_reduce x@0-1\nprint s@0-1\n"
            "t@0-1 = neg s@0-1\nprint t@0-1\n";
  }
  const Outcome alone = run_text(text);
  std::vector<std::string> wanted = lines_of(alone.out);
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(sorted_lines(run_team(Noter().note(text), two_workers())), wanted);
}

TEST(CommFailure, OfAWholeIsPrintedOnceByWhoPutsItTogether) {
  const auto outcomes = run_team(
      "mesh dp=2\nx@0-1 = tensor i64[1] 0\ny@0-1 = mod 7 x@0-1\n"
      "print y@0-1 split=dp:0 #pieces=i64[1]\n",
      two_workers());
  EXPECT_EQ(outcomes[0].out,
            "y = fail \"t:3: mod: integer division by zero\"\n");
  EXPECT_EQ(outcomes[1].out, "");
}

// Only one worker rejects the line, and the other is told of it.
TEST(CommFailure, APieceThatIsMissingOrOfAnotherTypeIsSaid) {
  const auto outcomes = run_team(
      "x@0-1 = tensor f32[2] 1 2\n1: free x@1\n"
      "y@0-1 = all_reduce x@0-1 #pieces=f32[2]\nprint y@0-1\n"
      "1: x@1 = tensor f32[3] 1 2 3\n"
      "y@0-1 = all_reduce x@0-1 #pieces=f32[2]\nprint y@0\n",
      two_workers());
  EXPECT_EQ(outcomes[0].out,
            "y@0 = fail \"t:3: all_reduce: unknown name 'x@1'\"\n"
            "y@0 = fail \"t:6: all_reduce: x@1 is f32[3], but "
            "\\x23pieces= says f32[2]\"\n");
  EXPECT_EQ(outcomes[1].status, Exit::kRejected);
}

TEST(CommFailure, TypesMustBeNoted) {
  const auto outcomes = run_team(
      "x@0-1 = tensor f32[2] 1 2\ny@0-1 = all_reduce x@0-1\nprint y@0-1\n"
      "z@0-1 = all_reduce x@0-1 #pieces=f32[2];f32[2];f32[2]\nprint z@0\n",
      two_workers());
  EXPECT_NE(outcomes[0].out.find("pieces= note says their types"),
            std::string::npos);
  EXPECT_NE(outcomes[0].out.find("3 types for 2 pieces"), std::string::npos);
  EXPECT_EQ(lines_of(outcomes[0].out).size(), 2U);
  EXPECT_EQ(lines_of(outcomes[1].out).size(), 1U);
}

TEST(CommFailure, ARankThatNobodyPlays) {
  const auto outcomes =
      run_team("x@0-2 = tensor f32[] 1\nprint x@0\n", two_workers());
  EXPECT_NE(outcomes[0].messages.find("no worker plays rank 2"),
            std::string::npos);
}

// The memory holds three pieces, and is lent to others again and again.
TEST(CommFailure, MemoryComesBackOnceItWasRead) {
  std::string text = "x@0-1 = ones f32[262144]\n";
  for (int i = 0; i < 20; ++i) {
    text += "y@1 = copy x@0\nz@0 = copy x@1\nx@0-1 = add x@0-1 1\n";
  }
  text += "s@0-1 = sum x@0-1\nprint s@0-1\n";
  TeamOptions options = two_workers();
  options.worker.memory = size_t{5} << 20;
  const auto outcomes = run_team(Noter().note(text), options);
  EXPECT_EQ(outcomes[0].out, "s@0 = tensor f32[] 5505024\n");
  EXPECT_EQ(outcomes[1].messages, "");
}

TEST(CommFailure, WithoutMemoryForAResultTheOthersGetTheirs) {
  TeamOptions options = two_workers();
  options.worker.memory = size_t{3} << 20;
  const auto outcomes = run_team(
      "1: a = ones f32[262144]\n1: b = ones f32[262144]\n"
      "x@0-1 = ones f32[131072]\n"
      "y@0-1 = all_gather x@0-1 src=S0 dst=R #pieces=f32[131072]\n"
      "s@0-1 = sum y@0-1\nprint s@0-1\n",
      options);
  EXPECT_EQ(outcomes[0].out, "s@0 = tensor f32[] 262144\n");
  EXPECT_NE(outcomes[1].out.find("all_gather: out of memory"),
            std::string::npos);
}

TEST(CommTransfer, ValuesWithoutRanks) {
  const auto outcomes = run_team(
      "0: x = tensor f32[2] 1 2\n"
      "y = copy x #from=0 #to=1 #pieces=f32[2]\n"
      "1: z = add y 1\n1: print z\n"
      "z = copy z #from=1 #to=0 #pieces=f32[2]\n0: print z\n"
      "0: x = copy z\n0: print x\n"
      "x = copy x #from=0 #to=1 #pieces=f32[2]\n1: print x\n"
      "x = copy x #from=0 #to=1 #pieces=f32[3]\n1: print x\n",
      two_workers());
  EXPECT_EQ(outcomes[0].out, "z = tensor f32[2] 2 3\nx = tensor f32[2] 2 3\n");
  EXPECT_EQ(
      outcomes[1].out,
      "z = tensor f32[2] 2 3\nx = tensor f32[2] 2 3\n"
      "x = fail \"t:11: copy: x is f32[2], but \\x23pieces= says f32[3]\"\n");
}

TEST(CommTransfer, AFenceOrdersFiles) {
  const std::string path = testing::TempDir() + "gt-fence.npy";
  const auto outcomes = run_team(
      "x@0 = tensor f32[2] 1 2\nsave x@0 \"" + path + "\"\n#fence 0 1\n" +
          "y@1 = load \"" + path + "\" f32[2]\nprint y@1\n#fence 1 0\n" +
          "x@0 = tensor f32[2] 3 4\nsave x@0 \"" + path + "\"\n",
      two_workers());
  EXPECT_EQ(outcomes[1].out, "y@1 = tensor f32[2] 1 2\n");
  EXPECT_EQ(outcomes[0].messages + outcomes[1].messages, "");
  std::filesystem::remove(path);
}

// Behind the fence it is known which file was not saved, and nothing else is.
TEST(CommTransfer, AFenceTellsWhatWasNotSaved) {
  const std::string path = testing::TempDir() + "gt-fence-told.npy";
  const std::string quoted = "\"" + path + "\"";
  const auto outcomes = run_team(
      "x@0 = tensor i64[] 0\nsave x@0 " + quoted + "\nq@0 = floordiv 7 x@0\n" +
          "save q@0 " + quoted + "\n#fence 0 1 \"/other.npy\"\n" +
          "a@1 = load " + quoted + " i64[]\nprint a@1\n#fence 0 1 " + quoted +
          "\nb@1 = load " + quoted + " i64[]\nprint b@1\n#fence 1 0 " + quoted +
          "\nsave x@0 " + quoted + "\n#fence 0 1 " + quoted + "\nc@1 = load " +
          quoted + " i64[]\nprint c@1\n",
      two_workers());
  EXPECT_NE(outcomes[1].out.find(
                " was not saved: t:3: floordiv: integer division by zero\""),
            std::string::npos);
  EXPECT_TRUE(outcomes[1].out.starts_with("a@1 = tensor i64[] 0\nb@1 = fail "));
  EXPECT_TRUE(outcomes[1].out.ends_with("c@1 = tensor i64[] 0\n"));
  std::filesystem::remove(path);
}

// A worker goes on computing while an exchange waits for the other worker,
// until a line needs the result.
TEST(CommOverlap, ComputeRunsOnUntilItNeedsTheResult) {
  Hub hub(2, [](unsigned from, unsigned /*to*/, const std::string& bytes) {
    return from == 1 && bytes.starts_with("ready");
  });
  const std::string name = "t";
  TeamMember members[2] = {{hub, 0, two_workers()}, {hub, 1, two_workers()}};
  std::thread other([&] {
    ASSERT_TRUE(members[1].attach().ok());
    members[1].worker().line("#ranks - 0=0 1=1", &name, 0);
    members[1].worker().line("x@0-1 = ones f32[2]", &name, 1, 1);
    members[1].worker().line("y@0-1 = all_reduce x@0-1 #pieces=f32[2]", &name,
                             2, 2);
    members[1].worker().idle();
  });
  Worker& worker = members[0].worker();
  ASSERT_TRUE(members[0].attach().ok());
  worker.line("#ranks - 0=0 1=1", &name, 0);
  worker.line("x@0-1 = ones f32[2]", &name, 1, 1);
  worker.line("y@0-1 = all_reduce x@0-1 #pieces=f32[2]", &name, 2, 2);
  worker.line("z@0 = add x@0 x@0", &name, 3, 3);
  std::promise<void> independent;
  std::promise<void> dependent;
  worker.after_lines([&] { independent.set_value(); });
  worker.line("w@0 = add y@0 z@0", &name, 4, 4);
  worker.after_lines([&] { dependent.set_value(); });
  worker.idle();
  EXPECT_EQ(independent.get_future().wait_for(kPatience),
            std::future_status::ready);
  auto later = dependent.get_future();
  EXPECT_EQ(later.wait_for(std::chrono::milliseconds(0)),
            std::future_status::timeout);
  while (worker.waiting().what.empty()) std::this_thread::yield();
  EXPECT_EQ(worker.waiting().what, "line 2: piece of rank 1 from worker 1");
  hub.release();
  worker.line("print w@0", &name, 5, 5);
  other.join();
  members[1].worker().line("print y@1", &name, 5, 5);
  EXPECT_EQ(members[0].finish().out, "w@0 = tensor f32[2] 4 4\n");
  EXPECT_EQ(members[1].finish().out, "y@1 = tensor f32[2] 2 2\n");
}

// The test plays worker 1.
class Liar : public testing::Test {
 protected:
  using Answer = std::function<void(const std::string& message)>;

  // What worker 0 prints of a sum with a piece of worker 1.
  std::string sum_with(const Answer& answer,
                       std::chrono::milliseconds patience = kPatience) {
    // What an earlier lie has left in a queue must not reach this worker.
    hub_.emplace(2);
    is_over_ = false;
    TeamOptions options = two_workers();
    options.patience = patience;
    TeamMember member(*hub_, 0, options);
    std::thread other([&] {
      comm::Incoming in;
      while (!is_over_) {
        if (hub_->receive(1, in, std::chrono::milliseconds(-1))) {
          answer(in.bytes);
        }
      }
    });
    const Status attached = member.attach();
    EXPECT_TRUE(attached.ok());
    const std::string name = "t";
    member.worker().line("#ranks - 0=0 1=1", &name, 0);
    member.worker().line("x@0 = tensor f32[2] 1 2", &name, 1, 1);
    member.worker().line("y@0-1 = all_reduce x@0-1 #pieces=f32[2]", &name, 2,
                         2);
    member.worker().line("print y@0", &name, 3, 3);
    const Outcome outcome = member.finish();
    is_over_ = true;
    hub_->wake(1);
    other.join();
    return outcome.out;
  }
  void say(const std::string& bytes) { hub_->send(1, 0, bytes); }
  // Says hello when greeted, without memory, and says `bytes` when a piece is
  // shown.
  Answer lie(const std::string& bytes) {
    return [this, bytes](const std::string& message) {
      if (message.starts_with("hello")) say(kHello);
      if (message.starts_with("ready")) {
        say(bytes);
        say("released 2 0 0 0\n");
      }
    };
  }
  void expect_lie(const std::string& bytes, const std::string& why) {
    const std::string out = sum_with(lie(bytes));
    EXPECT_NE(out.find("y@0 = fail \"t:2: all_reduce: "), std::string::npos)
        << out;
    EXPECT_NE(out.find(why), std::string::npos) << out;
    is_over_ = false;
  }

  static constexpr const char* kHello =
      "hello 0 0 0 00000000000000000000000000000000 - - 0\n";
  std::optional<Hub> hub_{std::in_place, 2};
  std::atomic<bool> is_over_{false};
};

TEST_F(Liar, IsLostAtOnce) {
  const std::string cannot = "worker 1 sent a message that cannot be: ";
  expect_lie("", cannot + "it has no header");
  expect_lie("nonsense\n", cannot + "'nonsense' is no header");
  expect_lie("ready 2 0 0 1 f33[2] -\n", cannot);
  expect_lie("ready 2 0 0 1 f32[3] -\n", "worker 1 has f32[3] where f32[2]");
  expect_lie("released 2 0 0 7\n", cannot + "'released 2 0 0 7' is about");
  expect_lie("released 99 0 0 0\n", cannot + "'released 99 0 0 0' is about");
  expect_lie("get 1 2 0 0 0 0 8 1 2\n", cannot + "'get 2 0 0 0' asks for");
  expect_lie("get 1 2 0 0 0 4 8 0 2\n", cannot + "'get 2 0 0 0' asks for");
  expect_lie("get 1 2 0 0 0 0 8 0,0 1,2\n", cannot + "'get 2 0 0 0' asks for");
  expect_lie("get 1 7 0 0 0 0 8 0 2\n", cannot + "'get 7 0 0 0' is about");
  expect_lie("data 1\n12345678", cannot + "data that nobody asked for");
  expect_lie(kHello, cannot + "a second hello");
  expect_lie("take 2 0 0\n0 0\n", cannot + "'0 0' is no region");
}

TEST_F(Liar, DataOfAnotherSize) {
  const std::string out = sum_with([this](const std::string& message) {
    if (message.starts_with("hello")) say(kHello);
    if (message.starts_with("ready")) say("ready 2 0 0 1 f32[2] 8192\n");
    if (message.starts_with("get 1 ")) say("data 1\n1234567");
  });
  EXPECT_NE(out.find("7 bytes, asked for 8"), std::string::npos) << out;
}

TEST_F(Liar, AFailureIsTakenAsItIs) {
  const std::string out = sum_with([this](const std::string& message) {
    if (message.starts_with("hello")) say(kHello);
    if (message.starts_with("ready")) say("fail 2 0 0 1\nt:9: what \"it\" was");
    if (message.starts_with("ready")) say("released 2 0 0 0\n");
  });
  EXPECT_EQ(out, "y@0 = fail \"t:9: what \\\"it\\\" was\"\n");
}

TEST_F(Liar, MemoryWithAnotherTokenIsNotBelieved) {
  auto arena = Arena::make(size_t{64} << 20);
  ASSERT_TRUE(arena.ok());
  const std::string hello = "hello " + std::to_string(::getpid()) + " " +
                            std::to_string(arena.value()->fd()) + " " +
                            std::to_string(arena.value()->size()) +
                            " 00000000000000000000000000000000 - - 0\n";
  const std::string out = sum_with([&](const std::string& message) {
    if (message.starts_with("hello")) say(hello);
    if (message.starts_with("ready")) say("ready 2 0 0 1 f32[2] 8192\n");
    if (message.starts_with("get 1 ")) {  // it is fetched instead
      const float values[] = {10, 20};
      say("data 1\n" +
          std::string(reinterpret_cast<const char*>(values), sizeof values));
    }
    if (message.starts_with("released")) say("released 2 0 0 0\n");
  });
  EXPECT_EQ(out, "y@0 = tensor f32[2] 11 22\n");
}

TEST_F(Liar, AnOffsetOutsideOfItsMemory) {
  auto arena = Arena::make(size_t{64} << 20);
  ASSERT_TRUE(arena.ok());
  comm::PeerMessage hello;
  hello.kind = comm::PeerMessage::Kind::kHello;
  hello.pid = static_cast<uint64_t>(::getpid());
  hello.fd = static_cast<uint64_t>(arena.value()->fd());
  hello.size = arena.value()->size();
  hello.token = arena.value()->token();
  const std::string at = std::to_string(arena.value()->size() - 4);
  const std::string out = sum_with([&](const std::string& message) {
    if (message.starts_with("hello")) say(comm::to_text(hello));
    if (message.starts_with("ready")) {
      say("ready 2 0 0 1 f32[2] " + at + "\n");
    }
  });
  EXPECT_NE(out.find("offset " + at + " is not within its memory"),
            std::string::npos)
      << out;
}

TEST_F(Liar, SilenceHasALimit) {
  const std::string out = sum_with(
      [this](const std::string& message) {
        if (message.starts_with("hello")) say(kHello);
      },
      std::chrono::milliseconds(50));
  EXPECT_NE(out.find("no sign of worker 1 for 0.1 s; it has the piece of rank "
                     "1"),
            std::string::npos)
      << out;
}

TEST_F(Liar, AWorkerThatNeverGreetsIsNamed) {
  TeamOptions options = two_workers();
  options.patience = std::chrono::milliseconds(50);
  TeamMember member(*hub_, 0, options);
  const Status attached = member.attach();
  ASSERT_FALSE(attached.ok());
  EXPECT_EQ(attached.error().message, "no sign of worker 1 for 0.1 s");
}

TEST_F(Liar, AnAbortEndsAllWaits) {
  TeamMember member(*hub_, 0, two_workers());
  say(kHello);
  ASSERT_TRUE(member.attach().ok());
  const std::string name = "t";
  Worker& worker = member.worker();
  worker.line("#ranks - 0=0 1=1", &name, 0);
  worker.line("x@0 = tensor f32[2] 1 2", &name, 1, 1);
  worker.line("y@0-1 = all_reduce x@0-1 #pieces=f32[2]", &name, 2, 2);
  worker.line("print y@0", &name, 3, 3);
  worker.idle();
  worker.abort("gt-route is gone");
  const Outcome outcome = member.finish();
  EXPECT_NE(outcome.out.find("gt-route is gone"), std::string::npos);
}

}  // namespace
}  // namespace gt::exec
