// A growing array whose elements never move.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace gt {

template <typename T>
class Slab {
 public:
  size_t size() const { return size_; }
  T& operator[](size_t i) { return blocks_[i / kBlock][i % kBlock]; }
  const T& operator[](size_t i) const {
    return blocks_[i / kBlock][i % kBlock];
  }
  // Appends a default element.
  void grow() {
    if (size_ % kBlock == 0) blocks_.push_back(std::make_unique<T[]>(kBlock));
    ++size_;
  }

 private:
  static constexpr size_t kBlock = 1024;
  std::vector<std::unique_ptr<T[]>> blocks_;
  size_t size_ = 0;
};

}  // namespace gt
