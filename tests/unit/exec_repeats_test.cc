// Blocks of tasks that come again are held back, recorded and replayed, and are
// run task by task if they turn out to differ.
#include "exec/queue/repeats.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <string>

namespace gt::exec {
namespace {

// Notes what it is told, and the order in which tasks are done, in whatever
// way.
class NotingRunner final : public Repeats::Runner {
 public:
  void run_each(Tasks& tasks) override {
    said += "each " + std::to_string(tasks.size()) + "; ";
    note(tasks);
  }
  std::unique_ptr<Repeats::Recording> record(
      Tasks& /*tasks*/, std::unique_ptr<Repeats::Recording> old) override {
    said += old != nullptr ? "update; " : "record; ";
    if (!records) return nullptr;
    return std::make_unique<Repeats::Recording>();
  }
  bool replay(Tasks& tasks, const Repeats::Recording& /*recording*/) override {
    if (!replays) return false;
    said += "replay " + std::to_string(tasks.size()) + "; ";
    note(tasks);
    return true;
  }
  void ran_held() override { ends.push_back(lines.size()); }
  void note(TaskRecord& task) { lines.push_back(task.head.line); }
  void note(Tasks& tasks) {
    tasks.for_each([this](TaskRecord& task) { note(task); });
  }
  std::string take() { return std::exchange(said, ""); }

  bool records = true, replays = true;
  std::string said;
  std::vector<uint64_t> lines;  // those of the tasks, as they were done
  // How many tasks were done each time when none was held back any more.
  std::vector<size_t> ends;
};

class RepeatsTest : public testing::Test {
 protected:
  static constexpr size_t kLines = 9000;

  RepeatsTest() {
    for (Recipe& recipe : recipes_) {
      recipe.arguments = 1;
      recipe.numbers = {0};
      recipe.blocks.emplace_back();
    }
  }

  // Runs the task of a line, with a number and the address of its result.
  void run(size_t line, size_t address = 0, uint64_t number = 0) {
    std::array<uint64_t, kTaskWords + 2> words{};
    auto& task = *reinterpret_cast<TaskRecord*>(words.data());
    task.recipe = &recipes_[line];
    task.text = &texts_[8 * line];
    task.head = head_of(words.size(), kTaskRecord, line);
    Value from{&number, nullptr};
    Value to{&memory_[address], nullptr};
    task.values()[0] = &from;
    task.values()[1] = &to;
    told_.push_back(line);
    if (!repeats_.hold(task)) runner_.note(task);
  }
  // Runs lines from `first` on, each with its own address, or `besides` after
  // that.
  void run_lines(size_t first, size_t n, size_t besides = 0) {
    for (size_t i = first; i < first + n; ++i) run(i, i + besides);
  }
  std::string take() { return runner_.take(); }
  // All tasks were done, in the order in which they came.
  void expect_all_done() {
    repeats_.cut();
    EXPECT_EQ(runner_.lines, told_);
  }

