// A recipe says how to run one op on operands of given types: which kernels to
// run in which order, how much memory that takes, and the types of the results.
// It contains no names, and takes the numbers of a line when it runs (unless
// is_exact), so lines that differ only in names and numbers share one recipe
// (RecipeTable).
//
// A step of a recipe is one kernel and the values that it reads and writes.
// There are three sorts of values: the arguments of the op's call; the blocks,
// each a piece of memory that a run takes from the pool, for a result or as
// scratch between two steps; and the constants, which are numbers that the op's
// expansion states and which lie in the recipe itself.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/backend/kernel.h"
#include "ops/op.h"
#include "program/type_ids.h"
#include "stream/number.h"

namespace gt::exec {

// Values are numbered: the arguments first, as in Kernel::run, then the blocks,
// then the constants.
inline constexpr int32_t kNoValue = -1;

// Returns the 8 bytes by which a kernel gets a number of the line, which has a
// weak dtype.
inline uint64_t bits_of(const Number& number) {
  return number.kind == Number::Kind::kFloat
             ? std::bit_cast<uint64_t>(number.real)
             : std::bit_cast<uint64_t>(number.integer);
}

// A step: one kernel, and the values that it reads and writes.
struct RecipeStep {
  std::shared_ptr<Kernel> kernel;  // several lines' recipe shares theirs
  // Values that the kernel reads; it gets a null pointer for kNoValue.
  std::vector<int32_t> in;
  std::vector<int32_t> out;  // blocks
};

// Memory that a run takes from the pool. The blocks of results are bound to the
// names of the results; the others are scratch, which goes back to the pool as
// soon as the run is enqueued.
struct Block {
  uint32_t size_class = 0;
  TypeId type = kNoType;  // of the first value written there, for messages
  // The arguments whose memory the block may take over. Such an argument has
  // the same size class, no step after the one that writes the block first
  // reads it, and that step's kernel allows it (Kernel::in_place()). It is done
  // when the line rebinds the argument's name and nothing else refers to its
  // buffer (LineEntry::in_place, TaskIssuer).
  std::vector<int32_t> in_place;
};

// A result: the value that has it, and its type.
struct RecipeResult {
  // A block, or an argument if the result is its alias.
  int32_t value = kNoValue;
  TypeId type = kNoType;
};

// Returns an id for a recipe that is unique in the process.
inline uint64_t next_recipe_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

struct Recipe {
  uint64_t id = next_recipe_id();
  const Op* op = nullptr;
  uint32_t arguments = 0;
  std::vector<uint32_t> numbers;  // which arguments are numbers of the line
  // True if there is one step, which reads all arguments and writes all blocks
  // in order, so that its values need not be looked up one by one.
  bool is_simple = false;
  // Kernel::fusible_elements() of the one step, or 0.
  int64_t fusible_elements = 0;
  // Does what all steps do at once, unless a value is poisoned; null: none
  // does. It reads all arguments and writes blocks in order. Only a recipe of
  // several lines has it (worker/line_group.h).
  std::unique_ptr<Kernel> fused;
  // The ops of such a recipe's lines but the first.
  std::vector<const Op*> further_ops;
  // True if a device may record all kernels (Kernel::may_be_recorded()).
  bool may_be_recorded = false;
  // True if a kernel was made for a number of the line, such as a size. Then
  // lines with another number cannot share the recipe.
  bool is_exact = false;
  std::string loads;  // the file that the recipe reads, or ""
  uint64_t cost = 0;  // estimated nanoseconds
  double flops = 0;
  // Bytes and floating-point operations of the line as the op table counts
  // them, whatever the steps are; for a trace.
  double line_bytes = 0;
  double line_flops = 0;
  std::vector<Block> blocks;
  std::vector<RecipeResult> results;
  std::vector<RecipeStep> steps;
  std::vector<uint64_t> constants;
};

}  // namespace gt::exec
