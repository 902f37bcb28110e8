// The plan of a collective or a conversion over one group of ranks: who reads
// which part of whose value, and what is computed from it. exchange_plans()
// makes a plan for each group of a line; every worker that has a rank of the
// group makes the same one. The decoder of gt-work (lib/exec/decode) turns a
// plan into tasks and into reads from other workers. If one process holds all
// members, collective.h makes one program from the plan.
//
// Summands are combined in one fixed tree over the group's order, first half
// plus second half, recursively (tree_middle(), group_program.h).
// Floating-point addition is not associative, and with one tree the results are
// the same, bit for bit, however the ranks are spread over workers.
//
// A rank's home is the worker that runs it. A plan is a list of steps. In a
// step every source exports one value, and every target reads regions of the
// exports and runs a short program over them. The sources of the first step are
// the ranks with their pieces; the sources of a later step are the targets of
// the one before it, with their outputs. The steps are:
//
//     combine   pieces of one home that are a whole subtree of the fixed tree
//               become one value there; only before a sum, and only if a home
//               has such pieces
//     sum       for a large all_reduce: each home sums its chunk of the values,
//               seen as one-dimensional; the first chunks are one element
//               longer
//     join      after sum: the chunks become the result
//     final     otherwise: the results; one target for all ranks of a home if
//               the results of the group are one value
//     assemble  for print and save: the whole is put together
//
// Cost of an all_reduce of N bytes over H homes: in one step (final) each home
// reads (H-1) N bytes of others; by chunks (sum, join) it reads 2 N (H-1)/H
// bytes, for one exchange more.
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

// A region of what a source exports.
struct ExchangeRead {
  uint32_t source = 0;
  Region region;
};

// A target's part in a step. The pieces of its program are the reads, in their
// order, and the program gives one result. A target without reads gets zeros.
struct ExchangeTask {
  std::vector<ExchangeRead> reads;  // by ascending source; none is empty
  // The types of the reads as the program gets them: a read of one slice
  // (GroupForm::is_sliced) lacks the sliced dimension.
  std::vector<Type> arguments;
  GroupProgram program;
  Type output;
};

// One step of a plan, as seen from outside.
struct ExchangeStep {
  std::vector<Type> exports;  // by source
  // True if the exports are read as if they had one dimension. `exports` then
  // has that flat shape.
  bool is_flat = false;
  std::vector<uint32_t> source_homes;  // by source
  std::vector<uint32_t> target_homes;  // by target
};

// The worker that runs a rank, as a number.
using HomeOf = std::function<uint32_t(int64_t rank)>;
// Returns the home of ranks that are all in one process.
inline uint32_t one_home(int64_t /*rank*/) { return 0; }

struct ExchangeOptions {
  HomeOf home;  // empty: every rank is a home by itself, with its own number
  // The home that gets what is put together; without it, that of the target.
  std::optional<uint32_t> reader;
  // The home for which plans are made: only groups that have a rank there are
  // planned. Without it, all groups are.
  std::optional<uint32_t> here;
  // An all_reduce is done by chunks if a home then reads more than this less.
  // That takes one more step, which costs a wake-up of the other workers; this
  // is about as much as is copied in that time. So of two homes none does, of
  // eight those of 7 KB and more do, and of 1,024 all.
  size_t direct_bytes = size_t{32} << 10;
};

// Returns true if an all_reduce of such pieces over so many homes is done by
// chunks.
bool sums_by_chunks(const Type& piece, size_t homes, size_t direct_bytes);

class ExchangePlan {
 public:
  ExchangePlan(Crossing group, const ExchangeOptions& options);
  // Makes the plan of a print or save that puts a whole together on one rank.
  ExchangePlan(Assembly assembly, const ExchangeOptions& options);

  // Returns the index of the group among those of the line, the same on all
  // workers.
  uint32_t group() const { return group_.index; }
  // Returns the ranks whose pieces are the sources of the first step.
  const std::vector<int64_t>& sources() const { return group_.sources; }
  // Returns the ranks that get results.
  const std::vector<int64_t>& targets() const { return group_.targets; }
  // Returns the types of the pieces, in the order of sources().
  const std::vector<Type>& pieces() const { return group_.pieces; }
  const GroupForm& form() const { return group_.form; }
  size_t steps() const { return steps_.size(); }
  const ExchangeStep& step(size_t s) const { return steps_[s].out; }
  // Returns the ranks whose result is the output of this target of the last
  // step; none for an assembly.
  const std::vector<int64_t>& results(size_t target) const {
    return results_[target];
  }

  // task() returns what one target of a step does; reads() and output() return
  // parts of that: what it reads, and the type of its output. readers() is the
  // inverse of reads(): it returns the targets that read a source, ascending.
  // Each takes time linear in the number of the group's members.
  ExchangeTask task(size_t step, size_t target) const;
  std::vector<ExchangeRead> reads(size_t step, size_t target) const;
  std::vector<uint32_t> readers(size_t step, size_t source) const;
  // Returns the region of a source that one of its readers reads, in constant
  // time.
  Region region(size_t step, size_t target, size_t source) const {
    return part(steps_[step], target, source);
  }
  Type output(size_t step, size_t target) const;

 private:
  enum class Kind : uint8_t { kCombine, kSum, kJoin, kFinal, kAssemble };
  struct Step {
    Kind kind = Kind::kFinal;
    ExchangeStep out;
  };
  // The sources, or targets, from `begin` to before `end`.
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
  // Return the sources that a target reads, and the targets that read a source,
  // as far as the kind of step determines them. part() says what is read, which
  // can be nothing.
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
  std::vector<Subtree> subtrees_;  // for a sum: the members that are combined
  std::vector<int64_t> chunks_;    // for `sum`: the chunks' starts, and the end
  std::vector<Step> steps_;
  std::vector<std::vector<int64_t>> results_;  // by target of the last step
  std::optional<Assembly> assembly_;
};

// Returns the plans of a line that crosses ranks, one for each group that has a
// rank at options.here. `types` is called only for pieces of these groups.
// Errors: those of crossings().
Result<std::vector<ExchangePlan>> exchange_plans(
    const Line& line, const LineRanks& where, const Grid& grid,
    const PieceType& types, const ExchangeOptions& options);

}  // namespace gt
