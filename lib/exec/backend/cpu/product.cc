// matmul and linear. oneDNN computes f32 and bf16, and accumulates in f32. gt's
// own loops compute f64 and products that are too small to be worth oneDNN's
// start; f16 (and bf16 if the machine has no instructions for it) is computed
// in f32; integers wrap.
#include <array>
#include <string>
#include <vector>

#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/copy.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/dnnl_product.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/element.h"
#include "exec/backend/view.h"

namespace gt::exec::cpu {
namespace {

// With fewer products of elements than this, oneDNN's start costs more than it
// saves. Measured on Zen 5, gt's loops and oneDNN's, in GFLOP/s: 32^3 213 and
// 128, 48^3 224 and 202, 64^3 222 and 232.
constexpr int64_t kOwnBelow = int64_t{1} << 17;

// Describes the call as a product of matrices. The leading dimensions of a
// linear's x are folded into the rows of one matrix, as are those of a batch
// that is multiplied by a single b.
ProductShape shape_of(const Call& call) {
  const Shape& a = call.type(0).shape;
  const Shape& b = call.type(1).shape;
  const Shape& c = call.results[0].shape;
  ProductShape s;
  s.dtype = promote(call.arguments);
  s.to = call.results[0].dtype;
  s.ta = call.flag("ta");
  s.tb = call.flag("tb");
  s.bias = call.arguments.size() > 2 && call.given(2);
  s.n = c.back();
  s.k = b[b.size() - (s.tb ? 1 : 2)];
  if (b.size() == 2 && !s.ta) {
    s.m = 1;
    for (size_t d = 0; d + 1 < c.size(); ++d) s.m *= c[d];
    return s;
  }
  s.m = c[c.size() - 2];
  const size_t lead = c.size() - 2;
  for (size_t d = 0; d < lead; ++d) {
    s.batch.push_back(c[d]);
    const auto size = [d, lead](const Shape& x) {
      const size_t own = x.size() - 2;
      return d + own < lead ? 1 : x[d + own - lead];
    };
    s.a_batch.push_back(size(a));
    s.b_batch.push_back(size(b));
  }
  return s;
}

// Returns the steps, in elements, from matrix to matrix over the batch.
Strides batch_steps(const Shape& own, const Shape& batch, int64_t matrix) {
  Strides steps = broadcast_strides(own, batch);
  for (int64_t& step : steps) step *= matrix;
  return steps;
}

// Computes products with gt's own loops, in T.
template <typename T>
class OwnProduct {
 public:
  OwnProduct(const ProductShape& shape, const Context& context)
      : s_(shape),
        gemm_(loops_for<T>(context).gemm),
        threads_(context.threads) {
    const int64_t matrix = s_.k * s_.n;
    steps_ = {batch_steps(s_.a_batch, s_.batch, s_.m * s_.k),
              batch_steps(s_.b_batch, s_.batch, matrix)};
  }

  void run(const T* a, const T* b, const T* bias, T* c) {
    Walk<2> walk(s_.batch, steps_);
    const int64_t batches = s_.batch.elements();
    for (int64_t i = 0; i < batches; ++i, walk.next()) {
      one(a + walk[0], b + walk[1], bias, c + i * s_.m * s_.n);
    }
  }

 private:
  void one(const T* a, const T* b, const T* bias, T* c) {
    const int64_t row = s_.ta ? 1 : s_.k;
    const int64_t column = s_.ta ? s_.m : 1;
    const GemmOperand<T> right{b, s_.tb ? 1 : s_.n, s_.tb ? s_.k : 1};
    const int64_t cost = std::max<int64_t>(1, s_.n * s_.k / 4);
    in_parallel(threads_, s_.m, std::max<int64_t>(8, kWorthAThread / cost),
                [&](int64_t begin, int64_t end) {
                  gemm_({a + begin * row, row, column}, right, bias,
                        c + begin * s_.n, end - begin, s_.n, s_.k);
                });
  }

