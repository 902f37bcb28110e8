#include "exec/memory/memory.h"

#include <sys/mman.h>

#include <cstdlib>

namespace gt::exec {

void* allocate_aligned(size_t bytes) {
  const size_t alignment = alignment_of(bytes);
  const size_t size = (bytes + alignment - 1) / alignment * alignment;
  if (size < bytes) return nullptr;
  void* data = std::aligned_alloc(alignment, size == 0 ? alignment : size);
  // This is only a hint, so its error is ignored: without huge pages the memory
  // is only slower to walk.
  if (alignment == kHugePage && data != nullptr)
    (void)madvise(data, size, MADV_HUGEPAGE);
  return data;
}

void release_aligned(void* data) { std::free(data); }

}  // namespace gt::exec
