// The connections between workers, over real sockets.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "net/peers.h"
#include "net/poller.h"
#include "net/wire.h"
#include "net_harness.h"

namespace gt::net {
namespace {

constexpr int64_t kPatience = 20000;  // ms; a loaded machine may take so long

// Receives at each until `done`; false if that takes too long.
bool run(const std::vector<std::unique_ptr<Peers>>& all,
         std::vector<std::vector<PeerEvent>>& got,
         const std::function<bool()>& done) {
  got.resize(all.size());
  const int64_t end = now_ms() + kPatience;
  while (!done()) {
    if (now_ms() > end) return false;
    Poller poller;
    for (const auto& peers : all) {
      poller.add_socket(peers->pollable());
      poller.add_socket(peers->monitor());
    }
    poller.wait(100);
    for (size_t i = 0; i < all.size(); ++i) {
      PeerEvent message;
      while (all[i]->receive(message)) got[i].push_back(std::move(message));
    }
  }
  return true;
}

class PeersTest : public testing::TestWithParam<const char*> {
 protected:
  void make(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      // Peers go over tcp only where other users may come, too.
      auto peers =
          Peers::make(context_, GetParam(), {.anyone = is_tcp(GetParam())});
      ASSERT_TRUE(peers.ok()) << peers.error().message;
      all_.push_back(std::move(peers.value()));
    }
  }
  std::vector<PeerAddress> others(uint32_t self) const {
    std::vector<PeerAddress> out;
    for (uint32_t i = 0; i < all_.size(); ++i) {
      if (i != self) out.push_back({i, all_[i]->endpoint(), {}});
    }
    return out;
  }
  void connect() {
    for (uint32_t i = 0; i < all_.size(); ++i) {
      ASSERT_TRUE(all_[i]->connect(i, "secret", others(i)).ok());
    }
  }
  bool all_ready() const {
    for (const auto& peers : all_) {
      if (!peers->ready()) return false;
    }
    return true;
  }

  Context context_;
  std::vector<std::unique_ptr<Peers>> all_;
  std::vector<std::vector<PeerEvent>> got_;
};

TEST_P(PeersTest, EveryWorkerHearsEveryOther) {
  make(4);
  connect();
  EXPECT_EQ(all_[1]->missing(), (std::vector<uint32_t>{0, 2, 3}));
  ASSERT_TRUE(run(all_, got_, [&] { return all_ready(); }));
  for (uint32_t from = 0; from < 4; ++from) {
    for (uint32_t to = 0; to < 4; ++to) {
      if (from == to) continue;
      EXPECT_TRUE(all_[from]->send(to, "tag " + std::to_string(from)));
    }
  }
  ASSERT_TRUE(run(all_, got_, [&] {
    for (const auto& messages : got_) {
      if (messages.size() < 3) return false;
    }
    return true;
  }));
  for (uint32_t to = 0; to < 4; ++to) {
    for (const PeerEvent& message : got_[to]) {
      EXPECT_EQ(message.header, "tag " + std::to_string(message.worker));
      EXPECT_EQ(message.body.size(), 0u);
    }
  }
}

TEST_P(PeersTest, BodiesAreSentWhereTheyLieAndLetGoAfterwards) {
  GT_SKIP_BULK();
  make(2);
  connect();
  ASSERT_TRUE(run(all_, got_, [&] { return all_ready(); }));
  auto body = std::make_shared<std::string>(kMaxPeerBody, 'x');
  const std::weak_ptr<std::string> watch = body;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(
        all_[0]->send(1, std::to_string(i), body->data(), body->size(), body));
  }
  body.reset();
  ASSERT_TRUE(run(all_, got_, [&] { return got_[1].size() == 20; }));
  for (size_t i = 0; i < got_[1].size(); ++i) {
    EXPECT_EQ(got_[1][i].header, std::to_string(i));
    EXPECT_EQ(got_[1][i].body.bytes(), std::string(kMaxPeerBody, 'x'));
  }
  EXPECT_TRUE(run(all_, got_, [&] { return watch.expired(); }));
}

TEST_P(PeersTest, AWorkerThatIsGoneIsLostAfterItsLastMessage) {
  make(3);
  connect();
  ASSERT_TRUE(run(all_, got_, [&] { return all_ready(); }));
  ASSERT_TRUE(all_[2]->send(0, "last"));
  ASSERT_TRUE(run(all_, got_, [&] { return got_[0].size() == 1; }));
  all_.pop_back();
  ASSERT_TRUE(run(all_, got_,
                  [&] { return got_[0].size() == 2 && got_[1].size() == 1; }));
  EXPECT_EQ(got_[0][0].header, "last");
  EXPECT_EQ(got_[0][1].kind, PeerEvent::Kind::kLost);
  EXPECT_EQ(got_[0][1].worker, 2u);
  EXPECT_FALSE(all_[0]->send(2, "too late"));
  EXPECT_TRUE(all_[0]->send(1, "still here"));
}

