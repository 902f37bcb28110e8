// The digest of bytes that come in pieces is the hash of all of them, by
// whatever instructions this processor computes it.
#include <gtest/gtest.h>

#include <string>

#include "base/digest.h"
#include "base/hash.h"

namespace gt {
namespace {

TEST(Digest, IsTheHashOfAllThatCame) {
  std::string bytes;
  for (size_t i = 0; i < (size_t{1} << 20) + 77; ++i) {
    bytes += static_cast<char>(i * i >> 3);
  }
  for (const size_t size : {size_t{0}, size_t{1}, size_t{240}, size_t{241},
                            size_t{1024}, size_t{65'537}, bytes.size()}) {
    const std::string_view all = std::string_view(bytes).substr(0, size);
    EXPECT_EQ(Digest::of(all), hash_bytes(all)) << size;
    for (const size_t piece : {size_t{63}, size_t{4096}, size_t{100'000}}) {
      Digest digest;
      for (size_t at = 0; at < size; at += piece) {
        digest.add(all.substr(at, piece));
      }
      EXPECT_EQ(digest.value(), hash_bytes(all)) << size << ' ' << piece;
      EXPECT_EQ(digest.bytes(), size);
    }
  }
}

}  // namespace
}  // namespace gt
