#include "grad/tape.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "ops/table.h"

namespace gt {
namespace {

// A tape on which names are numbers, and each line stands at the next place.
class TapeTest : public ::testing::Test {
 protected:
  ValueId leaf(SymbolId name, bool differentiable = true) {
    const ValueId v = tape.add_leaf(0, differentiable, place());
    tape.hold(v, name, false);
    return v;
  }

  // A line of one result. `needed`: operands whose data its gradient reads.
  ValueId line(SymbolId name, std::initializer_list<ValueId> operands,
               std::initializer_list<uint32_t> needed = {},
               bool reads_itself = false) {
    const std::vector<ValueId> read(operands);
    const std::vector<uint32_t> data(needed);
    const std::vector<uint32_t> own(reads_itself ? 1 : 0, 0);
    const std::vector<TypeId> types = {0};
    const std::vector<uint8_t> differentiable = {1};
    std::vector<ValueId> results;
    tape.record(
        {find_op("mul"), {}, read, types, differentiable, data, own, place()},
        results);
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
    tape.forget(tape.value(v).producer, why);
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
  EXPECT_EQ(tape.value(y).producer, kNil);
}

TEST_F(TapeTest, KeepsALineWhileItsResultIsHeld) {
  const ValueId w = leaf(1);
  const ValueId h = line(2, {w});
  const ValueId l = line(3, {h});
  EXPECT_EQ(tape.node_count(), 2U);
  let_go(h, 2);
  EXPECT_EQ(tape.node_count(), 2U);  // l follows from it
  let_go(l, 3);
  EXPECT_EQ(tape.node_count(), 0U);
  EXPECT_TRUE(tape.value(w).uses.empty());
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
  EXPECT_EQ(tape.value(l).lost.kind, Lost::Kind::kRebound);
  EXPECT_EQ(tape.value(l).lost.name, 1U);  // the one that went last
  EXPECT_FALSE(tape.value(l).lost.hides_targets());
}

TEST_F(TapeTest, AHeldValueInTheMiddleIsATarget) {
  const ValueId w = leaf(1);
  const ValueId h = line(2, {w});
  line(3, {h});
  let_go(w, 1);
  EXPECT_EQ(tape.node_count(), 1U);  // from h on
  EXPECT_EQ(tape.value(h).producer, kNil);
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
  const ValueId l = line(3, {h}, {0});  // its gradient reads h
  EXPECT_EQ(tape.value(h).reads, 1U);
  let_go(h, 2);
  tape.hold(h, 4, true);
  EXPECT_TRUE(tape.take_idle().empty());
  tape.add_read(h);  // a line to come
  consume(l);
  EXPECT_EQ(tape.value(h).reads, 0U);
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
  EXPECT_EQ(tape.value(y).reads, 1U);
  let_go(y, 2);
  EXPECT_EQ(tape.node_count(), 0U);
}

TEST_F(TapeTest, WhatWasConsumedSaysSo) {
  const ValueId w = leaf(1);
  const ValueId h = line(2, {w});
  const ValueId l = line(3, {h});
  consume(l);
  consume(h);
  EXPECT_EQ(tape.node_count(), 0U);
  for (const ValueId v : {h, l}) {
    EXPECT_EQ(tape.value(v).lost.kind, Lost::Kind::kConsumed);
    EXPECT_TRUE(tape.value(v).lost.hides_targets());
  }
}

// z = mul h r after h was consumed; then h and r go.
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
  EXPECT_EQ(tape.value(z).lost.kind, Lost::Kind::kConsumed);
}

TEST_F(TapeTest, OldestFirst) {
  const ValueId w = leaf(1);
  const ValueId a = line(2, {w});
  const ValueId b = line(3, {a});
  EXPECT_EQ(tape.oldest(), tape.value(a).producer);
  EXPECT_EQ(tape.newest(), tape.value(b).producer);
  consume(a);
  EXPECT_EQ(tape.oldest(), tape.value(b).producer);
}

TEST_F(TapeTest, OneValueTwiceInALine) {
  const ValueId w = leaf(1);
  const ValueId y = line(2, {w, w}, {0, 1});
  EXPECT_EQ(tape.value(w).reads, 2U);
  EXPECT_EQ(tape.value(w).uses.size(), 2U);
  let_go(y, 2);
  EXPECT_EQ(tape.value(w).reads, 0U);
  EXPECT_TRUE(tape.value(w).uses.empty());
}

}  // namespace
}  // namespace gt
