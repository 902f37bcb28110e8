// Memory that kernels like: aligned to a cache line, huge pages for big blocks.
#pragma once

#include <cstddef>

namespace gt {

// Null when there is none. 0 bytes give a valid address too.
void* allocate_aligned(size_t bytes);
void release_aligned(void* data);

}  // namespace gt
