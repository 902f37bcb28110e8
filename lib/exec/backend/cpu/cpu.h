// The cpu backend: vectorised loops and oneDNN. What it has no kernel for runs
// by the reference kernel, or by the op's expansion.
#pragma once

#include <memory>
#include <span>

#include "exec/backend/backend.h"
#include "exec/backend/cpu/loops.h"

namespace gt::exec {

// Errors: an isa that is unknown or that this machine lacks.
Result<std::unique_ptr<Backend>> make_cpu_backend(
    const BackendOptions& options);

namespace cpu {

// The threads and loops that a backend's kernels use; outlives them.
struct Context {
  int threads = 1;
  const Loops* loops = nullptr;
};

// A row of a file's table: an op and what makes its kernel for a call, which is
// null where this call is better, or only, done by the reference kernel or by
// the op's expansion. Each of the functions below gives the table of the file
// of that name.
struct KernelRow {
  const char* op;
  std::unique_ptr<Kernel> (*make)(const Call& call, const Context& context);
};
std::span<const KernelRow> pointwise_kernels();
std::span<const KernelRow> reduction_kernels();
std::span<const KernelRow> network_kernels();
std::span<const KernelRow> attention_kernels();
std::span<const KernelRow> norm_kernels();
std::span<const KernelRow> position_kernels();
std::span<const KernelRow> clip_kernels();
std::span<const KernelRow> index_kernels();
std::span<const KernelRow> order_kernels();
std::span<const KernelRow> optimizer_kernels();
std::span<const KernelRow> product_kernels();
std::span<const KernelRow> convolution_kernels();
std::span<const KernelRow> pool_kernels();
std::span<const KernelRow> layout_kernels();
std::span<const KernelRow> creation_kernels();

template <typename K>
std::unique_ptr<Kernel> make(const Call& call, const Context& context) {
  return std::make_unique<K>(call, context);
}

// The loops for T of a context.
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

// The dtype of T, float or double, which a kernel over T computes in.
template <typename T>
constexpr Dtype dtype_of() {
  return sizeof(T) == sizeof(double) ? Dtype::kF64 : Dtype::kF32;
}

}  // namespace cpu
}  // namespace gt::exec
