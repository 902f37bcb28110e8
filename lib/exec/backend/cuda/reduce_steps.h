// Adds the launches of a reduction to a plan, for all plans that need totals.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/view.h"

namespace gt::exec::cuda {

// An operand split into the dimensions that the results keep and those that
// each result reduces.
struct Layout {
  Shape kept, reduced;
  Strides kept_strides{}, reduced_strides{};
};

// A reduction, in the words of text/reduce.cuh.
struct Reduction {
  std::string function;  // "Sum<f32>"
  // The source of its elements: "Elements<...>".
  std::string from;
  std::vector<Slot> in;  // the operands that it reads
  Layout layout;
  Slot out;
  Dtype to = Dtype::kF32;  // dtype of the results
  int64_t divisor = 1;     // for Mean: the number that the total is divided by
  size_t element_bytes = 4;  // size of an element that it reads
  size_t total_bytes = 8;    // size of one total
};

// Returns the size in bytes of a total of elements of the dtype.
size_t total_bytes(Dtype dtype);

// Appends as many launches as it takes until each result is a single part.
// Returns a function that makes the text of the first of them when it computes
// its elements instead of reading them (Reducing::source).
std::function<Source(std::string_view declarations)> add_reduction(
    Plan& plan, const Reduction& reduction);

}  // namespace gt::exec::cuda