  ProductShape s_;
  decltype(FloatLoops<T>::gemm) gemm_;
  int threads_;
  std::array<Strides, 2> steps_;
};

class FloatProduct final : public Kernel {
 public:
  FloatProduct(const Call& call, const Context& context)
      : shape_(shape_of(call)), to_(call.results[0]) {
    const bool tiny = shape_.m * shape_.n * shape_.k < kOwnBelow ||
                      to_.elements() == 0 || shape_.k == 0;
    if (to_.dtype == Dtype::kF64) {
      compute_ = Dtype::kF64;
      f64_ = std::make_unique<OwnProduct<double>>(shape_, context);
    } else if (shape_.dtype == Dtype::kBf16 && !tiny) {
      dnnl_ = make_dnnl_product(shape_, context);
      if (dnnl_ != nullptr) compute_ = Dtype::kBf16;
    }
    if (compute_ == Dtype::kF32) {
      shape_.dtype = shape_.to = Dtype::kF32;
      if (!tiny) dnnl_ = make_dnnl_product(shape_, context);
      if (dnnl_ == nullptr) {
        f32_ = std::make_unique<OwnProduct<float>>(shape_, context);
      }
    }
    for (const Argument& a : call.arguments) {
      if (!a.absent) operands_.emplace_back(a.type, compute_, *context.loops);
    }
    result_ = std::make_unique<Returned>(to_, shape_.to, *context.loops);
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const void* x[3] = {nullptr, nullptr, nullptr};
    for (size_t k = 0; k < operands_.size(); ++k)
      x[k] = operands_[k].get(in[k]);
    void* y = result_->place(out[0]);
    if (dnnl_ != nullptr) {
      dnnl_->run(x[0], x[1], x[2], y);
    } else if (f32_ != nullptr) {
      run_own(*f32_, x, y);
    } else {
      run_own(*f64_, x, y);
    }
    result_->store(out[0]);
    return ok_status();
  }

 private:
  template <typename T>
  static void run_own(OwnProduct<T>& product, const void* const* x, void* y) {
    product.run(static_cast<const T*>(x[0]), static_cast<const T*>(x[1]),
                static_cast<const T*>(x[2]), static_cast<T*>(y));
  }

  ProductShape shape_;
  Type to_;
  Dtype compute_ = Dtype::kF32;
  std::unique_ptr<DnnlProduct> dnnl_;
  std::unique_ptr<OwnProduct<float>> f32_;
  std::unique_ptr<OwnProduct<double>> f64_;
  std::vector<Converted> operands_;
  std::unique_ptr<Returned> result_;
};

// Computes in wrapping arithmetic.
template <typename T>
class IntegerProduct final : public Kernel {
 public:
  IntegerProduct(const Call& call, const Context& context)
      : s_(shape_of(call)),
        steps_{batch_steps(s_.a_batch, s_.batch, s_.m * s_.k),
               batch_steps(s_.b_batch, s_.batch, s_.k * s_.n)},
        loop_(whole_loops_for<T>(context).product),
        threads_(context.threads) {
    if (!s_.tb) return;
    View upright;
    upright.shape = {s_.k, s_.n};
    upright.strides = {1, s_.k};
    turn_ = StridedCopy(upright, sizeof(T), context.threads);
    upright_.resize(static_cast<size_t>(s_.k * s_.n));
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    Walk<2> walk(s_.batch, steps_);
    auto* c = static_cast<T*>(out[0]);
    const int64_t batches = s_.batch.elements();
    for (int64_t i = 0; i < batches; ++i, walk.next()) {
      one(static_cast<const T*>(in[0]) + walk[0],
          static_cast<const T*>(in[1]) + walk[1],
          static_cast<const T*>(s_.bias ? in[2] : nullptr),
          c + i * s_.m * s_.n);
    }
    return ok_status();
  }

 private:
  void one(const T* a, const T* b, const T* bias, T* c) {
    const int64_t row = s_.ta ? 1 : s_.k;
    const int64_t column = s_.ta ? s_.m : 1;
    if (s_.tb) {
      turn_.run(b, upright_.data());
      b = upright_.data();
    }
    const int64_t cost = std::max<int64_t>(1, s_.n * s_.k);
    in_parallel(threads_, s_.m, std::max<int64_t>(1, kWorthAThread / cost),
                [&](int64_t begin, int64_t end) {
                  loop_({a + begin * row, row, column}, b, bias,
                        c + begin * s_.n, end - begin, s_.n, s_.k);
                });
  }

  ProductShape s_;
  std::array<Strides, 2> steps_;
  decltype(WholeLoops<T>::product) loop_;
  int threads_;
  StridedCopy turn_;  // makes [k,n] of b[n,k]
  std::vector<T> upright_;
};

std::unique_ptr<Kernel> cpu_product(const Call& call, const Context& context) {
  const Dtype dtype = call.results[0].dtype;
  if (is_float(dtype)) return make<FloatProduct>(call, context);
  for (const Argument& a : call.arguments) {
    if (!a.absent && a.type.dtype != dtype) return nullptr;
  }
  switch (dtype) {
    case Dtype::kI64:
      return make<IntegerProduct<int64_t>>(call, context);
    case Dtype::kI32:
      return make<IntegerProduct<int32_t>>(call, context);
    case Dtype::kU8:
      return make<IntegerProduct<uint8_t>>(call, context);
    default:
      return nullptr;
  }
}

constexpr KernelRow kProductKernels[] = {
    {"matmul", cpu_product},
    {"linear", cpu_product},
};

}  // namespace

std::span<const KernelRow> product_kernels() { return kProductKernels; }

}  // namespace gt::exec::cpu
