// A recipe says how to run one op on operands of given types: which kernels in
// which order, how much memory, and of which types the results are. It knows no
// names, and takes the numbers of a line when it runs (but see is_exact), so
// lines that differ in names and numbers alone share one (RecipeTable).
//
// A step of a recipe is one kernel and the values that it reads and writes. The
// values are the arguments, those of the op's call; the blocks, each of which
// is memory that a run takes from the pool, for a result or as scratch between
// two steps; and the constants, numbers that the op's expansion states, which
// are in the recipe itself.
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

// The 8 bytes that a kernel reads of a number, which is of a weak dtype.
inline uint64_t bits_of(const Number& number) {
  return number.kind == Number::Kind::kFloat
             ? std::bit_cast<uint64_t>(number.real)
             : std::bit_cast<uint64_t>(number.integer);
}

struct RecipeStep {
  std::unique_ptr<Kernel> kernel;
  std::vector<int32_t> in;   // values; kNoValue is a null pointer
  std::vector<int32_t> out;  // blocks
};

// Memory that a run takes. The blocks of results are bound to their names; the
// rest is scratch, which goes back to the pool as soon as the run is enqueued.
struct Block {
  uint32_t size_class = 0;
  TypeId type = kNoType;  // of what is written there first, for messages
  // Arguments over whose memory the block may be written: of the same size
  // class, read by no step behind the one that writes the block first, and that
  // step's kernel allows it (Kernel::in_place()). It is done when the line
  // binds the argument's name anew and nothing else refers to the buffer
  // (LineEntry::in_place, TaskIssuer).
  std::vector<int32_t> in_place;
};

struct RecipeResult {
  int32_t value = kNoValue;  // a block, or an argument that it is an alias of
  TypeId type = kNoType;
};

enum class Literal : uint8_t { kNone, kFloat, kInteger, kBool };

// Numbers for recipes, of which none comes twice in a process.
inline uint64_t next_recipe_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

struct Recipe {
  uint64_t id = next_recipe_id();
  const Op* op = nullptr;
  uint32_t arguments = 0;
  std::vector<uint32_t> numbers;  // the arguments that are numbers of the line
  // It has one step, which reads all arguments and writes all blocks in order,
  // so that values need not be looked up one by one.
  bool is_simple = false;
  // All its kernels may be recorded.
  bool may_be_recorded = false;
  // A kernel was made for a number of the line, such as a size, so lines with
  // another number cannot share the recipe.
  bool is_exact = false;
  std::string loads;  // the file that it reads, or ""
  uint64_t cost = 0;  // nanoseconds, roughly
  double flops = 0;
  // Bytes and operations of the line as the op table counts them, whatever its
  // steps; for a trace.
  double line_bytes = 0;
  double line_flops = 0;
  std::vector<Block> blocks;
  std::vector<RecipeResult> results;
  std::vector<RecipeStep> steps;
  std::vector<uint64_t> constants;
};

}  // namespace gt::exec
