// How reductions see a tensor. Neighbouring axes are joined, so that nearly all
// reductions have the form [outer, reduced, inner]; the others are first copied
// into that order. Sums run over parts of fixed size, whose results are joined
// in order: no bit depends on the number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/copy.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/view.h"

namespace gt::exec::cpu {

// The sizes of a tensor as a reduction sees it; and if its axes are not in that
// order, the view of it in which they are.
struct ReducePlan {
  int64_t outer = 1, reduced = 1, inner = 1;
  bool reorders = false;
  View order;  // kept dimensions, then reduced ones
};

// With `as_rows`, columns are put into the order of rows as well.
inline ReducePlan reduce_plan(const Shape& shape,
                              const std::array<bool, Shape::kMaxRank>& reduced,
                              bool as_rows = false) {
  ReducePlan plan;
  bool begun = false;
  bool ended = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (reduced[d]) {
      plan.reorders |= ended;
      begun = true;
      plan.reduced *= shape[d];
    } else {
      ended = begun;
      (begun ? plan.inner : plan.outer) *= shape[d];
    }
  }
  if (as_rows && plan.inner != 1) plan.reorders = true;
  if (!plan.reorders) return plan;
  plan.outer *= plan.inner;
  plan.inner = 1;
  const Strides strides = strides_of(shape);
  for (const bool kept : {true, false}) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (reduced[d] == kept) continue;
      plan.order.strides[plan.order.shape.size()] = strides[d];
      plan.order.shape.push_back(shape[d]);
    }
  }
  return plan;
}

// Operand number k in the plan's order and in the dtype that is computed in.
class ReduceSource {
 public:
  ReduceSource(const Call& call, const Context& context, const ReducePlan& plan,
               Dtype compute, size_t k = 0)
      : type_(call.type(k)),
        convert_(converter(type_.dtype, compute, *context.loops)) {
    if (plan.reorders) {
      copy_ = StridedCopy(plan.order, size_of(type_.dtype), context.threads);
      ordered_.resize(type_.bytes());
    }
    const Type converted{compute, type_.shape};
    if (convert_ != nullptr) converted_.resize(converted.bytes());
  }

  const void* get(const void* data) {
    if (!ordered_.empty()) {
      copy_.run(data, ordered_.data());
      data = ordered_.data();
    }
    if (converted_.empty()) return data;
    convert_(data, converted_.data(), type_.elements());
    return converted_.data();
  }

 private:
  Type type_;
  Convert convert_;
  StridedCopy copy_;
  std::vector<char> ordered_, converted_;
};

// Returns the loops of a reduction that there is.
template <typename T>
const ReduceRow<T>& reduction(std::string_view op, const Context& context) {
  const ReduceRow<T>* row = nullptr;
  if constexpr (std::is_integral_v<T>) {
    row = whole_loops_for<T>(context).reductions;
  } else {
    row = loops_for<T>(context).reductions;
  }
  while (op != row->op) ++row;
  return *row;
}

// The number of elements of a row, and of rows of columns, that are reduced as
// one part.
inline constexpr int64_t kRowPart = 4096;
inline constexpr int64_t kColumnPart = 2048;
// The number of columns that are reduced side by side.
inline constexpr int64_t kColumns = 256;

// The rows of an operand, each cut into parts that are reduced one by one.
// Columns are first copied into the order of rows.
template <typename T>
class ReduceRows {
 public:
  // Those of operand number k.
  ReduceRows(const Call& call, const Context& context, size_t k = 0)
      : plan_(reduce_plan(call.type(k).shape, axis_mask(call, k), true)),
        source_(call, context, plan_, dtype_of<T>(), k),
        threads_(context.threads),
        parts_(
            std::max<int64_t>(1, (plan_.reduced + kRowPart - 1) / kRowPart)) {}

  int64_t count() const { return plan_.outer; }
  int64_t size() const { return plan_.reduced; }
  int64_t parts() const { return parts_; }
  const T* get(const void* data) {
    return static_cast<const T*>(source_.get(data));
  }
  // Calls use(row) for each row.
  template <typename Use>
  void each(const Use& use) const {
    each_in_parallel(threads_, plan_.outer,
                     plan_.reduced * static_cast<int64_t>(sizeof(T)), use);
  }
  // Calls use(u, x, n) for each part u, which is the n elements from x on, of
  // all rows, or of row r, whose parts are from r * parts() on.
  template <typename Use>
  void each_part(const T* x, const Use& use) const {
    each_in_parallel(
        threads_, plan_.outer * parts_,
        std::min(plan_.reduced, kRowPart) * static_cast<int64_t>(sizeof(T)),
        [&](int64_t u) { use_part(x, u, use); });
  }
  template <typename Use>
  void each_part_of(int64_t r, const T* x, const Use& use) const {
    for (int64_t p = 0; p < parts_; ++p) use_part(x, r * parts_ + p, use);
  }

 private:
  template <typename Use>
  void use_part(const T* x, int64_t u, const Use& use) const {
    const int64_t row = parts_ == 1 ? u : u / parts_;
    const int64_t first = parts_ == 1 ? 0 : u % parts_ * kRowPart;
    use(static_cast<size_t>(u), x + row * plan_.reduced + first,
        std::min(kRowPart, plan_.reduced - first));
  }

  ReducePlan plan_;
  ReduceSource source_;
  int threads_;
  int64_t parts_;
};

}  // namespace gt::exec::cpu
