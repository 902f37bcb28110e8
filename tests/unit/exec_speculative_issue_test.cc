// Tasks run before their checks are known, on a device that knows no outcome
// until it is told to.
#include "exec/queue/speculative_issue.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>

#include "exec/queue/executor.h"

namespace gt::exec {
namespace {

// A device that knows nothing before it is waited for.
class LateDevice final : public Device {
 public:
  void* allocate(size_t /*bytes*/) override { return nullptr; }
  void release(void* /*data*/, size_t /*bytes*/) override {}
  Status upload(const void*, void*, size_t) override { return ok_status(); }
  Status download(const void*, void*, size_t) override { return ok_status(); }
  Status copy(const void*, void*, size_t) override { return ok_status(); }
  bool leaves_checks() const override { return true; }
  size_t checks() const override { return left_.size(); }
  std::optional<Status> take_check(bool waits) override {
    if (!waits && !is_done) return std::nullopt;
    Status s = left_.front();
    left_.pop_front();
    return s;
  }
  void leave(Status s) { left_.push_back(std::move(s)); }

  bool is_done = false;

 private:
  std::deque<Status> left_;
};

// A download that is done as soon as it is waited for.
class LateDownload final : public DeviceDownload {
 public:
  bool is_done(bool waits) override { return done = done || waits; }
  Result<const void*> data() const override { return nullptr; }
  bool done = false;
};

// Adds one, and reports only later that its operand is negative.
class LateIncrement final : public Kernel {
 public:
  LateIncrement(LateDevice& device, int& runs) : device_(device), runs_(runs) {}
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    ++runs_;
    const double x = *static_cast<const double*>(in[0]);
    *static_cast<double*>(out[0]) = x + 1;
    device_.leave(x < 0 ? Status(Error{"negative"}) : ok_status());
    return ok_status();
  }

 private:
  LateDevice& device_;
  int& runs_;
};

class SpeculativeIssueTest : public testing::Test {
 protected:
  SpeculativeIssueTest() {
    recipe_.arguments = 1;
    recipe_.steps.push_back(
        {std::make_unique<LateIncrement>(device_, runs_), {0}, {1}});
    recipe_.blocks.emplace_back();
    recipe_.is_simple = true;
  }
  void run(Value& from, Value& to) {
    std::array<uint64_t, kTaskWords + 2> words{};
    auto& task = *reinterpret_cast<TaskRecord*>(words.data());
    task.head = head_of(words.size(), kTaskRecord, 1);
    task.recipe = &recipe_;
    task.values()[0] = &from;
    task.values()[1] = &to;
    issue_.run(task);
  }

  LateDevice device_;
  int runs_ = 0, reports_ = 0, waits_ = 0;
  Recipe recipe_;
  std::array<double, 3> memory_{};
  Value a_{&memory_[0], nullptr};
  Value b_{&memory_[1], nullptr};
  Value c_{&memory_[2], nullptr};
  Interpreter interpreter_{device_};
  SpeculativeIssue issue_{
      device_, interpreter_,
      [this](const TaskRecord& /*task*/, const Error& error) {
        ++reports_;
        return std::make_shared<const std::string>(error.message);
      },
      [this] { ++waits_; }};
};

TEST_F(SpeculativeIssueTest, AFaultSpreadsOnceItIsKnown) {
  memory_[0] = -3;
  run(a_, b_);
  run(b_, c_);  // -2 is negative too, but is not reported
  EXPECT_EQ(runs_, 2);
  issue_.settle(false);
  EXPECT_FALSE(issue_.is_settled());
  EXPECT_EQ(b_.fault, nullptr);
  bool called = false;
  issue_.after([&] { called = c_.fault != nullptr; });
  EXPECT_FALSE(called);
  issue_.settle(true);
  EXPECT_TRUE(issue_.is_settled());
  EXPECT_TRUE(called);
  ASSERT_NE(b_.fault, nullptr);
  EXPECT_EQ(c_.fault, b_.fault);
  EXPECT_EQ(a_.fault, nullptr);
  EXPECT_EQ(reports_, 1);
}

TEST_F(SpeculativeIssueTest, ATaskThatReadsAKnownFaultIsNotRun) {
  memory_[0] = -3;
  run(a_, b_);
  issue_.settle(true);
  run(b_, c_);
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(c_.fault, b_.fault);
  memory_[0] = 5;
  run(a_, b_);  // the value is made anew, which is known
  EXPECT_EQ(b_.fault, nullptr);
  EXPECT_TRUE(issue_.is_settled());
}

TEST_F(SpeculativeIssueTest, AValueMadeAgainInBetweenHasNoFault) {
  memory_[0] = -3;
  run(a_, b_);
  run(b_, c_);
  memory_[0] = 7;
  run(a_, b_);
  device_.is_done = true;
  issue_.settle(false);
  EXPECT_TRUE(issue_.is_settled());
  EXPECT_EQ(b_.fault, nullptr);
  EXPECT_NE(c_.fault, nullptr);
  EXPECT_EQ(reports_, 1);
}

TEST_F(SpeculativeIssueTest, ACallWaitsForItsDownloadAndThoseBehindItForIt) {
  const auto download = std::make_shared<LateDownload>();
  std::vector<int> called;
  issue_.after([&] { called.push_back(1); }, download);
  issue_.after([&] { called.push_back(2); });
  issue_.settle(false);
  EXPECT_TRUE(called.empty());
  EXPECT_FALSE(issue_.is_settled());
  download->done = true;
  issue_.settle(false);
  EXPECT_EQ(called, (std::vector<int>{1, 2}));
  EXPECT_EQ(download.use_count(), 1);
  issue_.after([&] { called.push_back(3); }, std::make_shared<LateDownload>());
  EXPECT_EQ(waits_, 0);
  issue_.settle(true);
  EXPECT_EQ(called.back(), 3);
  EXPECT_EQ(waits_, 1);
}

TEST_F(SpeculativeIssueTest, ACallKnowsTheFaultsOfItsTime) {
  memory_[0] = -3;
  run(a_, b_);
  bool had = false;
  issue_.after([&] { had = b_.fault != nullptr; },
               std::make_shared<LateDownload>());
  memory_[0] = 1;
  run(a_, b_);  // the printed value is made anew
  issue_.settle(true);
  EXPECT_TRUE(had);
  EXPECT_EQ(b_.fault, nullptr);
}

TEST_F(SpeculativeIssueTest, TheLogDoesNotGrowForEver) {
  memory_[0] = 1;
  for (int i = 0; i < 10'000; ++i) run(a_, b_);
  EXPECT_LE(device_.checks(), 4096U);
}

}  // namespace
}  // namespace gt::exec
