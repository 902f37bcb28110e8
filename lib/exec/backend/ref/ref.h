// The reference backend: each primitive as a plain loop. It defines what an op
// means; speed is left to the other backends.
#pragma once

#include <memory>
#include <span>

#include "exec/backend/backend.h"

namespace gt::exec {

std::unique_ptr<Backend> make_ref_backend(const BackendOptions& options);

namespace ref {

// Returns the reference kernel of a call; null if the reference has none, as
// for an op that is no primitive.
std::unique_ptr<Kernel> kernel_of(const Call& call);

// A row of a file's table: an op, and the function that makes its kernel for a
// call. make<K> is such a function. Each of the last ones returns the table of
// the file of that name.
struct KernelRow {
  const char* op;
  std::unique_ptr<Kernel> (*make)(const Call& call);
};
template <typename K>
std::unique_ptr<Kernel> make(const Call& call) {
  return std::make_unique<K>(call);
}
std::span<const KernelRow> pointwise_kernels();
std::span<const KernelRow> reduction_kernels();
std::span<const KernelRow> sort_kernels();
std::span<const KernelRow> product_kernels();
std::span<const KernelRow> layout_kernels();
std::span<const KernelRow> index_kernels();
std::span<const KernelRow> creation_kernels();
std::span<const KernelRow> optimizer_kernels();

}  // namespace ref
}  // namespace gt::exec
