// The launches that reduce, for the plans that need totals.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/view.h"

namespace gt::exec::cuda {

// The operand as results and what each is made of.
struct Layout {
  Shape kept, reduced;
  Strides kept_strides{}, reduced_strides{};
};

// What is reduced, in the words of text/reduce.cuh.
struct Reduction {
  std::string function;  // "Sum<f32>"
  std::string from;      // where its elements come from: "Elements<...>"
  std::vector<Slot> in;  // that it reads
  Layout layout;
  Slot out;
  Dtype to = Dtype::kF32;    // of the results
  int64_t divisor = 1;       // of Mean
  size_t element_bytes = 4;  // of what it reads
  size_t total_bytes = 8;    // of one total
};

// Of a total of elements of the dtype.
size_t total_bytes(Dtype dtype);

// Appends as many launches as it takes, until each result is one part. Returns
// the kernel of the first of them over elements that it computes: see Reducing.
std::function<Source(std::string_view declarations)> add_reduction(
    Plan& plan, const Reduction& reduction);

}  // namespace gt::exec::cuda
