// Of Digest (digest.h) alone: what is compiled for processors with AVX2.
#pragma once

#include <cstddef>

namespace gt {

// XXH3_64bits_update() of that XXH3_state_t. Only where there is AVX2.
void add_with_avx2(void* state, const char* bytes, size_t size);

}  // namespace gt
