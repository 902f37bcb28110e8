// argsort along an axis, stable; nan counts as the largest.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "exec/backend/element.h"
#include "exec/backend/ref/ref.h"
#include "exec/backend/view.h"

namespace gt::exec::ref {
namespace {

class Argsort final : public Kernel {
 public:
  explicit Argsort(const Call& call)
      : from_(call.type(0)), descending_(call.flag("descending")) {
    const size_t axis = single_axis(call, 0);
    if (from_.shape.empty()) return;
    rows_ = from_.shape[axis];
    step_ = strides_of(from_.shape)[axis];
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const int64_t lines = rows_ == 0 ? 0 : from_.elements() / rows_;
    order_.resize(static_cast<size_t>(rows_));
    for (int64_t l = 0; l < lines; ++l) {
      const int64_t first = l / step_ * step_ * rows_ + l % step_;
      std::iota(order_.begin(), order_.end(), 0);
      std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
        if (descending_) std::swap(a, b);
        return less(in[0], first + a * step_, first + b * step_);
      });
      for (int64_t i = 0; i < rows_; ++i) {
        store_int(Dtype::kI64, out[0], first + i * step_,
                  order_[static_cast<size_t>(i)]);
      }
    }
    return ok_status();
  }

 private:
  bool less(const void* data, int64_t i, int64_t j) const {
    if (is_float(from_.dtype)) {
      const double a = load_real(from_.dtype, data, i);
      const double b = load_real(from_.dtype, data, j);
      return std::isnan(b) ? !std::isnan(a) : a < b;
    }
    return load_int(from_.dtype, data, i) < load_int(from_.dtype, data, j);
  }

  Type from_;
  bool descending_;
  int64_t rows_ = 1;
  int64_t step_ = 1;
  std::vector<int64_t> order_;
};

std::unique_ptr<Kernel> ref_argsort(const Call& call) {
  return std::make_unique<Argsort>(call);
}

constexpr KernelRow kRows[] = {{"argsort", ref_argsort}};

}  // namespace

std::span<const KernelRow> sort_kernels() { return kRows; }

}  // namespace gt::exec::ref
