// Schedules of pipelines whose lines are those of programs (schedule.h): stages
// of several products, weights' gradients that read views of forward values or
// what was received, sums of gradients, targets that are cut within a
// microbatch or before it, values that are computed again, a table that the
// first and the last stage share, and a norm over all gradients at the end.
// What a rank holds is counted here, by the stages that the test knows.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "shard/schedule.h"

namespace gt::shard {
namespace {

struct Model {
  std::vector<int64_t> ranks;  // of each part of the model
  std::vector<int> products;   // of each part
  int64_t microbatches = 1;
  bool has_targets = false;    // the last part cuts the targets itself
  bool is_recomputed = false;  // each part, from its input
  bool is_tied = false;        // the last part has a weight of the first
  bool is_clipped = false;
  bool has_dropout = false;

  int64_t parts() const { return static_cast<int64_t>(ranks.size()); }
};

// A model of p ranks with v equal parts each, there and back if is_v.
Model equal_parts(int64_t p, int64_t m, int64_t v, bool is_v, int products) {
  Model model;
  for (int64_t part = 0; part < p * v; ++part) {
    const bool goes_back = is_v && part / p % 2 == 1;
    model.ranks.push_back(goes_back ? p - 1 - part % p : part % p);
    model.products.push_back(products);
  }
  model.microbatches = m;
  return model;
}

// The lines of a step, one microbatch after the other.
class Step {
 public:
  explicit Step(const Model& model) : model_(model), sums_(model.parts()) {
    for (int64_t b = 0; b < model.microbatches; ++b) add_microbatch(b);
    if (model.is_clipped) clip();
  }

  const std::vector<ScheduledLine>& lines() const { return lines_; }
  // Of a product: the part that it belongs to, and its letter; else -1 and ' '.
  int64_t part_of(uint32_t line) const { return parts_[line]; }
  char letter(uint32_t line) const { return letters_[line]; }

 private:
  static constexpr double kSmall =
      0.01;  // seconds of a line that is no product

  uint32_t add(int64_t rank, double seconds, std::vector<uint32_t> needs) {
    ScheduledLine& line = lines_.emplace_back();
    line.microbatch = microbatch_;
    line.is_backward = is_backward_;
    line.ranks = {rank};
    line.seconds = seconds;
    line.needs = std::move(needs);
    std::erase(line.needs, kNoIndex);
    parts_.push_back(-1);
    letters_.push_back(' ');
    return static_cast<uint32_t>(lines_.size() - 1);
  }

  uint32_t product(int64_t part, char letter, std::vector<uint32_t> needs) {
    const int products = model_.products[static_cast<size_t>(part)];
    const uint32_t line = add(rank(part), 1.0 / products, std::move(needs));
    parts_[line] = part;
    letters_[line] = letter;
    return line;
  }

  uint32_t move(uint32_t from, int64_t rank) {
    if (from == kNoIndex || lines_[from].ranks[0] == rank) return from;
    const Ranks senders = lines_[from].ranks;
    const uint32_t moved = add(rank, kSmall / 10, {from});
    lines_[moved].senders = senders;
    return moved;
  }

  uint32_t view(uint32_t of) { return add(lines_[of].ranks[0], 0, {of}); }

  int64_t rank(int64_t part) const {
    return model_.ranks[static_cast<size_t>(part)];
  }

  // The values that a part's products read, and the last product's result.
  std::vector<uint32_t> forward(int64_t part, uint32_t in, bool again) {
    std::vector<uint32_t> values{in};
    const int products = model_.products[static_cast<size_t>(part)];
    for (int k = 0; k < products; ++k) {
      const char letter = again ? 'R' : 'F';
      uint32_t made = product(part, letter, {values.back()});
      lines_[made].is_recomputed = again;
      if (model_.has_dropout) {
        made = add(rank(part), kSmall, {made});
        lines_[made].is_recomputed = again;
      }
      values.push_back(made);
    }
    return values;
  }

