// What the collectives and conversions compute, for a group of a line that
// crosses ranks: what each member shows to the others, and what is computed
// from what is read. Wherever the members are the results are the same, bit for
// bit, since the same ops run over the same elements in the same tree. One
// process that holds all of them runs one program (collective.h).
//
// Members have homes, the workers. A plan is a list of steps; in a step every
// source exports one value, and every target reads regions of exports and runs
// a short program over them. The sources of the first step are the pieces, the
// sources of another are the targets of the step before, with their outputs.
//
//     combine   pieces of one home that are a whole subtree of the fixed tree
//               become one value there; only before sums, only if there are any
//     sum       of a large all_reduce: each home sums its chunk of the flat
//               values, the first chunks one element longer
//     final     what each result is; one target for all ranks of a home if the
//               group's results are one value
//
// Cost of an all_reduce of N bytes over H homes: in one step each home reads
// (H-1) N of others; with chunks, 2 N (H-1)/H, for one more exchange.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "spmd/crossing.h"
#include "spmd/group_program.h"

namespace gt {

// A part of a source's export.
struct ExchangeRead {
  uint32_t source = 0;
  Region region;
};

// What a target does: the program's pieces are the reads in their order, and it
// gives one result. Without reads it makes its output from nothing.
struct ExchangeTask {
  std::vector<ExchangeRead> reads;  // by ascending source; none is empty
  // Types of the reads: of one slice, without its dimension.
  std::vector<Type> arguments;
  GroupProgram program;
  Type output;
};

struct ExchangeStep {
  std::vector<Type> exports;  // by source
  // The exports are seen as rows of their elements (a view), which is what
  // `exports` says then.
  bool is_flat = false;
  std::vector<uint32_t> source_homes;
  std::vector<uint32_t> target_homes;
};

// The worker of a rank.
using HomeOf = std::function<uint32_t(int64_t rank)>;
// Of ranks that are all in one process.
inline uint32_t one_home(int64_t /*rank*/) { return 0; }

struct ExchangeOptions {
  HomeOf home;  // empty: every rank is alone, its home is its number
  // Only groups with a rank there; nothing: all.
  std::optional<uint32_t> here;
  // An all_reduce of more bytes, over more than two homes, goes by chunks.
  // About what a page-faulting copy moves in the time of a wake-up.
  size_t direct_bytes = size_t{32} << 10;
};

class ExchangePlan {
 public:
  ExchangePlan(Crossing group, const ExchangeOptions& options);
  // The whole that print or save puts together, for the first rank of the set.
  ExchangePlan(Assembly assembly, const ExchangeOptions& options);

  // Of the line: in coordinate order of the groups, so all workers agree.
  uint32_t group() const { return group_.index; }
  // Ranks of the pieces, by source of the first step.
  const std::vector<int64_t>& sources() const { return group_.sources; }
  // Ranks of the results, and types of the pieces by source.
  const std::vector<int64_t>& targets() const { return group_.targets; }
  const std::vector<Type>& pieces() const { return group_.pieces; }
  const GroupForm& form() const { return group_.form; }
  size_t steps() const { return steps_.size(); }
  const ExchangeStep& step(size_t s) const { return steps_[s].out; }
  // Ranks whose result is the output of this target of the last step; none of
  // an assembly.
  const std::vector<int64_t>& results(size_t target) const {
    return results_[target];
  }

  // Linear in the group's members, as is what follows.
  ExchangeTask task(size_t step, size_t target) const;
  std::vector<ExchangeRead> reads(size_t step, size_t target) const;
  // The inverse: targets that read this source, ascending.
  std::vector<uint32_t> readers(size_t step, size_t source) const;
  Type output(size_t step, size_t target) const;

 private:
  enum class Kind : uint8_t { kCombine, kSum, kJoin, kFinal, kAssemble };
  struct Step {
    Kind kind = Kind::kFinal;
    ExchangeStep out;
  };
  // Sources, or targets, from begin to before end.
  struct Span {
    size_t begin = 0;
    size_t end = 0;
  };

  uint32_t home(int64_t rank) const;
  std::vector<uint32_t> homes(const std::vector<int64_t>& ranks) const;
  std::vector<uint32_t> find_targets();
  void add_step(Kind kind, std::vector<Type> exports,
                std::vector<uint32_t> from, std::vector<uint32_t> to);
  std::vector<Type> outputs(size_t step) const;
  // Who may read whom; part() says what, which can be empty.
  Span sources_of(const Step& step, size_t target) const;
  Span targets_of(const Step& step, size_t source) const;
  bool reads_parts(const Step& step) const;
  Region part(const Step& step, size_t target, size_t source) const;
  Type final_output(size_t target) const;
  Shape exchanged_shape(size_t target) const;
  gt::Step last_step(ProgramWriter& writer, const Step& step, size_t target,
                     const std::vector<Type>& pieces) const;
  gt::Step final_step(ProgramWriter& writer, size_t target,
                      const std::vector<Type>& pieces) const;

  Crossing group_;
  HomeOf home_;
  std::vector<Subtree> subtrees_;  // of a sum: its operands after `combine`
  std::vector<int64_t> chunks_;    // starts, and the end, of `sum`
  std::vector<Step> steps_;
  std::vector<std::vector<int64_t>> results_;  // by target of the last step
  std::optional<Assembly> assembly_;
};

// By group. Types are asked for every source of a group that has a rank here.
Result<std::vector<ExchangePlan>> exchange_plans(
    const Line& line, const LineRanks& where, const Grid& grid,
    const PieceType& types, const ExchangeOptions& options);

}  // namespace gt
