// The matrix product over the last two axes: a[..,m,k] b[..,k,n] -> c[..,m,n].
// Leading axes broadcast; with ta or tb, the last two axes of that operand are
// swapped. Floats accumulate in long double, integers in wrapping i64.
#include "exec/backend/element.h"
#include "exec/backend/ref/ref.h"
#include "exec/backend/view.h"

namespace gt::exec::ref {
namespace {

class Matmul final : public Kernel {
 public:
  explicit Matmul(const Call& call) : to_(call.results[0]) {
    const size_t rank = to_.shape.size();
    for (size_t k = 0; k < 2; ++k) {
      const Type& type = call.type(k);
      dtype_[k] = type.dtype;
      const size_t own = type.shape.size();
      const bool swapped = call.flag(k == 0 ? "ta" : "tb");
      const Strides strides = strides_of(type.shape);
      row_[k] = strides[own - (swapped ? 1 : 2)];
      column_[k] = strides[own - (swapped ? 2 : 1)];
      if (k == 0) inner_ = type.shape[own - (swapped ? 2 : 1)];
      batch_[k] = batch_strides(type.shape, rank);
    }
    batches_ = to_.shape;
    batches_.erase(rank - 1);
    batches_.erase(rank - 2);
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const int64_t m = to_.shape[to_.shape.size() - 2];
    const int64_t n = to_.shape.back();
    Walk<2> walk(batches_, batch_);
    const int64_t batches = batches_.elements();
    int64_t r = 0;
    for (int64_t b = 0; b < batches; ++b, walk.next()) {
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          dot(in, walk[0] + i * row_[0], walk[1] + j * column_[1], out[0], r++);
        }
      }
    }
    return ok_status();
  }

 private:
  Strides batch_strides(const Shape& shape, size_t rank) const {
    Shape operand = shape;
    Shape result = to_.shape;
    for (size_t k = 0; k < 2; ++k) {
      operand[operand.size() - 1 - k] = 1;
      result[rank - 1 - k] = 1;
    }
    Strides strides = broadcast_strides(operand, result);
    const int64_t matrix = shape.back() * shape[shape.size() - 2];
    for (int64_t& s : strides) s *= matrix;
    return strides;
  }

  void dot(std::span<const void* const> in, int64_t a, int64_t b, void* out,
           int64_t r) const {
    if (is_float(to_.dtype)) {
      long double sum = 0;
      for (int64_t k = 0; k < inner_; ++k) {
        sum += static_cast<long double>(
                   load_real(dtype_[0], in[0], a + k * column_[0])) *
               load_real(dtype_[1], in[1], b + k * row_[1]);
      }
      return store_real(to_.dtype, out, r, static_cast<double>(sum));
    }
    int64_t sum = 0;
    for (int64_t k = 0; k < inner_; ++k) {
      sum =
          wrap_add(sum, wrap_mul(load_int(dtype_[0], in[0], a + k * column_[0]),
                                 load_int(dtype_[1], in[1], b + k * row_[1])));
    }
    store_int(to_.dtype, out, r, sum);
  }

  Type to_;
  Shape batches_;
  std::array<Dtype, 2> dtype_{};
  std::array<int64_t, 2> row_{}, column_{};
  std::array<Strides, 2> batch_{};
  int64_t inner_ = 0;
};

std::unique_ptr<Kernel> ref_matmul(const Call& call) {
  return std::make_unique<Matmul>(call);
}

constexpr KernelRow kProductKernels[] = {{"matmul", ref_matmul}};

}  // namespace

std::span<const KernelRow> product_kernels() { return kProductKernels; }

}  // namespace gt::exec::ref
