// How to run one op on operands of given types: the kernels with their
// primitives, the memory that they need, and the types of the results. Names
// and changing numbers aside, so lines that differ only in them share one.
#pragma once

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

// A recipe's values are numbered: the arguments as in Kernel::run, then the
// blocks of memory that each run takes, then the recipe's own constants.
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

// Memory that a run takes. Results keep theirs; the rest is scratch, and goes
// back to the pool when the run is enqueued.
struct Block {
  uint32_t size_class = 0;
  TypeId type = kNoType;  // of what is written there first, for messages
  // Arguments whose memory may be this block, should their value die here.
  std::vector<int32_t> in_place;
};

struct RecipeResult {
  int32_t value = kNoValue;  // a block, or an argument that it is an alias of
  TypeId type = kNoType;
};

enum class Literal : uint8_t { kNone, kFloat, kInteger, kBool };

struct Recipe {
  const Op* op = nullptr;
  uint32_t arguments = 0;
  // One step that takes the arguments and writes the blocks, in order: its
  // spans are the record's own words.
  bool is_simple = false;
  // A number operand became part of the recipe, so no other number may use it.
  bool is_exact = false;
  uint64_t cost = 0;  // nanoseconds, roughly
  double flops = 0;
  // Of the line as the op table counts it, whatever its steps; for a trace.
  double line_bytes = 0;
  double line_flops = 0;
  std::vector<Block> blocks;
  std::vector<RecipeResult> results;
  std::vector<RecipeStep> steps;
  std::vector<uint64_t> constants;
};

}  // namespace gt::exec
