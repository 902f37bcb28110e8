// The launches that sort lines of keys, for the plans that need an order.
#pragma once

#include <string_view>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/view.h"

namespace gt::exec::cuda {

struct SortedLines {
  std::string_view key;  // as texts name its type
  Lines lines;
  bool descending = false;
};

// Appends to the plan what writes, for each line, the indices of its keys in
// order to `into`, as i64, each where a key lies. Equal keys keep their order;
// nan is the largest.
void add_sort(Plan& plan, const SortedLines& sorted, Slot keys, Slot into);

}  // namespace gt::exec::cuda
