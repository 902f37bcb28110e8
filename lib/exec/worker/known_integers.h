// The integers that the decoding thread knows while the device has yet to
// compute them.
//
// Where the host does not see what a device has computed, a line that needs a
// number on the host, as a load does the row where it begins, would wait for
// all that the device was given before. But such a row is a count that the
// program itself moves on, `at = add at 100`. So lines that make integers of
// nothing but integers are computed twice, by the device for whoever reads
// them there and here by the reference kernels, and the load takes the row as
// if it were a number of its line (LineEntry::numbered).
//
// Used by the decoding thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/backend/backend.h"
#include "exec/decode/line_entry.h"
#include "exec/queue/interpreter.h"
#include "exec/recipe/recipe_table.h"

namespace gt::exec {

class KnownIntegers {
 public:
  // The types are the worker's; all outlive it. `keeps`: as RecipeTable.
  KnownIntegers(TypeIds& types, Saves& saves, bool keeps);

  // Where the decoder finds the recipes of such lines.
  RecipeTable& recipes() { return recipes_; }

  // Computes what an entry makes that has a recipe `on_host`. It is to be
  // called before the line takes memory, which may be that of an operand.
  // False: an operand is not known, or its value is wrong, which the device
  // will say.
  bool compute(const LineEntry& entry, const Registers& registers);
  // Notes what was computed last, once the entry's results are bound.
  void note(const LineEntry& entry, const Registers& registers) const;

 private:
  // What a scalar, or scratch memory beside it, has room in.
  using Cell = std::array<uint64_t, 8>;

  std::unique_ptr<Backend> backend_;
  RecipeTable recipes_;
  Interpreter interpreter_;
  std::vector<Cell> cells_;  // by value of the recipe
  std::vector<Value> values_;
  std::vector<Value*> pointers_;
};

}  // namespace gt::exec
