// gt-route's end of a connection and a worker's, over real sockets.
#include <dirent.h>
#include <gtest/gtest.h>

#include "net_harness.h"

namespace gt::net {
namespace {

using Kind = HostEvent::Kind;

std::string lines(uint64_t seq, std::string_view body) {
  MessageWriter writer(Verb::kLines);
  writer.field("seq", seq).field("line", seq);
  return writer.finish(body);
}

class HostTest : public testing::TestWithParam<const char*> {
 protected:
  std::string endpoint() const {
    const std::string where = GetParam();
    return where == "ipc" ? local_endpoint() : "tcp://127.0.0.1:*";
  }
};

TEST_P(HostTest, ASessionFromHelloToBye) {
  NetHarness net(2, endpoint());
  Member& a = net.join("a");
  Member& b = net.join("b");
  ASSERT_TRUE(net.run_until_attached());
  EXPECT_EQ(next_event(net, a).kind, MemberEvent::Kind::kAttached);
  EXPECT_EQ(next_event(net, b).kind, MemberEvent::Kind::kAttached);
  EXPECT_NE(a.state().welcome().worker, b.state().welcome().worker);
  EXPECT_EQ(a.state().welcome().session, "S");

  const Frame text(lines(1, "x = zeros f32[2]\n"));
  for (uint32_t worker : {0u, 1u}) net.host_->send(worker, text);
  net.host_->send(0, Frame(MessageWriter(Verb::kEnd).finish()));
  for (Member* member : {&a, &b}) {
    const MemberEvent event = next_event(net, *member);
    EXPECT_EQ(event.owned.message.body, "x = zeros f32[2]\n");
    member->give_back(event.owned.bytes);
    member->done(1);
  }
  ASSERT_TRUE(net.run([&] { return net.count(Kind::kMessage) >= 2; }));
  EXPECT_EQ(net.host_->state().worker(0).done_seq, 1u);
  EXPECT_EQ(net.host_->state().worker(1).taken, text.size());

  Member& first = a.state().welcome().worker == 0 ? a : b;
  EXPECT_EQ(next_event(net, first).kind, MemberEvent::Kind::kEnd);
  first.send(Frame(MessageWriter(Verb::kResults).finish("r\n")));
  first.send(Frame(MessageWriter(Verb::kBye).field("status", 0).finish()));
  first.linger(1000);
  net.members_.erase(net.members_.begin() + (&first == &b ? 1 : 0));
  ASSERT_TRUE(net.run([&] { return net.count(Kind::kLeft) == 1; }));
  EXPECT_EQ(net.count(Kind::kLost), 0u);
}

// A connection that names itself could take the name of one that has ended.
TEST_P(HostTest, APeerThatNamesItsConnectionIsNotHeard) {
  NetHarness net(1, endpoint());
  void* stranger = zmq_socket(net.members_context_.raw(), ZMQ_DEALER);
  ASSERT_EQ(zmq_setsockopt(stranger, ZMQ_ROUTING_ID, "me", 2), 0);
  ASSERT_EQ(zmq_connect(stranger, net.host_->endpoint().c_str()), 0);
  MessageWriter hello(Verb::kHello);
  hello.field("version", uint64_t{kWireVersion});
  hello.field("table", "T").field("token", "t").field("name", "n");
  const std::string text = hello.field("pid", 1).finish();
  ASSERT_EQ(zmq_send(stranger, text.data(), text.size(), 0),
            static_cast<int>(text.size()));
  ASSERT_TRUE(net.run([&] { return net.host_->state().ignored() == 1; }));
  EXPECT_EQ(net.host_->state().here(), 0u);
  zmq_close(stranger);
  net.join("a");
  EXPECT_TRUE(net.run_until_attached());
}

TEST_P(HostTest, AWorkerThatGoesIsLostAfterItsLastMessages) {
  NetHarness net(1, endpoint());
  Member& a = net.join("a");
  ASSERT_TRUE(net.run_until_attached());
  for (int i = 0; i < 40; ++i) {
    a.send(Frame(MessageWriter(Verb::kResults).finish("r\n")));
  }
  a.linger(1000);
  net.members_.clear();
  ASSERT_TRUE(net.run([&] { return net.count(Kind::kLost) == 1; }));
  size_t results = 0;
  for (const HostEvent& event : net.host_events_) {
    results += event.kind == Kind::kMessage &&
               event.owned.message.verb == Verb::kResults;
  }
  EXPECT_EQ(results, 40u);
  EXPECT_EQ(net.host_events_.back().kind, Kind::kLost);
  // The worker comes back with an empty slate.
  Member& again = net.join("a");
  ASSERT_TRUE(net.run_until_attached());
  EXPECT_EQ(again.state().welcome().epoch, 2u);
}

TEST_P(HostTest, AHostThatGoesIsSaidToBeLost) {
  NetHarness net(1, endpoint());
  Member& a = net.join("a");
  ASSERT_TRUE(net.run_until_attached());
  EXPECT_EQ(next_event(net, a).kind, MemberEvent::Kind::kAttached);
  net.host_.reset();
  const int64_t end = now_ms() + NetHarness::kPatience;
  MemberEvent event;
  while (!a.next(event) && now_ms() < end) {
    Poller poller;
    a.add_to(poller);
    poller.wait(20);
    a.step();
  }
  EXPECT_EQ(event.kind, MemberEvent::Kind::kLost);
  EXPECT_NE(event.why.find("the connection ended"), std::string::npos);
}

TEST_P(HostTest, AWrongTokenIsRefusedInWords) {
  NetHarness net(1, endpoint());
  MemberOptions options = net.options("a");
  options.token = "guess";
  Member& a = net.join(options);
  const MemberEvent event = next_event(net, a);
  EXPECT_EQ(event.kind, MemberEvent::Kind::kRefused);
  EXPECT_EQ(event.why, "a on h has not the token of this session");
}

// What exceeds the credit is not sent, and what is sent is not dropped.
TEST_P(HostTest, AWorkerThatReadsSlowlyLosesNothing) {
  GT_SKIP_BULK();
  NetHarness net(2, endpoint());
  Member& slow = net.join("slow");
  Member& quick = net.join("quick");
  ASSERT_TRUE(net.run_until_attached());
  next_event(net, slow);
  next_event(net, quick);
  constexpr uint64_t kMessages = 3000;
  uint64_t next[2] = {1, 1};
  uint64_t got[2] = {0, 0};
  uint64_t most = 0;
  const auto read = [&](Member& member, uint64_t many) {
    const uint32_t worker = member.state().welcome().worker;
    MemberEvent event;
    for (uint64_t i = 0; i < many && member.next(event); ++i) {
      EXPECT_EQ(number(event.owned.message, "seq").value(), ++got[worker]);
      member.give_back(event.owned.bytes);
      member.done(got[worker]);
    }
  };
  const uint32_t quick_one = quick.state().welcome().worker;
  uint64_t slow_had = 0;
  ASSERT_TRUE(net.run([&] {
    for (uint32_t worker : {0u, 1u}) {
      std::string text = lines(next[worker], std::string(4096, '\n'));
      while (next[worker] <= kMessages &&
             net.host_->can_send(worker, text.size())) {
        net.host_->send(worker, Frame(std::move(text)));
        text = lines(++next[worker], std::string(4096, '\n'));
      }
      const WorkerStatus& status = net.host_->state().worker(worker);
      most = std::max(most, status.sent - status.taken);
    }
    read(slow, got[quick_one] == kMessages ? kMessages : 1);
    read(quick, kMessages);
    if (got[quick_one] < kMessages) slow_had = got[1 - quick_one];
    return got[0] == kMessages && got[1] == kMessages;
  }));
  EXPECT_LT(slow_had, kMessages);
  EXPECT_LE(most, HostOptions().window);
  EXPECT_EQ(net.count(Kind::kLost), 0u);
}

TEST_P(HostTest, ALineOfManyMegabytesArrivesWhole) {
  GT_SKIP_BULK();
  NetHarness net(1, endpoint());
  Member& a = net.join("a");
  ASSERT_TRUE(net.run_until_attached());
  next_event(net, a);
  const std::string body(size_t{9} << 20, 'x');
  MessageWriter writer(Verb::kLines);
  writer.field("seq", 1).field("line", 1);
  auto parts = writer.finish_all(body);
  size_t next = 0;
  MemberEvent event;
  ASSERT_TRUE(net.run([&] {
    while (next < parts.size() && net.host_->can_send(0, parts[next].size())) {
      net.host_->send(0, Frame(std::move(parts[next++])));
    }
    return a.next(event);
  }));
  EXPECT_EQ(event.owned.message.body, body);
}

INSTANTIATE_TEST_SUITE_P(Links, HostTest, testing::Values("ipc", "tcp"),
                         [](const auto& p) { return std::string(p.param); });

// Each of them takes two descriptors at least.
TEST(Host, AThousandWorkersAttachInOneProcess) {
  GT_SKIP_BULK();
  constexpr uint32_t kWorkers = 1024;
  NetHarness net(kWorkers, local_endpoint());
  for (uint32_t i = 0; i < kWorkers; ++i) {
    MemberOptions options = net.options("w" + std::to_string(i));
    options.info.rank = kWorkers - 1 - i;
    net.join(options);
  }
  ASSERT_TRUE(net.run_until_attached());
  const Frame text(lines(1, std::string(1000, '\n')));
  for (uint32_t i = 0; i < kWorkers; ++i) net.host_->send(i, text);
  uint32_t got = 0;
  ASSERT_TRUE(net.run([&] {
    for (uint32_t i = 0; i < kWorkers; ++i) {
      MemberEvent event;
      while (net.members_[i]->next(event)) {
        EXPECT_EQ(net.members_[i]->state().welcome().worker, kWorkers - 1 - i);
        got += event.kind == MemberEvent::Kind::kMessage;
      }
    }
    return got == kWorkers;
  }));
  EXPECT_EQ(net.count(Kind::kAttached), size_t{kWorkers});
  EXPECT_EQ(net.count(Kind::kLost), 0u);
}

}  // namespace
}  // namespace gt::net
