// One matrix product by oneDNN. The primitive is made once, and memory is given
// at each run. It can be batched, transposed by strides, and have a bias.
#pragma once

#include <cstdint>
#include <memory>

#include "exec/backend/cpu/cpu.h"
#include "exec/backend/view.h"

namespace gt::exec::cpu {

// c[.., m, n] = a[.., m, k] b[.., k, n] (+ bias[n]). The leading dimensions are
// `batch`; an operand has size 1 in those along which it is repeated.
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

// Returns null if oneDNN cannot do the product faster than by its reference
// implementation.
std::unique_ptr<DnnlProduct> make_dnnl_product(const ProductShape& shape,
                                               const Context& context);

}  // namespace gt::exec::cpu
