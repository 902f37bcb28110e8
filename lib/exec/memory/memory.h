// Memory that kernels like: aligned to a cache line, huge pages for big blocks.
#pragma once

#include <cstddef>

namespace gt::exec {

// In bytes. Blocks of two huge pages and more begin at one.
inline constexpr size_t kCacheLine = 64;
inline constexpr size_t kHugePage = size_t{2} << 20;
inline size_t alignment_of(size_t bytes) {
  return bytes >= 2 * kHugePage ? kHugePage : kCacheLine;
}

// Memory of the heap, aligned to alignment_of(bytes). Null when there is none.
// 0 bytes give a valid address, too.
void* allocate_aligned(size_t bytes);
void release_aligned(void* data);

}  // namespace gt::exec
