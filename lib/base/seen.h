// What was met before, roughly: a table of fingerprints, so that what never
// comes again costs two bytes for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gt {

class Seen {
 public:
  // An empty table answers nothing: for callers that keep nothing.
  explicit Seen(bool is_kept = true) : sets_(is_kept ? kSets : 0) {}

  // Whether the hash came before, unless four others took its place since: two
  // lines of a loop that met in one place would push each other out for ever.
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
  std::vector<uint64_t> sets_;  // four prints in each, the newest lowest
};

}  // namespace gt
