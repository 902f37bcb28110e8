// Allocates memory suited to kernels: aligned to a cache line, with huge pages
// for large blocks.
#pragma once

#include <cstddef>

namespace gt::exec {

// Sizes in bytes. A block of two huge pages or more is aligned to a huge page.
inline constexpr size_t kCacheLine = 64;
inline constexpr size_t kHugePage = size_t{2} << 20;
inline size_t alignment_of(size_t bytes) {
  return bytes >= 2 * kHugePage ? kHugePage : kCacheLine;
}

// Returns heap memory aligned to alignment_of(bytes), also for 0 bytes; null if
// there is none. release_aligned() frees it.
void* allocate_aligned(size_t bytes);
void release_aligned(void* data);

}  // namespace gt::exec
