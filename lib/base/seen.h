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
  explicit Seen(bool is_kept = true) : prints_(is_kept ? kSize : 0) {}

  // Whether the hash came before, unless another took its place since.
  bool before(uint64_t hash) {
    uint16_t& print = prints_[hash & (kSize - 1)];
    const auto mine = static_cast<uint16_t>((hash >> 32) | 1);
    const bool seen = print == mine;
    print = mine;
    return seen;
  }

 private:
  static constexpr size_t kSize = size_t{1} << 16;
  std::vector<uint16_t> prints_;
};

}  // namespace gt
