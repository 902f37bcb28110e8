// The inner loops, compiled once for each instruction set from the same text
// (loops_base.cc, loops_avx2.cc, loops_avx512.cc). All of them work on padded
// packs of fixed width, so the bits of an element depend neither on its
// position nor on the number of elements.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gt::exec::cpu {

// Applies an op to n elements. If repeat[k], operand k is one value for all
// elements. Returns a message that says what is wrong with the data, or null.
using Loop = const char* (*)(const void* const* in, const bool* repeat,
                             void* out, int64_t n);

// How expensive a point-wise formula is (formulas.def).
enum class Cost : uint8_t { cheap, costly, dividing, powering };

// Converts n elements from one dtype to another.
using Convert = void (*)(const void* from, void* to, int64_t n);

struct PointwiseRow {
  const char* op;
  const char* key;  // the value of approximate=, or ""
  // The result is bool; else it has the dtype that is computed in.
  bool to_bool;
  // The formula contains an exp or the like.
  bool costly;
  Loop f32, f64;
};

// What elements of type T are reduced to: integers to one that wraps.
template <typename T>
using Reduced = std::conditional_t<std::is_integral_v<T>, int64_t, double>;

// The loops of a reduction. `row` reduces a contiguous row of n elements to one
// value. `columns` reduces `rows` rows, which are `width` elements apart, to
// one value for each of the first `columns` columns. `join` joins the values of
// two parts.
template <typename T>
struct ReduceRow {
  const char* op;
  Reduced<T> (*row)(const T* x, int64_t n);
  void (*columns)(const T* x, int64_t rows, int64_t width, int64_t columns,
                  Reduced<T>* total);
  Reduced<T> (*join)(Reduced<T> a, Reduced<T> b);
};

// From here on, a sum of squares of T has lost no digits to underflow.
template <typename T>
constexpr double kLeastSquare = sizeof(T) == 8 ? 0x1p-970 : 0x1p-103;

// fraction * 2^exponent, with a fraction near 1, or 0, inf or nan. A product
// of many numbers is held so, as it may leave the range of T and come back.
struct Scaled {
  double fraction = 1;
  int64_t exponent = 0;
};
// Returns the product; the fractions of a and b need not be near 1.
Scaled times(const Scaled& a, const Scaled& b);
// Returns the number that x stands for, which may be 0 or inf.
double value_of(const Scaled& x);

// The numbers of an AdamW step, in which t counts steps from 1.
struct AdamwFactors {
  double keep;          // 1 - lr * decay
  double beta1, beta2;  // decay of the moments
  double rate;          // lr / (1 - beta1^t)
  double root;          // sqrt(1 - beta2^t)
  double eps;
};

// A matrix operand: element [i, j] is data[i * row + j * column].
template <typename T>
struct GemmOperand {
  const T* data;
  int64_t row, column;
};

// The number of queries of one head, and of keys, that are computed together.
inline constexpr int64_t kAttentionQueries = 64;
inline constexpr int64_t kAttentionKeys = 64;

// Up to kAttentionQueries queries of one head, and all of its keys. The rows of
// tensor x are x_row elements apart.
template <typename T>
struct AttentionBlock {
  const T *q, *k, *v;
  int64_t q_row, k_row, v_row;
  int64_t queries, keys;
  // The sizes of a row of q and k, and of a row of v and o.
  int64_t depth, width;
  bool causal;  // if true, query i sees only the keys up to first + i
  int64_t first;
  T scale;
  // mask[i * mask_row + j * mask_column] is added to the score of query i and
  // key j; a query whose scores are all -inf then gives 0. May be null.
  const T* mask;
  int64_t mask_row, mask_column;
  T* o;
  int64_t o_row;
  T* lse;      // may be null
  T* scratch;  // attention_scratch() elements, aligned to 64 bytes
};

// The gradients of an AttentionBlock, for its keys [begin, end): gq is that of
// q, and so on; go and glse are those of o and lse. A result whose pointer is
// null is not computed. gk and gv begin with the row of key `begin` and are
// added to; their rows are whole packs wide.
template <typename T>
struct AttentionGradBlock {
  AttentionBlock<T> forward;  // o and lse are read
  const T* go;
  int64_t go_row;
  const T* glse;  // may be null
  T *gq, *gk, *gv;
  int64_t gq_row, gk_row, gv_row;
  int64_t begin, end;
};

// One axis of an image over which windows of a pool slide; ops/windows.h has
// the words.
struct PoolAxis {
  int64_t in, out, kernel, stride, padding, dilation;
};

