// KnownIntegers computes, on the decoding thread, integers that the device
// computes as well, so that they are known before the device has run.
//
// Where the host cannot see a device's values, a line that needs a number on
// the host, as a load needs the row where it begins, would wait for everything
// that the device was given before. But such a row is mostly a count that the
// program itself increments: `at = add at 100`. So a line that makes integers
// from nothing but integers is computed twice: by the device, for lines that
// read the result there, and here by the reference kernels. A load then takes
// the row as if it were a number of its line (LineEntry::numbered).
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
  // `types` are the worker's. All arguments must outlive the object. `keeps` is
  // that of RecipeTable.
  KnownIntegers(TypeIds& types, Saves& saves, bool keeps);

  // Returns the table in which the decoder finds the host's recipes of such
  // lines.
  RecipeTable& recipes() { return recipes_; }

  // Computes the results of an entry that has a recipe `on_host`. Must be
  // called before the line takes memory, since that may be the memory of an
  // operand. False if an operand is not known, or if the op fails; the device
  // reports that failure.
  bool compute(const LineEntry& entry, const Registers& registers);
  // Stores the numbers of the last compute() in the buffers of the entry's
  // results, once these are bound.
  void note(const LineEntry& entry, const Registers& registers) const;

 private:
  // Memory for a scalar, or for scratch of the same size class (64 bytes).
  using Cell = std::array<uint64_t, 8>;

  std::unique_ptr<Backend> backend_;
  RecipeTable recipes_;
  Interpreter interpreter_;
  std::vector<Cell> cells_;  // by value of the recipe
  std::vector<Value> values_;
  std::vector<Value*> pointers_;
};

}  // namespace gt::exec
