// Which client's block goes out next, on a virtual clock.
#include "serve/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "share.h"

namespace gt::serve {
namespace {

// Clients with work of random costs, and workers that do it in order and at a
// random speed.
class Cluster {
 public:
  explicit Cluster(unsigned seed) : engine_(seed) {
    clients_ = 2 + random(6);
    speed_ = 0.05 + 0.1 * random(100);
    // Half of the worlds have clients of equal shares.
    const bool is_equal = random(2) == 0;
    for (unsigned c = 0; c < clients_; ++c) {
      shares_[c] = is_equal ? 1 : 0.1 * (1 + random(100));
      least_share_ = std::min(least_share_, shares_[c]);
      scheduler_.add(c, shares_[c]);
      left_[c] = random(4) == 0 ? 5000 : 20 + random(100);
    }
  }

  void run() {
    for (int step = 0; step < 400; ++step) {
      offer();
      send();
      // No client waits while the workers have nothing to do.
      ASSERT_TRUE(!under_way_.empty() || !anyone_left());
      if (under_way_.empty()) return;
      finish_one();
    }
  }
  // Of two clients that always had work, neither got much more by its share
  // than the other.
  void check_shares() {
    part_ = std::max(part_, scheduler_.part());
    double least = 1e300, most = 0;
    for (unsigned c = 0; c < clients_; ++c) {
      if (left_[c] == 0) continue;
      least = std::min(least, scheduler_.service(c) / shares_[c]);
      most = std::max(most, scheduler_.service(c) / shares_[c]);
    }
    if (most > 0) {
      ASSERT_LE(most - least, 2.0 * kQuantum / least_share_ + part_);
    }
  }

 private:
  static constexpr uint64_t kQuantum = 2'000'000;
  unsigned random(unsigned end) {
    return static_cast<unsigned>(engine_() % end);
  }
  bool anyone_left() const {
    return std::ranges::any_of(left_, [](auto& c) { return c.second > 0; });
  }
  void offer() {
    for (unsigned c = 0; c < clients_; ++c) {
      scheduler_.set_ready(c, left_[c] > 0);
    }
  }
  void send() {
    while (const auto next = scheduler_.next()) {
      ASSERT_GT(left_[*next], 0U);
      const uint64_t cost = 1 + random(kQuantum);
      --left_[*next];
      under_way_.emplace_back(*next, cost);
      scheduler_.sent(*next, cost, now_);
      scheduler_.set_ready(*next, left_[*next] > 0);
      check_shares();
    }
  }
  void finish_one() {
    const auto [client, cost] = under_way_.front();
    under_way_.pop_front();
    now_ += 1 + static_cast<int64_t>(static_cast<double>(cost) / speed_);
    scheduler_.done(client, 1, now_);
    part_ = std::max(part_, scheduler_.part());
    // What is under way is bounded, so a newcomer waits no longer than that.
    // What was sent when there were fewer clients, or a faster worker, is done
    // first.
    double shares = 0, largest = 0;
    for (const auto& [c, share] : shares_) {
      shares += share;
      largest = std::max(largest, share);
    }
    most_ahead_ = std::max(most_ahead_, largest * scheduler_.part() + kQuantum);
    uint64_t sum = 0;
    for (const auto& block : under_way_) sum += block.second;
    whole_ = std::max(whole_, shares * scheduler_.part());
    ASSERT_LE(static_cast<double>(sum),
              whole_ + clients_ * kQuantum + most_ahead_);
  }

