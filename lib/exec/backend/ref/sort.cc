// argsort along an axis. It is stable, and nan counts as the largest.
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
      : from_(call.type(0)),
        lines_(lines_along(from_.shape, single_axis(call, 0))),
        descending_(call.flag("descending")) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const int64_t step = lines_.step;
    order_.resize(static_cast<size_t>(lines_.size));
    for (int64_t l = 0; l < lines_.count; ++l) {
      const int64_t first = lines_.first(l);
      std::iota(order_.begin(), order_.end(), 0);
      std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
        if (descending_) std::swap(a, b);
        return less(in[0], first + a * step, first + b * step);
      });
      for (int64_t i = 0; i < lines_.size; ++i) {
        store_int(Dtype::kI64, out[0], first + i * step,
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
  Lines lines_;
  bool descending_;
  std::vector<int64_t> order_;
};

std::unique_ptr<Kernel> ref_argsort(const Call& call) {
  return std::make_unique<Argsort>(call);
}

constexpr KernelRow kSortKernels[] = {{"argsort", ref_argsort}};

}  // namespace

std::span<const KernelRow> sort_kernels() { return kSortKernels; }

}  // namespace gt::exec::ref
