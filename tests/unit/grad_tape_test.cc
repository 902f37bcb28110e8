#include "grad/former_names.h"
#include "grad/tape.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include "ops/table.h"

namespace gt::grad {
namespace {

// A tape on which names are numbers, and each line has the next place.
class TapeTest : public ::testing::Test {
 protected:
  ValueId leaf(SymbolId name, bool differentiable = true) {
    const ValueId v = tape.add_leaf(0, differentiable, place());
    tape.hold(v, name, false);
    return v;
  }

  // A line with one result; `needed` are the operands whose data its gradient
  // reads.
  ValueId line(SymbolId name, std::initializer_list<ValueId> operands,
               std::initializer_list<uint32_t> needed = {},
               bool reads_itself = false) {
    const std::vector<ValueId> read(operands);
    const std::vector<uint32_t> data(needed);
    Form form;
    form.op = find_op("mul");
    form.operands = static_cast<uint32_t>(read.size());
    form.types.push_back(0);
    form.differentiable.push_back(1);
    form.needed_operands.assign(data);
    if (reads_itself) form.needed_results.push_back(0);
    const FormId id = tape.forms().obtain(std::move(form));
    std::vector<ValueId> results;
    tape.record(id, read, place(), results);
    tape.forms().drop(id);
    tape.hold(results[0], name, false);
    return results[0];
  }

  Lost rebound(SymbolId name) {
    Lost why;
    why.kind = Lost::Kind::kRebound;
    why.name = name;
    why.at = place();
    return why;
  }
  void let_go(ValueId v, SymbolId name) { tape.let_go(v, rebound(name)); }

  void consume(ValueId v) {
    Lost why;
    why.kind = Lost::Kind::kConsumed;
    why.at = place();
    tape.forget(tape.producer(v), why);
  }

  Origin place() { return {0, ++lines_}; }

  Tape tape;

