// Plans from one layout to another give what the layouts define, the verifier
// agrees, and none costs more than gathering everything and cutting it.
#include "spmd/redistribution.h"

#include <map>
#include <random>
#include <set>

#include "check/checker.h"
#include "exec_harness.h"
#include "spmd/exchange_bytes.h"
#include "spmd/exchange_plan.h"
#include "stream/ranks.h"

namespace gt {
namespace {

Mesh mesh_of(const std::string& axes) {
  Meshes meshes;
  const std::string text = "mesh " + axes;
  Line line;
  EXPECT_TRUE(parse_line(text, line).ok());
  EXPECT_TRUE(meshes.take(line).ok());
  return *meshes.of("x");
}

// A layout "dp:S0,tp:P", in which the outer cut of a dimension comes first.
Layout layout_of(const Cluster& cluster, std::string_view text) {
  Layout layout;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const size_t colon = word.find(':');
    const auto axis =
        static_cast<uint32_t>(cluster.axis_index(word.substr(0, colon)));
    if (word[colon + 1] == 'P') layout.partial |= uint32_t{1} << axis;
    if (word[colon + 1] == 'S') layout.add({axis, word[colon + 2] - '0', 1});
  }
  return layout;
}

// The moves one after the other, as "all_to_all over=tp src=S0 dst=S1".
std::string plan(const std::string& axes, Shape shape, std::string_view from,
                 std::string_view to) {
  const Cluster cluster(mesh_of(axes));
  const Type whole{Dtype::kF32, shape};
  std::string out;
  for (const Move& move :
       redistribution(cluster, {}, whole, layout_of(cluster, from),
                      layout_of(cluster, to))) {
    out += (out.empty() ? "" : "; ") + std::string(move.op) +
           keys_of(move, cluster, shape);
  }
  return out;
}

TEST(Redistribution, OneExchangeMovesACut) {
  EXPECT_EQ(plan("tp=2", {1000, 1000}, "tp:S0", "tp:S1"),
            "all_to_all over=tp src=S0 dst=S1");
  EXPECT_EQ(plan("tp=2", {1001, 1000}, "tp:S0", "tp:S1"),
            "all_to_all over=tp src=S0 dst=S1 split=tp:1 shape=1001,1000");
  EXPECT_EQ(plan("a=2 b=2", {8, 8, 8}, "a:S0,b:S0", "a:S0,b:S2"),
            "all_to_all over=b src=S0 dst=S2");
}

TEST(Redistribution, WhatRanksHoldIsNotSent) {
  EXPECT_EQ(plan("tp=2", {6}, "tp:R", "tp:R"), "");
  EXPECT_EQ(plan("tp=2", {6}, "", "tp:S0"), "convert over=tp src=R dst=S0");
  EXPECT_EQ(plan("tp=2", {6}, "", "tp:P"), "convert over=tp src=R dst=P");
  EXPECT_EQ(plan("tp=2", {6}, "tp:S0", "tp:P"),
            "convert over=tp src=S0 dst=P expert=1");
  EXPECT_EQ(plan("tp=2", {7}, "tp:S0", "tp:P"),
            "convert over=tp src=S0 dst=P expert=1 split=tp:0 shape=7");
}

// An axis of one rank cuts nothing, whatever the layout says.
TEST(Redistribution, OneRankHoldsTheWhole) {
  Cluster cluster(mesh_of("tp=2"));
  const Type whole{Dtype::kF32, {4}};
  const Layout one{cluster.set_of({0}), 0, {{0, 0, 1}}};
  EXPECT_TRUE(
      redistribution(cluster, {}, whole, one, {one.set, 0, {}}).empty());
  const auto moves = redistribution(cluster, {}, whole, one, {0, 0, {}});
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].op, "copy");
  EXPECT_EQ(source_ranks(moves[0], cluster), "0");
}

