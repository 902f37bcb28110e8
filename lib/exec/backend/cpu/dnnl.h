// What all uses of oneDNN in the cpu backend share.
#pragma once

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

#include "exec/memory/memory.h"

namespace gt::exec::cpu {

const dnnl::engine& cpu_engine();

// Sets the number of threads that oneDNN uses when this thread calls it.
void set_threads(int threads);

// True if oneDNN chose its reference implementation, which takes all types but
// is slow; gt's own kernels are used instead. `impl_info` is oneDNN's
// impl_info_str().
bool is_dnnl_reference(const char* impl_info);

struct ReleaseAligned {
  void operator()(void* data) const { release_aligned(data); }
};
// Scratch memory of a primitive, aligned to 64 bytes.
using Scratch = std::unique_ptr<void, ReleaseAligned>;

}  // namespace gt::exec::cpu
