// A group of a line that crosses ranks, when its members are not all in one
// process: what each shows to the others, and what each computes from what it
// reads. The results are those of the group's program (collective.h), bit for
// bit, since they are made by the same ops over the same elements.
//
// A plan has one step, or two: all_reduce of something large sums a chunk of
// the flat pieces at each member in the fixed tree, then gathers the chunks.
// In a step every source exports one value and every target makes one output:
// it reads regions of the sources' exports and runs a short program over them.
// The sources of a second step are the targets of the first, with its outputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "spmd/collective.h"
#include "spmd/placed.h"

namespace gt {

// A part of a source's export; all of it when `count` is its shape.
struct ExchangeRead {
  uint32_t source = 0;
  Shape start;
  Shape count;
};

struct ExchangeStep {
  // By source. In the first step the pieces; `is_flat` then means that each is
  // seen as one row of its elements (a view), and these types are those rows.
  std::vector<Type> exports;
  bool is_flat = false;
};

class ExchangePlan {
 public:
  // Ranks: of the pieces, and of the results. Equal but for a copy.
  const std::vector<int64_t>& sources() const { return sources_; }
  const std::vector<int64_t>& targets() const { return targets_; }
  size_t steps() const { return steps_.size(); }
  const ExchangeStep& step(size_t s) const { return steps_[s]; }

  // What the target reads, by ascending source; none for a target whose output
  // is made from nothing (reduce, off its root: zeros).
  std::vector<ExchangeRead> reads(size_t step, size_t target) const;
  // Targets that read this source, ascending; without asking each of them.
  std::vector<uint32_t> readers(size_t step, size_t source) const;
  // The target's program: lines over a0, a1, ..., what it reads in that order,
  // that give r0.
  GroupProgram program(size_t step, size_t target) const;
  Type output(size_t step, size_t target) const;
};

// By group, as group_plan() (placed.h) makes groups, with its errors. Types
// are asked for every source of a group with a member in `wanted` (null: all);
// groups without one are left out. Work is linear in the members of a group.
Result<std::vector<ExchangePlan>> exchange_plans(
    const Line& line, const LineRanks& where, const Grid& grid,
    const PieceType& types, const std::vector<bool>* wanted);

}  // namespace gt