  std::array<Recipe, kLines> recipes_;
  std::array<char, 8 * kLines> texts_{};
  std::array<char, 4 * kLines> memory_{};
  NotingRunner runner_;
  Repeats repeats_{runner_};
  std::vector<uint64_t> told_;
};

TEST_F(RepeatsTest, ALoopIsRecordedInItsThirdRound) {
  run_lines(300, 5);
  run_lines(0, 100);
  run_lines(0, 100);
  EXPECT_EQ(take(), "");
  run_lines(0, 99);
  EXPECT_TRUE(repeats_.holds());
  EXPECT_EQ(take(), "");
  run(99, 99);
  EXPECT_FALSE(repeats_.holds());
  EXPECT_EQ(take(), "record; replay 100; ");
  for (int i = 0; i < 10; ++i) run_lines(0, 100);
  EXPECT_EQ(repeats_.recorded(), 1U);
  EXPECT_EQ(repeats_.replayed(), 11U);
  expect_all_done();
}

TEST_F(RepeatsTest, TheEndOfABlockIsToldBeforeTheNextTask) {
  for (int i = 0; i < 3; ++i) run_lines(0, 100);
  for (int i = 0; i < 3; ++i) run_lines(200, 100);
  const std::vector<size_t> whole = {300, 600};
  EXPECT_EQ(runner_.ends, whole);
  // A task that is in no block comes, and then one that begins another block.
  run_lines(0, 50);
  run(400);
  run_lines(0, 50);
  run_lines(200, 50);
  const std::vector<size_t> broken = {300, 600, 650, 701};
  EXPECT_EQ(runner_.ends, broken);
  expect_all_done();
}

TEST_F(RepeatsTest, ShortRoundsMakeOneBlock) {
  for (int i = 0; i < 12; ++i) run_lines(0, 10);
  EXPECT_EQ(take(), "record; replay 40; ");
  expect_all_done();
}

TEST_F(RepeatsTest, WhatIsCutIsABlockBetweenCuts) {
  for (int i = 0; i < 5; ++i) {
    run_lines(0, 60);
    repeats_.cut();
    run_lines(100, 40);
    repeats_.cut();
    run_lines(200, 30);
    repeats_.cut();
    if (i < 2) {
      EXPECT_EQ(take(), "");
    }
  }
  EXPECT_EQ(repeats_.recorded(), 2U);
  EXPECT_EQ(repeats_.replayed(), 6U);
  expect_all_done();
}

TEST_F(RepeatsTest, ABlockThatDoesNotGoOnIsRunTaskByTask) {
  for (int i = 0; i < 3; ++i) run_lines(0, 50);
  take();
  run_lines(0, 20);
  run(300);
  EXPECT_EQ(take(), "each 20; ");
  run_lines(0, 5);
  repeats_.cut();
  EXPECT_EQ(take(), "each 5; ");
  expect_all_done();
}

TEST_F(RepeatsTest, OtherAddressesAreRecordedAnewAndTheOldestIsUpdated) {
  for (int i = 0; i < 2; ++i) run_lines(0, 40);
  // The values take turns at eight addresses.
  for (size_t turn = 0; turn < 8; ++turn) {
    run_lines(0, 40, turn);
    EXPECT_EQ(take(), "record; replay 40; ");
  }
  for (size_t turn = 0; turn < 8; ++turn) {
    run_lines(0, 40, turn);
    EXPECT_EQ(take(), "replay 40; ");
  }
  run_lines(0, 40, 0);
  EXPECT_EQ(take(), "replay 40; ");
  run_lines(0, 40, 8);
  EXPECT_EQ(take(), "update; replay 40; ");
  for (const size_t still : {0, 2, 7}) run_lines(0, 40, still);
  EXPECT_EQ(take(), "replay 40; replay 40; replay 40; ");
  run_lines(0, 40, 1);
  EXPECT_EQ(take(), "update; replay 40; ");
  expect_all_done();
}

TEST_F(RepeatsTest, ANumberOfTheLineIsPartOfWhatIsRecorded) {
  const auto round = [this](uint64_t number) {
    for (size_t i = 0; i < 40; ++i) run(i, i, number);
  };
  for (int i = 0; i < 3; ++i) round(1);
  take();
  round(2);
  EXPECT_EQ(take(), "record; replay 40; ");
}

TEST_F(RepeatsTest, ABlockThatIsNeverTheSameIsGivenUp) {
  for (size_t i = 0; i < 100; ++i) run_lines(0, 40, i);
  EXPECT_LT(repeats_.recorded(), 10U);
  take();
  run_lines(0, 40, 200);
  EXPECT_EQ(take(), "each 40; ");
  expect_all_done();
}

TEST_F(RepeatsTest, WhatCannotBeRecordedOrDoneIsRunTaskByTask) {
  runner_.records = false;
  for (int i = 0; i < 4; ++i) run_lines(0, 40);
  EXPECT_EQ(take(), "record; each 40; record; each 40; ");
  runner_.records = true;
  runner_.replays = false;
  run_lines(0, 40);
  EXPECT_EQ(take(), "record; each 40; ");
  expect_all_done();
}

// Steps that take turns and begin alike make three blocks: their common
// beginning, and the rest of each.
TEST_F(RepeatsTest, StepsThatTakeTurnsAreBlocks) {
  for (int i = 0; i < 10; ++i) {
    if (i == 6) take();
    run_lines(0, 50);
    run_lines(i % 2 == 0 ? 100 : 200, 40);
  }
  EXPECT_EQ(take().find("each"), std::string::npos);
  EXPECT_LE(repeats_.recorded(), 4U);
  expect_all_done();
}

TEST_F(RepeatsTest, TooManyBlocksPushOutTheOldest) {
  for (int round = 0; round < 3; ++round) {
    for (size_t block = 0; block < 40; ++block) {
      for (int i = 0; i < 3; ++i) {
        run_lines(9 * block, 40);
        repeats_.cut();
      }
    }
  }
  EXPECT_GE(repeats_.replayed(), 40U * 7);
  EXPECT_GT(repeats_.recorded(), 40U);
  expect_all_done();
}

// Recordings take memory, so all together hold no more tasks than eight of the
// largest.
TEST_F(RepeatsTest, TooManyTasksPushOutTheOldest) {
  const auto run_block = [this](size_t block, size_t besides) {
    run_lines(300 * block, 300, besides);
    repeats_.cut();
  };
  for (size_t block = 0; block < 30; ++block) {
    run_block(block, 0);
    run_block(block, 0);
    for (size_t turn = 0; turn < 8; ++turn) run_block(block, turn);
  }
  EXPECT_EQ(repeats_.recorded(), 30U * 8);
  take();
  run_block(29, 0);
  EXPECT_EQ(take(), "replay 300; ");
  run_block(0, 0);
  EXPECT_EQ(take(), "record; replay 300; ");
  expect_all_done();
}

}  // namespace
}  // namespace gt::exec
