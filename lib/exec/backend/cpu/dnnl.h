// What all uses of oneDNN share.
#pragma once

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

#include "exec/memory/memory.h"

namespace gt::exec::cpu {

const dnnl::engine& cpu_engine();

// Sets how many threads oneDNN uses when this thread calls it.
void set_threads(int threads);

// Whether oneDNN chose its reference implementation, which takes all types but
// is slow: gt's own kernels are used instead. `impl_info` is its
// impl_info_str().
bool is_dnnl_reference(const char* impl_info);

struct ReleaseAligned {
  void operator()(void* data) const { release_aligned(data); }
};
// Memory that a primitive works in; aligned to 64 bytes.
using Scratch = std::unique_ptr<void, ReleaseAligned>;

}  // namespace gt::exec::cpu