// A worker whose hello comes before our own is said gets its answer after that.
TEST_P(PeersTest, AWorkerThatConnectsLaterReachesTheOthersToo) {
  make(2);
  ASSERT_TRUE(all_[0]->connect(0, "secret", others(0)).ok());
  const int64_t end = now_ms() + kPatience;
  Poller poller;
  const size_t first = poller.add_socket(all_[0]->monitor());
  const size_t second = poller.add_socket(all_[1]->pollable());
  while (!poller.ready(second) && now_ms() < end) {
    poller.wait(100);
    PeerEvent event;
    if (poller.ready(first)) all_[0]->receive(event);
  }
  ASSERT_TRUE(all_[1]->connect(1, "secret", others(1)).ok());
  EXPECT_TRUE(run(all_, got_, [&] { return all_ready(); }));
  EXPECT_EQ(all_[0]->strangers(), 0u);
}

TEST_P(PeersTest, AWorkerThatDoesNotComeIsNamed) {
  make(3);
  ASSERT_TRUE(all_[0]->connect(0, "secret", others(0)).ok());
  ASSERT_TRUE(all_[1]->connect(1, "secret", others(1)).ok());
  ASSERT_TRUE(run(all_, got_, [&] {
    return all_[0]->missing().size() == 1 && all_[1]->missing().size() == 1;
  }));
  EXPECT_EQ(all_[0]->missing(), std::vector<uint32_t>{2});
  EXPECT_FALSE(all_[0]->ready());
}

TEST_P(PeersTest, StrangersAreNotHeard) {
  make(2);
  LinkOptions options;
  options.max_message = kMaxPeerBody;
  Router stranger(context_, options);
  ASSERT_TRUE(stranger.connect_as("a", all_[0]->endpoint()).ok());
  const auto say = [&](std::string text) {
    EXPECT_EQ(stranger.send("a", Frame(std::move(text))), Sent::kSent);
  };
  connect();
  say("GET / HTTP/1.1");
  say(MessageWriter(Verb::kHello)
          .field("worker", 1)
          .field("session", "guess")
          .finish());
  say(MessageWriter(Verb::kHello)
          .field("worker", 7)
          .field("session", "secret")
          .finish());
  say(MessageWriter(Verb::kWelcome).finish());
  EXPECT_EQ(
      stranger.send("a", Frame(std::string("h")), Frame(std::string("b"))),
      Sent::kSent);
  ASSERT_TRUE(run(all_, got_,
                  [&] { return all_ready() && all_[0]->strangers() == 5; }));
  // The place of a worker that is there is not given away, even with the token.
  say(MessageWriter(Verb::kHello)
          .field("worker", 1)
          .field("session", "secret")
          .finish());
  ASSERT_TRUE(run(all_, got_, [&] { return all_[0]->strangers() == 6; }));
  EXPECT_TRUE(all_[1]->send(0, "mine"));
  ASSERT_TRUE(run(all_, got_, [&] { return got_[0].size() == 1; }));
  EXPECT_EQ(got_[0][0].header, "mine");
  EXPECT_EQ(got_[0][0].worker, 1u);
}

// libzmq ends a process that names a connection as a peer has named its own.
TEST_P(PeersTest, AStrangerThatNamesItselfTakesNoNameOfOurs) {
  make(2);
  void* stranger = zmq_socket(context_.raw(), ZMQ_DEALER);
  ASSERT_EQ(zmq_setsockopt(stranger, ZMQ_ROUTING_ID, "to-1", 4), 0);
  ASSERT_EQ(zmq_connect(stranger, all_[0]->endpoint().c_str()), 0);
  ASSERT_EQ(zmq_send(stranger, "x", 1, 0), 1);
  Poller poller;
  poller.add_socket(all_[0]->pollable());
  poller.wait(kPatience);  // it is there, with its name
  connect();
  EXPECT_TRUE(run(all_, got_, [&] { return all_ready(); }));
  zmq_close(stranger);
}

INSTANTIATE_TEST_SUITE_P(Links, PeersTest,
                         testing::Values("ipc://@gt-x", "tcp://127.0.0.1:1"),
                         [](const auto& p) {
                           return std::string(p.param).substr(0, 3);
                         });

}  // namespace
}  // namespace gt::net
