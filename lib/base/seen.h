// Remembers, approximately and in bounded memory, which hashes came before: a
// table of 21-bit fingerprints. A text that never comes again costs three bytes
// until newer ones push it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gt {

class Seen {
 public:
  // If `is_kept` is false, no memory is taken, and before() must not be called.
  explicit Seen(bool is_kept = true) : sets_(is_kept ? kSets : 0) {}

  // Returns true if the hash came before; remembers it if not. A hash is
  // forgotten when three others came to its set since. A set has room for three
  // so that lines of one loop which share a set do not push each other out in
  // every round. Hashes with equal fingerprints in one set are taken for one,
  // so that the answer is wrong for one in 350,000 of the hashes that never
  // came.
  bool before(uint64_t hash) {
    uint64_t& set = sets_[hash & (kSets - 1)];
    const uint64_t mine = (hash >> 32 & kMask) | 1;
    for (uint64_t rest = set; rest != 0; rest >>= kBits) {
      if ((rest & kMask) == mine) return true;
    }
    set = (set << kBits | mine) & kThree;
    return false;
  }

 private:
  static constexpr size_t kSets = size_t{1} << 14;
  static constexpr unsigned kBits = 21;
  static constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  static constexpr uint64_t kThree = (uint64_t{1} << 3 * kBits) - 1;
  // The sets, each of three fingerprints, the newest in the lowest bits.
  std::vector<uint64_t> sets_;
};

}  // namespace gt
