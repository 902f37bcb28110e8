// Adds the launches of a sort to a plan, for all plans that need an order.
#pragma once

#include <string_view>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/view.h"

namespace gt::exec::cuda {

// The lines of keys to sort.
struct SortedLines {
  // The type of a key, as kernel texts name it.
  std::string_view key;
  Lines lines;
  bool descending = false;
};

// Appends the steps that write the indices of each line's keys, in sorted
// order, to `into`, as i64: index j of a line is written where key j of the
// line lies. Equal keys keep their order; nan is the largest.
void add_sort(Plan& plan, const SortedLines& sorted, Slot keys, Slot into);

}  // namespace gt::exec::cuda