  void add_microbatch(int64_t b) {
    microbatch_ = b;
    is_backward_ = false;
    const int64_t last = model_.parts() - 1;
    uint32_t x = add(rank(0), kSmall, {});
    const uint32_t target =
        model_.has_targets ? add(rank(last), kSmall, {}) : kNoIndex;
    std::vector<std::vector<uint32_t>> values;
    for (int64_t part = 0; part <= last; ++part) {
      x = move(x, rank(part));
      values.push_back(forward(part, x, false));
      x = values.back().back();
    }
    const uint32_t loss = add(rank(last), kSmall, {x, target});
    is_backward_ = true;
    const uint32_t one = add(rank(last), kSmall, {});
    uint32_t slope = add(rank(last), kSmall, {x, target, one});
    std::vector<std::vector<uint32_t>> gradients(values.size());
    uint32_t tied = kNoIndex;
    for (int64_t part = last; part >= 0; --part) {
      const auto p = static_cast<size_t>(part);
      slope = move(slope, rank(part));
      if (model_.is_recomputed) {
        values[p] = forward(part, values[p].front(), true);
      }
      for (auto k = static_cast<size_t>(model_.products[p]); k-- > 0;) {
        const uint32_t next = product(part, 'B', {slope, values[p][k + 1]});
        const uint32_t in = view(values[p][k]);
        const uint32_t out = view(slope);
        gradients[p].push_back(product(part, 'W', {in, out}));
        slope = next;
      }
      if (part == last && model_.is_tied) tied = gradients[p].front();
    }
    if (model_.is_tied) {
      const uint32_t moved = move(tied, rank(0));
      gradients[0].back() = add(rank(0), kSmall, {moved, gradients[0].back()});
    }
    is_backward_ = false;
    total_ = add(rank(last), kSmall, {loss, total_});
    is_backward_ = true;
    for (int64_t part = 0; part <= last; ++part) {
      const auto p = static_cast<size_t>(part);
      std::vector<uint32_t>& sums = sums_[p];
      sums.resize(gradients[p].size(), kNoIndex);
      for (size_t k = 0; k < sums.size(); ++k) {
        sums[k] = add(rank(part), kSmall, {gradients[p][k], sums[k]});
      }
    }
  }

  // Gradients of all ranks are scaled by what the first makes of their squares.
  void clip() {
    microbatch_ = -1;
    is_backward_ = false;
    std::vector<uint32_t> squares;
    for (const auto& sums : sums_) {
      for (const uint32_t sum : sums) {
        squares.push_back(
            move(add(lines_[sum].ranks[0], kSmall, {sum}), rank(0)));
      }
    }
    const uint32_t scale = add(rank(0), kSmall, squares);
    for (const auto& sums : sums_) {
      for (const uint32_t sum : sums) {
        const int64_t at = lines_[sum].ranks[0];
        add(at, kSmall, {sum, move(scale, at)});
      }
    }
  }