 private:
  size_t lines_ = 0;
};

TEST_F(TapeTest, KeepsNothingOfWhatHasNoFloats) {
  const ValueId n = leaf(1, false);
  const ValueId y = line(2, {n, kNil});
  EXPECT_EQ(tape.node_count(), 0U);
  EXPECT_EQ(tape.producer(y), kNil);
}

TEST_F(TapeTest, KeepsALineWhileItsResultIsHeld) {
  const ValueId w = leaf(1);
  const ValueId h = line(2, {w});
  const ValueId l = line(3, {h});
  EXPECT_EQ(tape.node_count(), 2U);
  let_go(h, 2);
  EXPECT_EQ(tape.node_count(), 2U);  // l depends on it
  let_go(l, 3);
  EXPECT_EQ(tape.node_count(), 0U);
  EXPECT_TRUE(tape.users(w).empty());
}

TEST_F(TapeTest, KeepsALineWhileItReachesATarget) {
  const ValueId w = leaf(1);
  const ValueId x = leaf(2);
  const ValueId h = line(3, {w, x});
  const ValueId l = line(4, {h});
  let_go(h, 3);
  let_go(x, 2);
  EXPECT_EQ(tape.node_count(), 2U);
  let_go(w, 1);
  EXPECT_EQ(tape.node_count(), 0U);
  EXPECT_EQ(tape.lost(l).kind, Lost::Kind::kRebound);
  EXPECT_EQ(tape.lost(l).name, 1U);  // the last one that went
  EXPECT_FALSE(tape.lost(l).hides_targets());
}

TEST_F(TapeTest, AHeldValueInTheMiddleIsATarget) {
  const ValueId w = leaf(1);
  const ValueId h = line(2, {w});
  line(3, {h});
  let_go(w, 1);
  EXPECT_EQ(tape.node_count(), 1U);  // the line that reads h
  EXPECT_EQ(tape.producer(h), kNil);
}

TEST_F(TapeTest, ALoopOverOneNameLeavesNothingBehind) {
  leaf(1);
  ValueId h = leaf(2, false);
  for (int round = 0; round < 100; ++round) {
    const ValueId w = leaf(1000);
    const ValueId next = line(3000 + static_cast<SymbolId>(round), {w, h});
    tape.let_go(h, rebound(2));
    tape.let_go(w, rebound(1000));
    h = next;
  }
  EXPECT_EQ(tape.node_count(), 0U);
  EXPECT_LT(tape.value_limit(), 20U);  // slots are used again
}

TEST_F(TapeTest, AnInternalNameIsNoTarget) {
  const ValueId w = leaf(1);
  const ValueId h = line(2, {w});
  line(3, {h}, {0});
  tape.let_go(h, rebound(2));
  tape.hold(h, 4, true);
  EXPECT_EQ(tape.node_count(), 2U);
  let_go(w, 1);
  EXPECT_EQ(tape.node_count(), 0U);
}

TEST_F(TapeTest, AnInternalValueIsIdleOnceNobodyNeedsItsData) {
  const ValueId w = leaf(1);
  const ValueId h = line(2, {w});
  const ValueId l = line(3, {h}, {0});  // the line's gradient reads h
  EXPECT_EQ(tape.reads(h), 1U);
  let_go(h, 2);
  tape.hold(h, 4, true);
  EXPECT_TRUE(tape.take_idle().empty());
  tape.add_read(h);  // a line that is still to come
  consume(l);
  EXPECT_EQ(tape.reads(h), 0U);
  EXPECT_TRUE(tape.take_idle().empty());
  tape.drop_read(h);
  const std::vector<ValueId> idle = tape.take_idle();
  EXPECT_FALSE(idle.empty());
  for (const ValueId v : idle) EXPECT_EQ(v, h);
  EXPECT_TRUE(tape.take_idle().empty());
}

TEST_F(TapeTest, ALineThatReadsItsOwnResultDoesNotKeepItself) {
  const ValueId w = leaf(1);
  const ValueId y = line(2, {w}, {}, true);
  EXPECT_EQ(tape.reads(y), 1U);
  let_go(y, 2);
  EXPECT_EQ(tape.node_count(), 0U);
}

TEST_F(TapeTest, AConsumedHistorySaysSo) {
  const ValueId w = leaf(1);
  const ValueId h = line(2, {w});
  const ValueId l = line(3, {h});
  consume(l);
  consume(h);
  EXPECT_EQ(tape.node_count(), 0U);
  for (const ValueId v : {h, l}) {
    EXPECT_EQ(tape.lost(v).kind, Lost::Kind::kConsumed);
    EXPECT_TRUE(tape.lost(v).hides_targets());
  }
}

// z = mul h r comes after h was consumed; then h and r lose their names.
TEST_F(TapeTest, NamesThatGoHideNoHistoryThatWasConsumed) {
  const ValueId w = leaf(1);
  const ValueId h = line(2, {w});
  consume(h);
  const ValueId r = leaf(4);
  const ValueId y = line(5, {h, r});
  const ValueId z = line(6, {y});
  let_go(h, 2);
  let_go(r, 4);
  let_go(y, 5);
  EXPECT_EQ(tape.node_count(), 0U);
  EXPECT_EQ(tape.lost(z).kind, Lost::Kind::kConsumed);
}

// The names of a set, in order.
std::vector<SymbolId> names_of(const NameSets::Ref& set) {
  std::vector<SymbolId> names;
  if (!set) return names;
  for (const NamedSince& n : (*set)->names) names.push_back(n.name);
  return names;
}

TEST_F(TapeTest, AnEndedHistoryKeepsTheNamesBehindIt) {
  const auto bind_again = [this](ValueId v, SymbolId name) {
    tape.note_gone(v, rebound(name));
    let_go(v, name);
  };
  const ValueId w = leaf(1);
  const ValueId x = leaf(2);
  const ValueId h = line(3, {w, x});
  const ValueId l = line(4, {h});
  bind_again(w, 1);
  bind_again(h, 3);
  EXPECT_TRUE(names_of(tape.former_names(l)).empty());  // x has its name
  bind_again(x, 2);
  EXPECT_EQ(names_of(tape.former_names(l)), (std::vector<SymbolId>{1, 2, 3}));
  // In a loop all values share one set of names.
  ValueId last = l;
  for (int round = 0; round < 3; ++round) {
    const ValueId next = line(5, {last});
    const NameSets::Ref before = tape.former_names(last);
    bind_again(last, round == 0 ? 4 : 5);
    if (round > 1) {
      EXPECT_EQ(&*tape.former_names(next), &*before);
    }
    last = next;
  }
}

TEST_F(TapeTest, AConsumedHistoryKeepsTheNamesBehindIt) {
  const ValueId w = leaf(1);
  const ValueId h = line(2, {w});
  const ValueId l = line(3, {h});
  Lost why;
  why.kind = Lost::Kind::kConsumed;
  const NodeId nodes[] = {tape.producer(l), tape.producer(h)};
  tape.consume(nodes, why);
  NameSet of_h, of_l;
  add_names_behind(tape, h, of_h);
  add_names_behind(tape, l, of_l);
  EXPECT_EQ(of_h.names, (std::vector<NamedSince>{{1, 0}}));
  EXPECT_EQ(of_l.names, (std::vector<NamedSince>{{1, 0}, {2, 0}}));
}

TEST_F(TapeTest, OldestFirst) {
  const ValueId w = leaf(1);
  const ValueId a = line(2, {w});
  const ValueId b = line(3, {a});
  EXPECT_EQ(tape.oldest(), tape.producer(a));
  EXPECT_EQ(tape.nodes_by_age(),
            (std::vector<NodeId>{tape.producer(a), tape.producer(b)}));
  consume(a);
  EXPECT_EQ(tape.oldest(), tape.producer(b));
}

TEST_F(TapeTest, OneValueTwiceInALine) {
  const ValueId w = leaf(1);
  const ValueId y = line(2, {w, w}, {0, 1});
  EXPECT_EQ(tape.reads(w), 2U);
  EXPECT_EQ(tape.users(w).size(), 2U);
  let_go(y, 2);
  EXPECT_EQ(tape.reads(w), 0U);
  EXPECT_TRUE(tape.users(w).empty());
}

TEST_F(TapeTest, FormsAreKeptOnceAndAsLongAsALineHasThem) {
  const ValueId w = leaf(1);
  const ValueId a = line(2, {w});
  const ValueId b = line(3, {w});
  EXPECT_EQ(&tape.form(a), &tape.form(b));
  let_go(a, 2);
  EXPECT_EQ(tape.form(b).op, find_op("mul"));
  let_go(b, 3);
  for (FormId f = 0; f < tape.forms().limit(); ++f) {
    EXPECT_EQ(tape.forms()[f].op, nullptr);
  }
}

// y = mul a b c d e, and the same gradient by all of them.
TEST_F(TapeTest, ALineMayReadMany) {
  std::vector<ValueId> leaves;
  for (SymbolId name = 1; name <= 5; ++name) leaves.push_back(leaf(name));
  const ValueId y =
      line(9, {leaves[0], leaves[1], kNil, leaves[2], leaves[3], leaves[4]},
           {0, 1, 5});
  const Node n = tape.node(y);
  EXPECT_EQ(n.operands.size(), 6U);
  EXPECT_EQ(n.operands[2], kNil);
  EXPECT_EQ(n.operands[5], leaves[4]);
  EXPECT_EQ(n.live_inputs, 5U);
  EXPECT_EQ(tape.reads(leaves[4]), 1U);
  EXPECT_EQ(tape.reads(leaves[3]), 0U);
  for (SymbolId name = 1; name <= 4; ++name) let_go(leaves[name - 1], name);
  EXPECT_EQ(tape.node_count(), 1U);
  let_go(leaves[4], 5);
  EXPECT_EQ(tape.node_count(), 0U);
  EXPECT_LT(tape.value_limit(), 20U);
}

// The oldest lines go, which are the last of those that read w.
TEST_F(TapeTest, AForgottenLineLeavesNothingBehind) {
  const ValueId w = leaf(1);
  ValueId h = leaf(2);
  Lost why;
  why.kind = Lost::Kind::kForgotten;
  for (int i = 0; i < 20000; ++i) {
    const ValueId next = line(3 + (i & 1), {h, w});
    let_go(h, i == 0 ? 2 : 3 + ((i - 1) & 1));
    h = next;
    while (tape.node_count() > 100) tape.forget(tape.oldest(), why);
  }
  EXPECT_EQ(tape.users(w).size(), 100U);
  EXPECT_LT(tape.value_limit(), 3000U);
}

// The place where a name was bound again is found, however far it is.
TEST_F(TapeTest, WhereANameWasBoundAgain) {
  const ValueId x = leaf(3);
  SymbolId name = 10;
  for (const size_t lines : {1, 31, 32, 100000}) {
    const ValueId w = leaf(1);
    line(++name, {w, x}, {0});
    Lost gone = rebound(1);
    gone.at = {0, tape.origin(w).line() + lines};
    gone.serial = tape.serial(w);
    tape.note_gone(w, gone);
    tape.let_go(w, gone);
    tape.hold(w, 7, true);
    EXPECT_EQ(tape.gone(w).at.line(), gone.at.line());
    EXPECT_EQ(tape.gone(w).name, 1U);
    tape.let_go(w, {});
  }
}

}  // namespace
}  // namespace gt::grad