// The place of an element in a channel of an image, as wide as a T.
template <typename T>
using PoolPlace = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

// One channel of an image. Its windows are handled a row of them at a time,
// from the first row to the last, so that what is made of their places finds
// the image's rows in the nearest cache. places has, for each window of the
// row, the place of its largest element: of equal ones the first, and nan
// before all others; -1 if only the margin, which is -inf, is as large. It is
// pool_row() elements long, so that whole packs fit.
template <typename T>
struct PoolPlane {
  PoolAxis height, width;
  const T* x;
  int64_t kept;         // pool_kept()
  PoolPlace<T>* ranks;  // scratch: as many rows of pool_kept_row() elements
  PoolPlace<T>* places;
  int64_t reached = 0;  // the rows of the image that windows have reached
};

// The most windows that are handled together. The functions are static, since
// each instruction set compiles its own.
inline constexpr int64_t kPoolWindows = 32;
static constexpr int64_t pool_row(const PoolAxis& width) {
  return (width.out + kPoolWindows - 1) / kPoolWindows * kPoolWindows;
}
// Ranks are kept of as many rows as windows need at a time, a power of two.
// They have a margin on either side, over which windows that are one or two
// elements apart may reach without a question.
inline constexpr int64_t kPoolMargin = 2 * kPoolWindows;
static constexpr int64_t pool_reach(const PoolAxis& axis) {
  return axis.dilation * (axis.kernel - 1) + 1;
}
static constexpr int64_t pool_kept(const PoolAxis& height) {
  int64_t rows = 1;
  while (rows < pool_reach(height) && rows < height.in) rows *= 2;
  return rows;
}
static constexpr int64_t pool_kept_row(const PoolAxis& width) {
  return width.in + 2 * kPoolMargin;
}

// A sum of exponentials: one of the largest, which are 1, if there is one, and
// the rest, whose digits would be lost beside it.
struct ExpSum {
  double one = 0, rest = 0;

  double all() const { return one + rest; }
  // The sum without a 1, and its logarithm.
  double others() const { return rest + (one - 1); }
  double log() const { return std::log1p(others()); }
};
// A sum that is not below this loses nothing in the rest if 1 is subtracted.
inline constexpr double kFarAboveOne = 1.5;

template <typename T>
struct FloatLoops {
  const ReduceRow<T>* reductions;
  // These work on one row of n elements along the last axis.
  void (*softmax)(const T* x, T* y, int64_t n);
  void (*log_softmax)(const T* x, T* y, int64_t n);
  void (*softmax_grad)(const T* g, const T* y, T* z, int64_t n);
  void (*log_softmax_grad)(const T* g, const T* y, T* z, int64_t n);
  // Computes what log(sum(exp(x))) is made of: the largest x, and the sum of
  // exp(x - largest).
  ExpSum (*exp_sum)(const T* x, int64_t n, T* largest);
  // Sums exp(x), where no x is above 0, over a row or down columns.
  ExpSum (*exp_below_sum)(const T* x, int64_t n);
  void (*exp_columns)(const T* x, int64_t rows, int64_t width, int64_t columns,
                      double* total);
  // Computes z = softmax(x) * scale, given the parts from exp_sum.
  void (*softmax_scaled)(const T* x, T* z, int64_t n, T largest, double sum,
                         T scale);
  double (*square_sum)(const T* x, int64_t n);
  // These sum the losses of n elements; mse has no delta.
  double (*mse)(const T* x, const T* y, int64_t n, T delta);
  double (*huber)(const T* x, const T* y, int64_t n, T delta);
  // Sums x - shift and its square over a row.
  void (*moments)(const T* x, int64_t n, T shift, double* sum, double* square);
  // Computes (x - shift - rest) * factor * g of a row.
  void (*spread)(const T* x, T* z, int64_t n, T shift, T rest, T factor, T g);
  // The same of each of the first `columns` columns of `rows` rows, which are
  // `width` elements apart.
  void (*column_moments)(const T* x, int64_t rows, int64_t width,
                         int64_t columns, const T* shift, double* sum,
                         double* square);
  void (*column_spread)(const T* x, T* z, int64_t rows, int64_t width,
                        int64_t columns, const T* shift, const T* rest,
                        const T* factor, const T* g);
  // The product of a row of n elements.
  Scaled (*product)(const T* x, int64_t n);
  // Computes a row of z = prod_grad g x, for the g of this row.
  void (*prod_grad)(T g, const T* x, T* z, int64_t n);
  // Computes w - lr * g or, if v is given, v = momentum * v + g and w - lr * v.
  void (*sgd)(const T* w, const T* g, const T* v, T* w_out, T* v_out, int64_t n,
              T lr, T momentum);
  void (*adamw)(const T* const* wgmv, T* const* wmv_out, int64_t n,
                const AdamwFactors& factors);
  void (*scale)(const T* x, T* y, int64_t n, T factor);
  void (*add_to)(T* y, const T* x, int64_t n);  // y += x
  // These normalise a row of n elements; w and b may be null. In the gradients,
  // gw and gb may be null, and are added to.
  void (*layer_norm)(const T* x, const T* w, const T* b, T* y, int64_t n,
                     double eps);
  void (*rms_norm)(const T* x, const T* w, const T* b, T* y, int64_t n,
                   double eps);
  void (*layer_norm_grad)(const T* g, const T* x, const T* w, T* gx, T* gw,
                          T* gb, int64_t n, double eps);
  void (*rms_norm_grad)(const T* g, const T* x, const T* w, T* gx, T* gw, T* gb,
                        int64_t n, double eps);
  // These rotate a row of heads by the angle of each pair.
  void (*rope)(const T* x, T* y, const T* cosine, const T* sine, int64_t heads,
               int64_t pairs);
  void (*rope_interleaved)(const T* x, T* y, const T* cosine, const T* sine,
                           int64_t heads, int64_t pairs);
  // Computes x / keep, or 0 where bit first + i of element i is not set.
  void (*drop)(const T* x, T* y, int64_t n, const uint64_t* bits, int64_t first,
               T keep);
  // Finds the places of row p of the windows, and updates `reached`.
  void (*pool_largest)(PoolPlane<T>& plane, int64_t p);
  void (*attention)(const AttentionBlock<T>& block);
  void (*attention_grad)(const AttentionGradBlock<T>& block);
  // Computes c[m,n] = a[m,k] b[k,n] (+ bias[n] unless it is null).
  void (*gemm)(const GemmOperand<T>& a, const GemmOperand<T>& b, const T* bias,
               T* c, int64_t m, int64_t n, int64_t k);
};

