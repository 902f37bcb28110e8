// XXH3 compiled for processors with AVX2 (cmake/Layer.cmake), which makes it
// three times as fast. The headers included here have no function that other
// files share.
#include "base/digest_avx2.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gt {

void add_with_avx2(void* state, const char* bytes, size_t size) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), bytes, size);
}

}  // namespace gt
