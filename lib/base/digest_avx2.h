// The part of Digest (digest.h) that is compiled for processors with AVX2.
#pragma once

#include <cstddef>

namespace gt {

// Does what XXH3_64bits_update() does; `state` points to an XXH3_state_t. Must
// be called only on a processor that has AVX2.
void add_with_avx2(void* state, const char* bytes, size_t size);

}  // namespace gt
