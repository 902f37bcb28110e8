// Schedules of pipelines against their papers (schedule.h): the time of a step,
// and the microbatches that a stage holds. A forward line takes a second. A
// backward line takes two, one for the gradient of the stage's input and one
// for that of its weights.
#include "shard/schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace gt::shard {
namespace {

enum class Shape { kStraight, kV };

// p stages of v chunks each, and m microbatches, in the order of the program,
// which is one microbatch after the other. With `is_split`, B and W are two
// lines.
struct Pipeline {
  int64_t p, m, v = 1;
  bool is_split = false;
  Shape shape = Shape::kStraight;

  int64_t chunks() const { return p * v; }
  int64_t rank_of(int64_t chunk) const {
    const bool goes_back = shape == Shape::kV && chunk / p % 2 == 1;
    return goes_back ? p - 1 - chunk % p : chunk % p;
  }
};

class Program {
 public:
  explicit Program(const Pipeline& pipeline) {
    for (int64_t b = 0; b < pipeline.m; ++b) add_microbatch(pipeline, b);
  }
  const std::vector<ScheduledLine>& lines() const { return lines_; }

 private:
  uint32_t add(int64_t microbatch, bool is_backward, int64_t rank,
               double seconds, std::vector<uint32_t> needs) {
    ScheduledLine& line = lines_.emplace_back();
    line.microbatch = microbatch;
    line.is_backward = is_backward;
    line.ranks = {rank};
    line.seconds = seconds;
    line.needs = std::move(needs);
    return static_cast<uint32_t>(lines_.size() - 1);
  }

  // Brings the result of `from` to the rank.
  uint32_t move(uint32_t from, int64_t rank) {
    const ScheduledLine made = lines_[from];
    if (made.ranks[0] == rank) return from;
    const uint32_t moved =
        add(made.microbatch, made.is_backward, rank, 0, {from});
    lines_[moved].senders = made.ranks;
    return moved;
  }

  void add_microbatch(const Pipeline& pipeline, int64_t b) {
    std::vector<uint32_t> forward;
    for (int64_t c = 0; c < pipeline.chunks(); ++c) {
      const int64_t rank = pipeline.rank_of(c);
      std::vector<uint32_t> needs;
      if (c > 0) needs.push_back(move(forward.back(), rank));
      forward.push_back(add(b, false, rank, 1, needs));
    }
    uint32_t slope = kNoIndex;
    for (int64_t c = pipeline.chunks(); c-- > 0;) {
      const int64_t rank = pipeline.rank_of(c);
      std::vector<uint32_t> needs{forward[static_cast<size_t>(c)]};
      if (slope != kNoIndex) needs.push_back(move(slope, rank));
      slope = add(b, true, rank, pipeline.is_split ? 1 : 2, needs);
      if (!pipeline.is_split) continue;
      add(b, true, rank, 1, {needs[0], slope});
    }
  }

