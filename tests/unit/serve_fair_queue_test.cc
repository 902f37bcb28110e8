// Fair service on a virtual clock: each step serves one block, and takes as
// long as the block costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "serve/fair_queue.h"
#include "share.h"

namespace gt::serve {
namespace {

constexpr double kQuantum = 0.02;  // seconds, the largest cost of a block

TEST(FairQueue, TakesTurnsByCost) {
  FairQueue queue;
  queue.add(1);
  queue.add(2);
  EXPECT_FALSE(queue.next().has_value());
  queue.set_waiting(1, true);
  queue.set_waiting(2, true);
  std::vector<FairQueue::Client> served;
  for (int i = 0; i < 6; ++i) {
    served.push_back(*queue.next());
    queue.serve(served.back(), served.back() == 1 ? 0.02 : 0.01);
  }
  EXPECT_EQ(served, (std::vector<FairQueue::Client>{1, 2, 2, 1, 2, 2}));
  queue.remove(1);
  EXPECT_EQ(queue.next(), 2U);
}

TEST(FairQueue, AClientThatAsksForNothingSavesNothingUp) {
  FairQueue queue;
  for (const FairQueue::Client c : {1U, 2U}) queue.add(c);
  queue.set_waiting(1, true);
  for (int i = 0; i < 1000; ++i) queue.serve(1, kQuantum);
  queue.set_waiting(2, true);
  for (int i = 0; i < 100; ++i) queue.serve(*queue.next(), kQuantum);
  EXPECT_LE(queue.service(2), 51 * kQuantum);
  // The same holds if nobody waits in between.
  queue.set_waiting(1, false);
  queue.set_waiting(2, false);
  queue.add(3);
  queue.set_waiting(3, true);
  queue.set_waiting(1, true);
  for (int i = 0; i < 100; ++i) queue.serve(*queue.next(), kQuantum);
  EXPECT_LE(queue.service(3), 51 * kQuantum);
}

TEST(FairQueue, AWeightIsAShare) {
  FairQueue queue;
  queue.add(1, 2);
  queue.add(2, 1);
  for (const FairQueue::Client c : {1U, 2U}) queue.set_waiting(c, true);
  for (int i = 0; i < 3000; ++i) queue.serve(*queue.next(), kQuantum);
  EXPECT_NEAR(queue.service(1) / queue.service(2), 2, 0.01);
}

// Clients come and go at random, each with blocks of its own costs.
class World {
 public:
  explicit World(unsigned seed) : engine_(seed) {
    clients_ = 2 + random(7);
    for (unsigned c = 0; c < clients_; ++c) {
      queue_.add(c);
      most_[c] = kQuantum * (1 + random(100)) / 100;
      busy_[c] = 1 + random(40);
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      for (unsigned c = 0; c < clients_; ++c) {
        if (random(busy_[c]) == 0) {
          queue_.set_waiting(c, !queue_.is_waiting(c));
        }
      }
      step();
    }
  }

 private:
  // A number from 0 up to, and without, `end`.
  unsigned random(unsigned end) {
    return static_cast<unsigned>(engine_() % end);
  }

  void step() {
    bool waits = false;
    for (unsigned c = 0; c < clients_; ++c) waits |= queue_.is_waiting(c);
    const auto next = queue_.next();
    ASSERT_EQ(next.has_value(), waits);  // never idle while a client waits
    check();
    if (!next) return;
    ASSERT_TRUE(queue_.is_waiting(*next));
    const double part = (1.0 + random(1000)) / 1000;
    queue_.serve(*next, most_[*next] * part);
    check();
  }

  // For each two clients, the difference in service while both wait stays
  // within two quanta.
  void check() {
    for (unsigned a = 0; a < clients_; ++a) {
      for (unsigned b = 0; b < a; ++b) {
        Pair& pair = pairs_[a][b];
        const double ahead = queue_.service(a) - queue_.service(b);
        if (!queue_.is_waiting(a) || !queue_.is_waiting(b)) {
          pair.both = false;
          continue;
        }
        if (!pair.both) pair = {true, ahead, ahead};
        pair.least = std::min(pair.least, ahead);
        pair.most = std::max(pair.most, ahead);
        ASSERT_LE(pair.most - pair.least, 2 * kQuantum + 1e-9);
      }
    }
  }

  struct Pair {
    bool both = false;  // both wait
    double least = 0, most = 0;
  };
  static constexpr unsigned kMost = 8;

  std::mt19937 engine_;
  FairQueue queue_;
  unsigned clients_ = 0;
  std::array<double, kMost> most_{};
  std::array<unsigned, kMost> busy_{};
  std::array<std::array<Pair, kMost>, kMost> pairs_{};
};

TEST(FairQueue, ServiceDiffersByTwoQuantaAtMost) {
  const Share share = share_of_run();
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    if (!share.has(seed)) continue;
    World(seed).run(200);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace gt::serve