TEST(Redistribution, SumsAreTakenAtOnceAndOfLittle) {
  EXPECT_EQ(plan("dp=2 tp=2", {4}, "dp:P,tp:P", ""), "all_reduce over=dp+tp");
  // Only the part that each rank will have is summed.
  EXPECT_EQ(plan("dp=2 tp=2", {1000, 1000}, "dp:P", "tp:S0"),
            "convert over=tp src=R dst=S0; all_reduce over=dp");
  EXPECT_EQ(plan("dp=2 tp=2", {1000, 1000}, "dp:P,tp:P", "tp:S1"),
            "reduce_scatter over=tp dst=S1; all_reduce over=dp");
  // The sum is taken before the parts are put together.
  EXPECT_EQ(plan("dp=2 tp=2", {1000, 1000}, "dp:P,tp:S0", ""),
            "all_reduce over=dp; all_gather over=tp src=S0 dst=R");
}

TEST(Redistribution, TheInnermostCutGoesFirst) {
  EXPECT_EQ(plan("dp=2 tp=2", {8}, "dp:S0,tp:S0", "tp:S0,dp:S0"),
            "all_gather over=tp src=S0 dst=R; all_gather over=dp src=S0 dst=R; "
            "convert over=tp src=R dst=S0; convert over=dp src=R dst=S0");
  EXPECT_EQ(plan("dp=2 tp=2", {7}, "dp:S0,tp:S0", "tp:S0"),
            "all_gather over=tp src=S0 dst=R split=dp:0,tp:0 shape=7; "
            "all_gather over=dp src=S0 dst=R split=dp:0 shape=7; "
            "convert over=tp src=R dst=S0 split=tp:0 shape=7");
}

// There are more axes than those of which all orders are tried.
TEST(Redistribution, TakesAWayOverManyAxes) {
  EXPECT_EQ(plan("a=2 b=2 c=2 d=2 e=2 f=2", {64, 64},
                 "a:P,b:P,c:S0,d:S0,e:S1,f:S1", "b:S0,c:S1"),
            "all_reduce over=a+b; all_gather over=d src=S0 dst=R; "
            "all_gather over=c src=S0 dst=R; convert over=b src=R dst=S0; "
            "all_gather over=f src=S1 dst=R; all_gather over=e src=S1 dst=R; "
            "convert over=c src=R dst=S1");
}

// ---- pairs of layouts -------------------------------------------------------

class Pairs {
 public:
  Pairs(std::string axes, uint32_t seed)
      : axes_(std::move(axes)), cluster_(mesh_of(axes_)), random_(seed) {
    const Ranks all = cluster_.ranks(0);
    const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
    sets_ = {0, cluster_.set_of({all.begin(), all.begin() + half}),
             cluster_.set_of({all.begin() + half, all.end()}),
             cluster_.set_of({all.front()})};
  }

  void check() {
    const auto [whole, from, to] = pair(9);
    const std::vector<Move> moves = moves_of(whole, from, to);
    SCOPED_TRACE(describe(whole, from, to));
    check_values(whole, from, to, moves);
    EXPECT_LE(seconds_of(moves), gather_then_cut(whole, from, to) * 1.000001);
  }

  // Compares what the ranks send in each move with what its plans read.
  void check_sent() {
    const auto [whole, from, to] = pair(60);
    SCOPED_TRACE(describe(whole, from, to));
    for (const Move& move : moves_of(whole, from, to)) {
      const Ranks& ranks = cluster_.ranks(move.before.set);
      std::vector<uint64_t> sent = sent_bytes(move, cluster_, whole);
      if (sent.size() == 1) sent.resize(ranks.size(), sent[0]);
      std::map<int64_t, uint64_t> read = read_bytes(move, whole);
      for (size_t i = 0; i < ranks.size(); ++i) {
        EXPECT_EQ(sent[i], read[ranks[i]])
            << move.op << " of rank " << ranks[i];
      }
    }
  }