  std::vector<ScheduledLine> lines_;
};

// Expects that each line comes after the lines that it needs, and that all are
// there.
void expect_an_order(const std::vector<ScheduledLine>& lines,
                     const Order& order) {
  std::vector<bool> is_there(lines.size(), false);
  for (const uint32_t i : order.lines) {
    for (const uint32_t n : lines[i].needs) EXPECT_TRUE(is_there[n]);
    for (const uint32_t n : lines[i].after) EXPECT_TRUE(is_there[n]);
    EXPECT_FALSE(is_there[i]);
    is_there[i] = true;
  }
  EXPECT_EQ(order.lines.size(), lines.size());
}

Order order_of(const Pipeline& pipeline, std::string_view kind) {
  const Program program(pipeline);
  const Order order = schedule(program.lines(), *find_schedule_kind(kind));
  expect_an_order(program.lines(), order);
  EXPECT_EQ(order.stages, pipeline.p);
  return order;
}

constexpr int64_t kStages[] = {2, 3, 4, 8};
constexpr int64_t kMicrobatches[] = {1, 2, 4, 8, 16, 32};

// The lines that one rank runs, as "F0 F1 B0 F2 B1 B2".
std::string on_rank(const Pipeline& pipeline, std::string_view kind,
                    int64_t rank) {
  const Program program(pipeline);
  const Order order = schedule(program.lines(), *find_schedule_kind(kind));
  std::string text;
  for (const uint32_t i : order.lines) {
    const ScheduledLine& line = program.lines()[i];
    if (line.moves() || line.ranks[0] != rank) continue;
    text += (text.empty() ? "" : " ") +
            std::string(line.is_backward ? "B" : "F") +
            std::to_string(line.microbatch);
  }
  return text;
}

TEST(Schedule, OneForwardOneBackwardIsThePublishedOrder) {
  const Pipeline pipeline{4, 8};
  const auto rank = [&](int64_t r) { return on_rank(pipeline, "1f1b", r); };
  EXPECT_EQ(rank(0), "F0 F1 F2 F3 B0 F4 B1 F5 B2 F6 B3 F7 B4 B5 B6 B7");
  EXPECT_EQ(rank(1), "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 B6 B7");
  EXPECT_EQ(rank(2), "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 F6 B5 F7 B6 B7");
  EXPECT_EQ(rank(3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7");
}

TEST(Schedule, GpipeRunsAllForwardsFirst) {
  EXPECT_EQ(on_rank({2, 3}, "gpipe", 0), "F0 F1 F2 B0 B1 B2");
}

TEST(Schedule, GpipeAndOneForwardOneBackwardTakeThePapersTime) {
  for (const int64_t p : kStages) {
    for (const int64_t m : kMicrobatches) {
      const auto wanted = static_cast<double>((m + p - 1) * 3);
      const Order gpipe = order_of({p, m}, "gpipe");
      const Order one = order_of({p, m}, "1f1b");
      EXPECT_EQ(gpipe.seconds, wanted) << p << " " << m;
      EXPECT_EQ(one.seconds, wanted) << p << " " << m;
      EXPECT_EQ(gpipe.most_open, m);
      EXPECT_EQ(one.most_open, std::min(p, m));
      EXPECT_DOUBLE_EQ(one.busy, static_cast<double>(p * m * 3));
    }
  }
}

// The times are those of the papers. List scheduling finds them except for
// zb-h1 on some numbers of stages, where it loses up to 4 %, and for
// interleaved, if microbatches are no multiple of the stages. Steps that follow
// each other without a barrier wait for nothing with zb-h2, and for little with
// zb-v.
TEST(Schedule, KindsThatWaitLessComeNearThePapersTimes) {
  for (const int64_t p : kStages) {
    for (const int64_t m : kMicrobatches) {
      if (m < 2 * p) continue;
      SCOPED_TRACE(std::to_string(p) + " stages, " + std::to_string(m));
      const auto work = static_cast<double>(m * 3);
      const auto waits = static_cast<double>(p - 1);
      const auto order = [&](int64_t v, std::string_view kind, Shape shape) {
        return order_of({p, m, v, kind.starts_with("zb"), shape}, kind);
      };
      const Order interleaved = order(2, "interleaved", Shape::kStraight);
      const Order h1 = order(1, "zb-h1", Shape::kStraight);
      const Order h2 = order(1, "zb-h2", Shape::kStraight);
      const Order v = order(2, "zb-v", Shape::kV);
      const double slack = 1.04;
      EXPECT_LE(interleaved.seconds,
                (2 * work + waits * 3) * (m % p == 0 ? 1 : slack));
      EXPECT_LE(h1.seconds, (work + waits) * slack);
      EXPECT_LE(h2.seconds, work + waits);
      EXPECT_LE(v.seconds, 2 * work + waits);
      EXPECT_EQ(h2.period, work);
      EXPECT_LE(v.period, v.seconds);
      if (m >= 4 * p) {
        EXPECT_LE(v.period, 2 * work * 1.027);
      }
      EXPECT_LE(h1.most_open, p);
      EXPECT_LE(h2.most_open, 2 * p - 1);
      EXPECT_LE(v.most_open, 2 * p);  // a chunk is half a stage
    }
  }
}

// A worker sends a value when it comes to the line that moves it.
TEST(Schedule, AValueIsSentBeforeItsRankComputesAgain) {
  for (const ScheduleKind& kind : schedule_kinds()) {
    const Program program({4, 8, 1, kind.puts_off_weights});
    std::map<int64_t, uint32_t> last;  // by rank, the line that it computed
    for (const uint32_t i : schedule(program.lines(), kind).lines) {
      const ScheduledLine& line = program.lines()[i];
      if (line.moves()) {
        EXPECT_EQ(last[line.senders[0]], line.needs[0]);
      } else {
        last[line.ranks[0]] = i;
      }
    }
  }
}

TEST(Schedule, OneStageRunsOneMicrobatchAfterTheOther) {
  EXPECT_EQ(on_rank({1, 3}, "1f1b", 0), "F0 B0 F1 B1 F2 B2");
}

// The programs are arbitrary: lines need lines of other microbatches, run on
// several ranks, and move values back and forth.
TEST(Schedule, RandomProgramsAreRunInAnOrder) {
  std::mt19937 random(1);
  const auto below = [&](uint32_t n) {
    return static_cast<uint32_t>(random() % n);
  };
  for (int program = 0; program < 300; ++program) {
    std::vector<ScheduledLine> lines;
    for (uint32_t i = 0; i < 60; ++i) {
      ScheduledLine& line = lines.emplace_back();
      line.microbatch = static_cast<int64_t>(below(5)) - 1;
      line.is_backward = below(2) == 0;
      line.seconds = below(4);
      line.ranks = {below(3)};
      if (below(4) == 0) line.ranks.push_back(3);
      if (below(3) == 0) line.senders = {below(4)};
      for (uint32_t k = below(3); i > 0 && k-- > 0;) {
        (below(4) > 0 ? line.needs : line.after).push_back(below(i));
      }
    }
    for (const ScheduleKind& kind : schedule_kinds()) {
      expect_an_order(lines, schedule(lines, kind));
    }
  }
}

}  // namespace
}  // namespace gt::shard
