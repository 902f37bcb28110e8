// The cpu backend: vectorised loops and oneDNN. A call for which it has no
// kernel is run by the reference kernel or by the op's expansion.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "exec/backend/backend.h"
#include "exec/backend/cpu/loops.h"

namespace gt::exec {

// Returns what is wrong with a word that --isa was given, if it names no
// instruction set, whether or not this machine has that; else "".
std::string wrong_isa(std::string_view isa);

// Makes the backend. wrong_isa(options.isa) must be "". Errors: this machine
// lacks that instruction set.
Result<std::unique_ptr<Backend>> make_cpu_backend(
    const BackendOptions& options);

namespace cpu {

// The threads and loops that a backend's kernels use. Loops must outlive the
// kernels.
struct Context {
  int threads = 1;
  const Loops* loops = nullptr;
};

// A row of a file's table: an op, and the function that makes its kernel for a
// call. The function returns null if the reference kernel or the op's expansion
// does this call better, or is the only one that can. Each of the functions
// below returns the table of the file of that name.
struct KernelRow {
  const char* op;
  std::unique_ptr<Kernel> (*make)(const Call& call, const Context& context);
};
std::span<const KernelRow> pointwise_kernels();
std::span<const KernelRow> reduction_kernels();
std::span<const KernelRow> statistic_kernels();
std::span<const KernelRow> exponential_kernels();
std::span<const KernelRow> network_kernels();
std::span<const KernelRow> attention_kernels();
std::span<const KernelRow> norm_kernels();
std::span<const KernelRow> position_kernels();
std::span<const KernelRow> clip_kernels();
std::span<const KernelRow> index_kernels();
std::span<const KernelRow> take_kernels();
std::span<const KernelRow> order_kernels();
std::span<const KernelRow> optimizer_kernels();
std::span<const KernelRow> product_kernels();
std::span<const KernelRow> convolution_kernels();
std::span<const KernelRow> pool_kernels();
std::span<const KernelRow> layout_kernels();
std::span<const KernelRow> creation_kernels();

// Makes a kernel of class K.
template <typename K>
std::unique_ptr<Kernel> make(const Call& call, const Context& context) {
  return std::make_unique<K>(call, context);
}

// Makes a kernel of K<T>, where T is the dtype of result 0: float or double.
// Returns null for any other dtype.
template <template <typename> class K>
std::unique_ptr<Kernel> make_float(const Call& call, const Context& context) {
  const Dtype dtype = call.results[0].dtype;
  if (dtype == Dtype::kF32) return make<K<float>>(call, context);
  if (dtype == Dtype::kF64) return make<K<double>>(call, context);
  return nullptr;
}

// Makes a kernel of K<T>, where T is the dtype in which operand 0 is computed:
// double if it is f64, else float, to which K converts it.
template <template <typename> class K>
std::unique_ptr<Kernel> make_wide(const Call& call, const Context& context) {
  if (call.type(0).dtype == Dtype::kF64) return make<K<double>>(call, context);
  return make<K<float>>(call, context);
}

// Makes a kernel of K<T> that moves elements, where T is an unsigned integer of
// the size of operand 0's elements.
template <template <typename> class K>
std::unique_ptr<Kernel> make_by_size(const Call& call, const Context& context) {
  switch (size_of(call.type(0).dtype)) {
    case 1:
      return make<K<uint8_t>>(call, context);
    case 2:
      return make<K<uint16_t>>(call, context);
    case 4:
      return make<K<uint32_t>>(call, context);
    default:
      return make<K<uint64_t>>(call, context);
  }
}

// Returns a context's loops for T.
template <typename T>
const FloatLoops<T>& loops_for(const Context& context);
template <>
inline const FloatLoops<float>& loops_for(const Context& context) {
  return context.loops->f32;
}
template <>
inline const FloatLoops<double>& loops_for(const Context& context) {
  return context.loops->f64;
}

template <typename T>
const WholeLoops<T>& whole_loops_for(const Context& context);
template <>
inline const WholeLoops<int64_t>& whole_loops_for(const Context& context) {
  return context.loops->i64;
}
template <>
inline const WholeLoops<int32_t>& whole_loops_for(const Context& context) {
  return context.loops->i32;
}
template <>
inline const WholeLoops<uint8_t>& whole_loops_for(const Context& context) {
  return context.loops->u8;
}

// Returns the dtype of T, float or double, which a kernel over T computes in.
template <typename T>
constexpr Dtype dtype_of() {
  return sizeof(T) == sizeof(double) ? Dtype::kF64 : Dtype::kF32;
}

}  // namespace cpu
}  // namespace gt::exec
