#include "exec/queue/queue.h"

#include <gtest/gtest.h>

#include <vector>

namespace gt::exec {
namespace {

// Notes the lines of the records that it runs; a record may carry words to
// check.
class Recorder : public Queue::Handler {
 public:
  void run(uint64_t* record) override {
    const auto* head = reinterpret_cast<RecordHead*>(record);
    lines.push_back(head->line);
    for (size_t i = 1; i < head->words; ++i) intact = intact && record[i] == i;
  }
  void idle() override { ++idles; }

  std::vector<uint64_t> lines;
  bool intact = true;
  std::atomic<int> idles{0};
};

Event put(Queue& queue, size_t words, uint64_t line, uint64_t cost) {
  uint64_t* record = queue.reserve(words);
  *reinterpret_cast<RecordHead*>(record) = head_of(words, 1, line);
  for (size_t i = 1; i < words; ++i) record[i] = i;
  return queue.commit(words, cost);
}

TEST(Queue, RunsInOrderAndWhole) {
  Recorder recorder;
  constexpr uint64_t kRecords = 200'000;
  {
    Queue queue(recorder);
    for (uint64_t i = 0; i < kRecords; ++i) put(queue, 1 + i * 7 % 50, i, 30);
    queue.drain();
    EXPECT_EQ(recorder.lines.size(), kRecords);
  }
  EXPECT_TRUE(recorder.intact);
  for (uint64_t i = 0; i < kRecords; ++i) ASSERT_EQ(recorder.lines[i], i);
}

TEST(Queue, GreatRecordsPassToo) {
  Recorder recorder;
  Queue queue(recorder);
  for (uint64_t i = 0; i < 100; ++i) put(queue, Queue::kMaxRecord, i, 1);
  queue.drain();
  EXPECT_EQ(recorder.lines.size(), 100U);
  EXPECT_TRUE(recorder.intact);
}

TEST(Queue, AnEventIsDoneOnceItsRecordHasRun) {
  Recorder recorder;
  Queue queue(recorder);
  const Event first = put(queue, 2, 1, 30);
  const Event second = put(queue, 2, 2, 30);
  queue.wait(first);
  EXPECT_TRUE(queue.done(first));
  queue.wait(second);
  EXPECT_TRUE(queue.done(second));
  EXPECT_EQ(recorder.lines.size(), 2U);
}

TEST(Queue, DearWorkStartsWithoutAKick) {
  Recorder recorder;
  Queue queue(recorder);
  const Event event = put(queue, 2, 1, 10 * Queue::kWakeCost);
  while (!queue.done(event)) std::this_thread::yield();
  EXPECT_EQ(recorder.lines.size(), 1U);
}

TEST(Queue, WhatIsLeftRunsAtTheEnd) {
  Recorder recorder;
  {
    Queue queue(recorder);
    put(queue, 2, 7, 1);
  }
  EXPECT_EQ(recorder.lines, std::vector<uint64_t>{7});
}

}  // namespace
}  // namespace gt::exec
