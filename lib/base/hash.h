// A 64-bit hash of bytes (XXH3), the same on every machine. For hash tables and
// for recognising texts, not for authentication: collisions can be made.
#pragma once

#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gt {

inline uint64_t hash_bytes(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// A hash for heterogeneous lookup in unordered containers keyed by std::string.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return hash_bytes(text); }
};

}  // namespace gt