template <typename T>
struct WholeLoops {
  const ReduceRow<T>* reductions;
  // Computes c[m,n] = a[m,k] b[k,n] (+ bias[n] unless it is null), which wraps;
  // the rows of b are contiguous.
  void (*product)(const GemmOperand<T>& a, const T* b, const T* bias, T* c,
                  int64_t m, int64_t n, int64_t k);
};

// These return the number of elements of scratch memory that an AttentionBlock
// or an AttentionGradBlock needs.
constexpr int64_t attention_scratch(int64_t depth, int64_t width) {
  return (depth + width + kAttentionKeys) * kAttentionQueries;
}
constexpr int64_t attention_grad_scratch(int64_t depth, int64_t width) {
  // The most lanes by which a row is extended to whole packs.
  constexpr int64_t kMost = 15;
  return (3 * depth + 2 * width + 2 * kMost + 2 * kAttentionKeys) *
         kAttentionQueries;
}

// All loops of one instruction set; `isa` is its name.
struct Loops {
  const char* isa;
  const PointwiseRow* pointwise;
  size_t pointwise_count;
  FloatLoops<float> f32;
  FloatLoops<double> f64;
  WholeLoops<int64_t> i64;
  WholeLoops<int32_t> i32;
  WholeLoops<uint8_t> u8;
  // The conversion from one dtype to another stands at from * kDtypes + to;
  // null where the two are the same.
  const Convert* conversions;
  // True if f64 does not hold some of the n integers, or holds its neighbours
  // too coarsely to tell.
  bool (*any_beyond_f64)(const int64_t* x, int64_t n);
  // Writes what rand gives in f32 to the elements from `first` on.
  void (*uniforms)(uint64_t seed, uint64_t first, float* y, int64_t n);
  // These write random words, and normal values, for the elements from 2 *
  // first_block on; n must be even.
  void (*words)(uint64_t seed, uint64_t first_block, uint64_t* y, int64_t n);
  // Writes a bit for each of these elements, in whole words: whether the 24
  // bits of its uniform number reach `least`.
  void (*reaching)(uint64_t seed, uint64_t first_block, int32_t least,
                   uint64_t* bits, int64_t n);
  void (*normals)(uint64_t seed, uint64_t first_block, double* y, int64_t n);
};

const Loops& base_loops();
const Loops& avx2_loops();
const Loops& avx512_loops();

}  // namespace gt::exec::cpu
