// Remembers, approximately and in bounded memory, which hashes came before: a
// table of 16-bit fingerprints. A text that never comes again costs two bytes
// until newer ones push it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gt {

class Seen {
 public:
  // Without `is_kept` no memory is taken, and before() must not be called.
  explicit Seen(bool is_kept = true) : sets_(is_kept ? kSets : 0) {}

  // Whether the hash came before; remembers it if not. A hash is forgotten when
  // four others came to its set since. A set has room for four so that lines of
  // one loop which share a set do not push each other out in every round. Two
  // hashes with equal fingerprints in one set are taken for one.
  bool before(uint64_t hash) {
    uint64_t& set = sets_[hash & (kSets - 1)];
    const uint64_t mine = (hash >> 32 & 0xffff) | 1;
    for (uint64_t rest = set; rest != 0; rest >>= 16) {
      if ((rest & 0xffff) == mine) return true;
    }
    set = set << 16 | mine;
    return false;
  }

 private:
  static constexpr size_t kSets = size_t{1} << 14;
  // Four fingerprints in each, the newest in the lowest bits.
  std::vector<uint64_t> sets_;
};

}  // namespace gt
