// The inner loops, compiled once for each instruction set from the same text
// (loops_base.cc, loops_avx2.cc, loops_avx512.cc). All of them work on padded
// packs of fixed width, so an element's bits do not depend on where it stands
// or on how many there are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gt::cpu {

// Applies an op to n elements. Operand k is one value for all if repeat[k].
// Returns what is wrong with the data, or null.
using Loop = const char* (*)(const void* const* in, const bool* repeat,
                             void* out, int64_t n);

// n elements from one dtype to another.
using Convert = void (*)(const void* from, void* to, int64_t n);

struct PointwiseRow {
  const char* op;
  const char* key;  // value of approximate=, or ""
  bool to_bool;     // the result is bool, else the dtype computed in
  bool costly;      // has an exp or the like in it
  Loop f32, f64;
};

// Parts of a reduction. A row is contiguous; columns are `width` apart, and
// `total` gets one value for each of `columns`.
template <typename T>
struct ReduceRow {
  const char* op;
  double (*row)(const T* x, int64_t n);
  void (*columns)(const T* x, int64_t rows, int64_t width, int64_t columns,
                  double* total);
};

// What an optimizer takes besides tensors.
struct AdamwFactors {
  double keep;          // 1 - lr * decay
  double beta1, beta2;  // decay of the moments
  double rate;          // lr / (1 - beta1^t)
  double root;          // sqrt(1 - beta2^t)
  double eps;
};

// Element [i, j] is data[i * row + j * column].
template <typename T>
struct GemmOperand {
  const T* data;
  int64_t row, column;
};

template <typename T>
struct FloatLoops {
  const ReduceRow<T>* reductions;
  size_t reduction_count;
  // Rows of n along the last axis.
  void (*softmax)(const T* x, T* y, int64_t n);
  void (*log_softmax)(const T* x, T* y, int64_t n);
  void (*softmax_grad)(const T* g, const T* y, T* z, int64_t n);
  void (*log_softmax_grad)(const T* g, const T* y, T* z, int64_t n);
  // log(sum(exp(x))), in parts: the largest x and the sum of exp(x - largest).
  void (*exp_sum)(const T* x, int64_t n, T* largest, double* sum);
  // z = softmax(x) * scale, given exp_sum's parts.
  void (*softmax_scaled)(const T* x, T* z, int64_t n, T largest, double sum,
                         T scale);
  double (*square_distance)(const T* x, const T* y, int64_t n);
  // w - lr * g; with v: v = momentum * v + g, w - lr * v.
  void (*sgd)(const T* w, const T* g, const T* v, T* w_out, T* v_out, int64_t n,
              T lr, T momentum);
  void (*adamw)(const T* const* wgmv, T* const* wmv_out, int64_t n,
                const AdamwFactors& factors);
  void (*add_to)(T* y, const T* x, int64_t n);  // y += x
  // c[m,n] = a[m,k] b[k,n] (+ bias[n] unless it is null).
  void (*gemm)(const GemmOperand<T>& a, const GemmOperand<T>& b, const T* bias,
               T* c, int64_t m, int64_t n, int64_t k);
};

struct Loops {
  const char* isa;
  const PointwiseRow* pointwise;
  size_t pointwise_count;
  FloatLoops<float> f32;
  FloatLoops<double> f64;
  Convert f16_to_f32, f32_to_f16, bf16_to_f32, f32_to_bf16;
  // Random words, and normals, of elements 2 * first_block and on; n is even.
  void (*words)(uint64_t seed, uint64_t first_block, uint64_t* y, int64_t n);
  void (*normals)(uint64_t seed, uint64_t first_block, double* y, int64_t n);
};

const Loops& base_loops();
const Loops& avx2_loops();
const Loops& avx512_loops();

}  // namespace gt::cpu
