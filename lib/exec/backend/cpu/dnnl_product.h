// One matrix product by oneDNN: a primitive made once, its memory given at each
// run. Batched, transposed by strides, with a bias if there is one.
#pragma once

#include <cstdint>
#include <memory>

#include "exec/backend/cpu/cpu.h"
#include "exec/backend/view.h"

namespace gt::exec::cpu {

// c[.., m, n] = a[.., m, k] b[.., k, n] (+ bias[n]); leading dimensions are
// `batch`, an operand that is repeated along one has size 1 there.
struct ProductShape {
  Dtype dtype = Dtype::kF32;  // of a, b and the bias: f32 or bf16
  Dtype to = Dtype::kF32;     // of c: the same, or f32
  Shape batch;
  Shape a_batch, b_batch;
  int64_t m = 0, n = 0, k = 0;
  bool ta = false, tb = false;
  bool bias = false;
};

class DnnlProduct {
 public:
  virtual ~DnnlProduct() = default;
  virtual void run(const void* a, const void* b, const void* bias, void* c) = 0;
};

// Null when oneDNN has no such product.
std::unique_ptr<DnnlProduct> make_dnnl_product(const ProductShape& shape,
                                               const Context& context);

}  // namespace gt::exec::cpu
