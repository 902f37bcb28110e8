// What all uses of oneDNN share.
#pragma once

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

#include "exec/memory/memory.h"

namespace gt::exec::cpu {

const dnnl::engine& cpu_engine();

// oneDNN takes its number of threads from the thread that calls it.
void set_threads(int threads);

// oneDNN's own reference has all types and no speed.
bool is_dnnl_reference(const char* impl_info);

struct ReleaseAligned {
  void operator()(void* data) const { release_aligned(data); }
};
// Memory that a primitive works in; aligned to 64 bytes.
using Scratch = std::unique_ptr<void, ReleaseAligned>;

}  // namespace gt::exec::cpu