  const Model model_;
  std::vector<ScheduledLine> lines_;
  std::vector<int64_t> parts_;
  std::vector<char> letters_;
  std::vector<std::vector<uint32_t>> sums_;  // of gradients, by part
  uint32_t total_ = kNoIndex;
  int64_t microbatch_ = 0;
  bool is_backward_ = false;
};

// Returns, for each rank, the most parts of microbatches that it holds at a
// time: from the first forward product to the last gradient of a weight.
std::map<int64_t, int64_t> count_held(const Step& step, const Order& order) {
  std::map<std::pair<int64_t, int64_t>, size_t> left;  // by part, microbatch
  for (uint32_t i = 0; i < step.lines().size(); ++i) {
    if (step.part_of(i) < 0) continue;
    ++left[{step.part_of(i), step.lines()[i].microbatch}];
  }
  std::map<int64_t, int64_t> held, most;
  std::set<std::pair<int64_t, int64_t>> begun;
  for (const uint32_t i : order.lines) {
    if (step.part_of(i) < 0) continue;
    const ScheduledLine& line = step.lines()[i];
    const std::pair<int64_t, int64_t> part{step.part_of(i), line.microbatch};
    int64_t& here = held[line.ranks[0]];
    if (begun.insert(part).second) ++here;
    most[line.ranks[0]] = std::max(most[line.ranks[0]], here);
    if (--left[part] == 0) --here;
  }
  return most;
}

Order order_of(const Step& step, std::string_view kind) {
  return schedule(step.lines(), *find_schedule_kind(kind));
}

// Expects that all lines are there, each after those that it needs, and that
// ranks hold no more than the order says.
void expect_order(const Step& step, const Order& order) {
  std::vector<bool> is_there(step.lines().size(), false);
  for (const uint32_t i : order.lines) {
    for (const uint32_t n : step.lines()[i].needs) EXPECT_TRUE(is_there[n]);
    EXPECT_FALSE(is_there[i]);
    is_there[i] = true;
  }
  EXPECT_EQ(order.lines.size(), step.lines().size());
  for (const auto& [rank, most] : count_held(step, order)) {
    EXPECT_LE(most, order.most_open) << "rank " << rank;
  }
}

// The bounds of gt-shard(1), "Schedules", of the rank that may hold most.
int64_t bound_of(std::string_view kind, int64_t p, int64_t m, int64_t v) {
  if (kind == "gpipe") return m * v;
  if (kind == "zb-h2") return 2 * p - 1;
  if (kind.starts_with("zb")) return v * p;
  return v == 1 ? p : 2 * (p - 1) + (v - 1) * p + 1;
}

TEST(Pipelines, RanksHoldWhatTheKindAllows) {
  for (const ScheduleKind& kind : schedule_kinds()) {
    for (const int64_t p : {2, 4}) {
      for (const int products : {1, 3}) {
        const int64_t v = kind.name == "zb-v" || kind.name == "interleaved";
        Model model =
            equal_parts(p, 4 * p, 1 + v, kind.name == "zb-v", products);
        for (const int options : {0, 1, 2, 3, 4, 8, 16, 31}) {
          model.has_targets = (options & 1) != 0;
          model.is_recomputed = (options & 2) != 0;
          model.is_tied = (options & 4) != 0;
          model.is_clipped = (options & 8) != 0;
          model.has_dropout = (options & 16) != 0;
          SCOPED_TRACE(std::string(kind.name) + " " + std::to_string(p) + " " +
                       std::to_string(products) + " " +
                       std::to_string(options));
          const Step step(model);
          const Order order = order_of(step, kind.name);
          expect_order(step, order);
          EXPECT_EQ(order.stages, p);
          EXPECT_LE(order.most_open, bound_of(kind.name, p, 4 * p, 1 + v));
        }
      }
    }
  }
}

// Parts of the model are anywhere, and of any length.
TEST(Pipelines, WhatAnyPipelineHoldsIsWhatItsOrderSays) {
  std::mt19937 random(1);
  const auto below = [&](uint32_t n) {
    return static_cast<uint32_t>(random() % n);
  };
  for (int k = 0; k < 60; ++k) {
    Model model;
    for (uint32_t part = 1 + below(6); part-- > 0;) {
      model.ranks.push_back(below(4));
      model.products.push_back(static_cast<int>(1 + below(3)));
    }
    model.microbatches = 1 + below(9);
    model.has_targets = below(2) == 0;
    model.is_recomputed = below(3) == 0;
    model.is_tied = below(3) == 0;
    model.is_clipped = below(3) == 0;
    model.has_dropout = below(3) == 0;
    const Step step(model);
    // Two parts one after the other on one rank are one of the schedule's.
    for (const ScheduleKind& kind : schedule_kinds()) {
      SCOPED_TRACE(std::string(kind.name) + ", pipeline " + std::to_string(k));
      const Order order = schedule(step.lines(), kind);
      EXPECT_EQ(order.lines.size(), step.lines().size());
      bool are_apart = true;
      for (size_t part = 1; part < model.ranks.size(); ++part) {
        are_apart &= model.ranks[part] != model.ranks[part - 1];
      }
      if (are_apart) expect_order(step, order);
    }
  }
}

// List scheduling may lose a few hundredths by a line more.
TEST(Pipelines, TargetsThatAMicrobatchCutsCostNothing) {
  for (const ScheduleKind& kind : schedule_kinds()) {
    const int64_t v = kind.name == "zb-v" || kind.name == "interleaved" ? 2 : 1;
    Model model = equal_parts(4, 8, v, kind.name == "zb-v", 2);
    const Order ahead = order_of(Step(model), kind.name);
    model.has_targets = true;
    const Order within = order_of(Step(model), kind.name);
    EXPECT_LE(within.period, ahead.period * 1.05) << kind.name;
  }
}

// A value is computed again once the gradient is on its way, so that of one
// rank at most the values of one microbatch are there again and not yet read.
TEST(Pipelines, ValuesAreComputedAgainWhenTheirGradientComes) {
  for (const std::string_view kind : {"gpipe", "1f1b", "zb-h1", "zb-h2"}) {
    Model model = equal_parts(4, 8, 1, false, 2);
    model.is_recomputed = true;
    const Step step(model);
    std::map<int64_t, std::set<int64_t>> waiting;  // microbatches, by rank
    for (const uint32_t i : order_of(step, kind).lines) {
      const ScheduledLine& line = step.lines()[i];
      std::set<int64_t>& here = waiting[line.ranks[0]];
      if (step.letter(i) == 'R') here.insert(line.microbatch);
      if (step.letter(i) == 'B') here.erase(line.microbatch);
      EXPECT_LE(here.size(), 1) << kind;
    }
  }
}

}  // namespace
}  // namespace gt::shard
