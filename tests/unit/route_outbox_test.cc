// Workers that got the same lines share a body, and each gets what it was sent,
// whatever others got.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "route/outbox.h"

namespace gt::route {
namespace {

std::vector<uint32_t> up_to(uint32_t n) {
  std::vector<uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

TEST(Outbox, LinesToAllAreKeptOnce) {
  Outbox outbox(1000);
  const auto all = up_to(1000);
  for (uint64_t seq = 1; seq <= 10; ++seq) {
    outbox.add(all, seq, static_cast<int64_t>(seq), "x = neg x");
  }
  EXPECT_EQ(outbox.classes(), 1U);
  const auto batches = outbox.take(Outbox::Take::kAll);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].workers.size(), 1000U);
  EXPECT_EQ(batches[0].parts[0].seq, 1U);
  EXPECT_EQ(batches[0].last, 10U);
  EXPECT_TRUE(outbox.empty());
}

TEST(Outbox, ClassesSplitAndComeTogether) {
  Outbox outbox(8);
  outbox.add(up_to(8), 1, 1, "a");
  outbox.add({0, 1, 2, 3}, 2, 2, "b");
  outbox.add({4, 5, 6, 7}, 3, 3, "c");
  EXPECT_EQ(outbox.classes(), 2U);
  outbox.add({1, 5}, 4, 4, "d");
  EXPECT_EQ(outbox.classes(), 4U);
  outbox.add(up_to(8), 5, 5, "e");
  EXPECT_EQ(outbox.classes(), 4U);
  EXPECT_EQ(outbox.take(Outbox::Take::kAll).size(), 4U);
  EXPECT_EQ(outbox.classes(), 1U);
  outbox.add(up_to(8), 6, 6, "f");
  EXPECT_EQ(outbox.take(Outbox::Take::kAll).size(), 1U);
}

TEST(Outbox, FullBodiesLeaveAlone) {
  Outbox outbox(4);
  outbox.add(up_to(4), 1, 1, "few");
  outbox.add({2}, 2, 2, std::string(Outbox::kFullBody, 'x'));
  const auto due = outbox.take(Outbox::Take::kFull);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].workers, std::vector<uint32_t>{2});
  EXPECT_TRUE(outbox.take(Outbox::Take::kFull).empty());
  EXPECT_EQ(outbox.size(2), 0U);
  EXPECT_GT(outbox.size(0), 0U);
  EXPECT_EQ(outbox.take(Outbox::Take::kAll).size(), 1U);
}

// In any order of sets and departures, each worker reads what would have been
// written for it alone.
TEST(Outbox, EachGetsItsOwn) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto workers = static_cast<uint32_t>(1 + random() % 12);
    Outbox outbox(workers);
    std::vector<std::string> sent(workers), got(workers);
    const auto read = [&](const std::vector<Outbox::Batch>& batches) {
      for (const auto& batch : batches) {
        for (const uint32_t w : batch.workers) {
          const BodyPart& part = batch.parts[0];
          net::NumberedLines lines(part.text(), part.seq, part.line);
          net::NumberedLines::Item item;
          while (lines.next(item).value()) {
            got[w] += std::to_string(item.seq) + " " + std::string(item.text);
          }
        }
      }
    };
    for (uint64_t seq = 1; seq < 400; ++seq) {
      std::vector<uint32_t> set;
      const auto kind = random() % 3;
      for (uint32_t w = 0; w < workers; ++w) {
        if (kind == 0 || (kind == 1 ? random() % 2 == 0 : w == seq % workers)) {
          set.push_back(w);
        }
      }
      const std::string text(1 + random() % 3000, 'x');
      outbox.add(set, seq, 7, text);
      for (const uint32_t w : set) sent[w] += std::to_string(seq) + " " + text;
      if (random() % 4 == 0) read(outbox.take(Outbox::Take::kFull));
      if (random() % 40 == 0) {
        read(outbox.take(Outbox::Take::kAll));
        ASSERT_EQ(outbox.classes(), 1U);
      }
    }
    read(outbox.take(Outbox::Take::kAll));
    ASSERT_EQ(got, sent) << seed;
  }
}

}  // namespace
}  // namespace gt::route