 private:
  struct Pair {
    Type whole{Dtype::kF32, {}};
    Layout from, to;
  };
  Pair pair(int64_t largest) {
    Pair made;
    const int64_t dims = below(3) + 1;
    for (int64_t d = 0; d < dims; ++d) {
      made.whole.shape.push_back(below(largest) + 1);
    }
    made.from = layout(made.whole.shape, set());
    made.to = layout(made.whole.shape, below(2) == 0 ? made.from.set : set());
    return made;
  }
  std::vector<Move> moves_of(const Type& whole, const Layout& from,
                             const Layout& to) const {
    return redistribution(cluster_, machine_, whole, from, to);
  }
  std::string describe(const Type& whole, const Layout& from,
                       const Layout& to) const {
    return axes_ + " " + to_string(whole) + ": " + cluster_.describe(from) +
           " " + cluster_.split_text(from) + " to " + cluster_.describe(to) +
           " " + cluster_.split_text(to);
  }

  // The bytes that other ranks read of each rank, by the plans of the line.
  std::map<int64_t, uint64_t> read_bytes(const Move& move,
                                         const Type& whole) const {
    const Mesh mesh = mesh_of(axes_);
    const std::string text = text_of(move, whole);
    Line line;
    EXPECT_TRUE(parse_line(text, line).ok());
    const LineRanks where = line_ranks(line).value();
    const std::vector<Shape> shapes = cluster_.pieces(move.before, whole);
    std::map<int64_t, Type> pieces;
    for (const int64_t rank : cluster_.ranks(move.before.set)) {
      const size_t i = shapes.size() == 1 ? 0 : pieces.size();
      pieces[rank] = {whole.dtype, shapes[i]};
    }
    const auto plans = exchange_plans(
        line, where, grid_of(line, &mesh, where.ranks).value(),
        [&](size_t, int64_t rank) { return &pieces.at(rank); }, {});
    EXPECT_TRUE(plans.ok()) << text;
    std::map<int64_t, uint64_t> bytes;
    for (const ExchangePlan& plan : plans.value()) {
      for (size_t s = 0; s < plan.steps(); ++s) {
        const ExchangeStep& step = plan.step(s);
        for (size_t t = 0; t < step.target_homes.size(); ++t) {
          for (const ExchangeRead& read : plan.reads(s, t)) {
            const uint32_t from = step.source_homes[read.source];
            if (from == step.target_homes[t]) continue;
            bytes[from] +=
                Type{step.exports[read.source].dtype, read.region.count}
                    .bytes();
          }
        }
      }
    }
    return bytes;
  }

  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % n); }
  uint32_t set() { return sets_[static_cast<size_t>(below(4))]; }

  Layout layout(const Shape& shape, uint32_t set) {
    Layout out{set, 0, {}};
    std::vector<uint32_t> order(cluster_.axes());
    for (uint32_t a = 0; a < order.size(); ++a) order[a] = a;
    std::shuffle(order.begin(), order.end(), random_);
    for (const uint32_t axis : order) {
      const int64_t is = below(static_cast<int64_t>(shape.size()) + 2);
      const bool is_one = cluster_.count(set, axis) == 1;
      if (is == 0 || (is == 1 && is_one)) continue;
      if (is == 1) {
        out.partial |= uint32_t{1} << axis;
        continue;
      }
      Layout finer = out;
      finer.add({axis, static_cast<int32_t>(is - 2), below(3) == 0 ? 2 : 1});
      if (cluster_.can_cut(finer, shape)) out = finer;
    }
    return cluster_.simplest(out, shape);
  }

  std::string ranks(const Layout& at) const {
    return "@" + cluster_.ranks_text(at.set);
  }

  std::string over(uint32_t axes) const {
    std::string text;
    for (size_t a = 0; a < cluster_.axes(); ++a) {
      if ((axes >> a & 1) == 0) continue;
      text += (text.empty() ? " over=" : "+") + cluster_.axis_name(a);
    }
    return text;
  }

  // The whole in that layout, as lines that make x.
  std::string made(const Type& whole, const Layout& at) const {
    const std::string split = cluster_.split_text(at);
    const std::string x = "x" + ranks(at);
    std::string text = x + " = rand " + to_string(whole) + " 1" +
                       (split.empty() ? "" : " split=" + split) + "\n";
    for (uint32_t a = 0; a < cluster_.axes(); ++a) {
      if (!at.is_partial(a)) continue;
      text += x + " = convert " + x + over(1U << a) + " src=R dst=P\n";
    }
    return text;
  }

  std::string text_of(const Move& move, const Type& whole) const {
    return "x" + ranks(move.after) + " = " + std::string(move.op) + " x@" +
           source_ranks(move, cluster_) + keys_of(move, cluster_, whole.shape);
  }

  // Compares every rank's piece of y, with its sums taken: made in the layout
  // `to`, and brought there from the layout `from` by the moves.
  void check_values(const Type& whole, const Layout& from, const Layout& to,
                    const std::vector<Move>& moves) const {
    std::string text = "mesh " + axes_ + "\n" + made(whole, from);
    for (const Move& move : moves) text += text_of(move, whole) + "\n";
    const std::string sum = "x" + ranks(to) + " = all_reduce x" + ranks(to) +
                            over(to.partial) + "\n";
    const std::string print = "print x" + ranks(to) + "\n";
    if (to.partial != 0) text += sum;
    Layout summed = to;
    summed.partial = 0;
    const exec::Outcome moved = exec::run_text(text + print);
    const exec::Outcome wanted =
        exec::run_text("mesh " + axes_ + "\n" + made(whole, summed) + print);
    EXPECT_EQ(moved.messages + wanted.messages, "") << text;
    EXPECT_EQ(moved.out, wanted.out) << text;
    check::Checker checker({});
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      for (const check::Problem& p : checker.take(line).problems) {
        ADD_FAILURE() << line << ": " << p.kind << ": " << p.message << "\n"
                      << text;
      }
      rest.remove_prefix(line.size() + 1);
    }
  }

  // The seconds of gathering all that is cut, taking the sums, and cutting the
  // result.
  double gather_then_cut(const Type& whole, const Layout& from,
                         const Layout& to) const {
    double seconds = 0;
    Layout at = from;
    const auto go = [&](const Layout& next) {
      seconds +=
          seconds_of(redistribution(cluster_, machine_, whole, at, next));
      at = next;
    };
    while (!at.cuts.empty()) {
      Layout next = at;
      next.cuts.pop_back();
      go(next);
    }
    if (at.partial != 0) go({at.set, 0, {}});
    go({to.set, 0, {}});
    for (const AxisCut& cut : to.cuts) {
      Layout next = at;
      next.add(cut);
      go(next);
    }
    for (uint32_t a = 0; a < cluster_.axes(); ++a) {
      if (to.is_partial(a)) go({at.set, at.partial | 1U << a, at.cuts});
    }
    return seconds;
  }

  const std::string axes_;
  Cluster cluster_;
  std::vector<uint32_t> sets_;
  const Machine machine_;
  std::mt19937 random_;
};

void check_pairs(const char* axes, int pairs) {
  Pairs random(axes, 1);
  for (int i = 0; i < pairs && !testing::Test::HasFailure(); ++i) {
    random.check();
  }
}

TEST(Redistribution, OfAnyPairGivesWhatTheLayoutsDefine) {
  check_pairs("a=3", 300);
  check_pairs("a=2 b=2", 500);
  check_pairs("a=2 b=3", 500);
  check_pairs("a=2 b=2 c=2", 500);
  check_pairs("a=2 b=1 c=2 d=2 e=2 f=2 g=2", 40);
}

TEST(Redistribution, RanksSendWhatThePlansOfTheirGroupsRead) {
  for (const char* axes : {"a=3", "a=5", "a=2 b=3", "a=2 b=2 c=3"}) {
    Pairs random(axes, 2);
    for (int i = 0; i < 500 && !testing::Test::HasFailure(); ++i) {
      random.check_sent();
    }
  }
}

}  // namespace
}  // namespace gt
