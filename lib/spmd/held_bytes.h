// Counts how many bytes each rank holds, now and at most, for estimates of
// memory. While a line runs, a value that it replaces still exists beside the
// new one, so a caller must first add what the line makes and then drop what it
// replaces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gt {

class HeldBytes {
 public:
  struct Level {
    uint64_t now = 0;
    uint64_t most = 0;
    bool is_used = false;  // the rank held a value, even one of no bytes
  };

  void add(int64_t rank, uint64_t bytes) {
    Level& level = at(rank);
    level.is_used = true;
    level.now += bytes;
    level.most = std::max(level.most, level.now);
    most_ = std::max(most_, level.most);
  }
  void drop(int64_t rank, uint64_t bytes) { at(rank).now -= bytes; }

  const std::vector<Level>& ranks() const { return ranks_; }
  uint64_t most() const { return most_; }  // over all ranks

 private:
  Level& at(int64_t rank) {
    const auto i = static_cast<size_t>(rank);
    if (i >= ranks_.size()) ranks_.resize(i + 1);
    return ranks_[i];
  }

  std::vector<Level> ranks_;
  uint64_t most_ = 0;
};

}  // namespace gt