  std::mt19937 engine_;
  unsigned clients_ = 0;
  double speed_ = 1;
  double part_ = 0;   // the largest so far
  double whole_ = 0;  // the most of all parts together so far
  double most_ahead_ = 0;
  int64_t now_ = 0;
  Scheduler scheduler_;
  std::map<unsigned, double> shares_;
  double least_share_ = 1e300;
  std::map<unsigned, unsigned> left_;  // blocks
  std::deque<std::pair<unsigned, uint64_t>> under_way_;
};

TEST(Scheduler, NobodyWaitsInVainAndSharesAreEqual) {
  const Share share = share_of_run();
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    if (!share.has(seed)) continue;
    Cluster cluster(seed);
    cluster.run();
    if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// Blocks are done in the order in which they went out, each in as long as it
// costs, by one worker that both clients use.
TEST(Scheduler, ServiceIsInProportionToShares) {
  for (const double share : {1.0, 3.0, 10.0, 100.0}) {
    Scheduler scheduler;
    scheduler.add(1, share);
    scheduler.add(2, 1);
    std::deque<std::pair<unsigned, uint64_t>> under_way;
    int64_t now = 0;
    std::array<double, 3> done{};
    for (int step = 0; step < 40'000; ++step) {
      for (const unsigned c : {1U, 2U}) scheduler.set_ready(c, true);
      while (const auto next = scheduler.next()) {
        // The one with the greater share has the lesser blocks.
        const uint64_t cost = *next == 1 ? 300'000 : 1'000'000;
        under_way.emplace_back(*next, cost);
        scheduler.sent(*next, cost, now);
      }
      const auto [client, cost] = under_way.front();
      under_way.pop_front();
      now += static_cast<int64_t>(cost);
      scheduler.done(client, 1, now);
      done[client] += static_cast<double>(cost);
    }
    EXPECT_NEAR(done[1] / done[2] / share, 1, 0.05) << share;
  }
}

// Two clients, each with a worker of its own that does a block in so many
// nanoseconds. The workers stand still while the clients have nothing to do.
class TwoWorkers {
 public:
  static constexpr uint64_t kCost = 1'000'000;

  TwoWorkers() {
    for (const unsigned c : {1U, 2U}) scheduler_.add(c, 1);
  }
  Scheduler& scheduler() { return scheduler_; }
  size_t done(unsigned client) const { return workers_[client].done; }
  void set_block_time(unsigned client, int64_t takes) {
    workers_[client].takes = takes;
  }
  // Only the clients that are `here` have work.
  void run(int64_t for_so_long, const std::vector<unsigned>& here) {
    for (const int64_t end = now_ + for_so_long; now_ < end; now_ += kStep) {
      for (const unsigned c : {1U, 2U}) {
        scheduler_.set_ready(c, std::ranges::count(here, c) > 0);
        Worker& worker = workers_[c];
        if (scheduler_.under_way(c) == 0) worker.began = now_;
        if (now_ - worker.began < worker.takes) continue;
        worker.began = now_;
        ++worker.done;
        scheduler_.done(c, 1, now_);
      }
      while (const auto next = scheduler_.next()) {
        scheduler_.sent(*next, kCost, now_);
      }
    }
  }

 private:
  static constexpr int64_t kStep = 10'000;
  struct Worker {
    int64_t takes = kCost, began = 0;
    size_t done = 0;
  };
  Scheduler scheduler_;
  std::array<Worker, 3> workers_;
  int64_t now_ = 0;
};

constexpr int64_t kSecond = 1'000'000'000;

// The client has as much under way as if it were alone, and what the other one
// has under way does not grow.
TEST(Scheduler, BesideOneWithASlowWorkerAClientIsAsAlone) {
  TwoWorkers alone;
  alone.set_block_time(2, 100'000);
  alone.run(3 * kSecond, {2});

  TwoWorkers both;
  both.set_block_time(1, kSecond / 10);
  both.set_block_time(2, 100'000);
  both.run(kSecond, {1});
  EXPECT_FALSE(both.scheduler().is_slow(1));
  both.run(3 * kSecond, {1, 2});
  EXPECT_TRUE(both.scheduler().is_slow(1));
  EXPECT_FALSE(both.scheduler().is_slow(2));
  EXPECT_NEAR(both.scheduler().part(), alone.scheduler().part(),
              alone.scheduler().part() / 20);
  EXPECT_GE(both.done(2) * 100, alone.done(2) * 99);
  EXPECT_LE(both.scheduler().unfinished(1), alone.scheduler().part() / 2);
}

TEST(Scheduler, AClientThatWasSlowSavesNothingUp) {
  TwoWorkers both;
  both.set_block_time(1, kSecond / 10);
  both.set_block_time(2, 100'000);
  both.run(3 * kSecond, {1, 2});
  ASSERT_TRUE(both.scheduler().is_slow(1));
  both.set_block_time(1, 100'000);
  both.run(kSecond, {1, 2});
  EXPECT_FALSE(both.scheduler().is_slow(1));
  const size_t before = both.done(2);
  both.run(kSecond, {1, 2});
  EXPECT_GE((both.done(2) - before) * 100, 9'900U * 99);
}

TEST(Scheduler, AClientWithASlowWorkerDelaysOnlyItself) {
  Scheduler scheduler;
  scheduler.add(1, 1);
  scheduler.add(2, 1);
  constexpr uint64_t kCost = 1'000'000;
  int64_t now = 0;
  size_t done = 0;
  // The blocks of the first client are never done.
  for (int step = 0; step < 2000; ++step) {
    scheduler.set_ready(1, true);
    scheduler.set_ready(2, true);
    while (const auto next = scheduler.next()) {
      scheduler.sent(*next, kCost, now);
    }
    ASSERT_GT(scheduler.under_way(2), 0U);
    now += kCost;
    scheduler.done(2, 1, now);
    ++done;
  }
  EXPECT_EQ(done, 2000U);
  EXPECT_LE(scheduler.unfinished(1), 2 * Scheduler::kAhead);
}

}  // namespace
}  // namespace gt::serve
