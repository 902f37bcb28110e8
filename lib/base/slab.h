// A growing array whose elements never move. It takes memory in blocks: a small
// first one, then blocks of one huge page (2 MiB) each. Huge pages are used
// where the system has them, since a page fault for every few elements would
// cost more than writing the elements.
#pragma once

#include <sys/mman.h>

#include <bit>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace gt {

template <typename T>
class Slab {
 public:
  Slab() = default;
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  Slab(Slab&& other) noexcept { *this = std::move(other); }
  Slab& operator=(Slab&& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(blocks_, other.blocks_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Slab() {
    for (T* block : blocks_) {
      std::destroy_n(block, kBlock);
      std::free(block);
    }
  }

  size_t size() const { return size_; }
  T& operator[](size_t i) {
    return i < kFirst ? first_[i]
                      : blocks_[(i - kFirst) / kBlock][(i - kFirst) % kBlock];
  }
  const T& operator[](size_t i) const { return const_cast<Slab&>(*this)[i]; }

  // Appends an element with its default value. Throws std::bad_alloc.
  void grow() {
    if (size_ == 0) first_ = std::make_unique<T[]>(kFirst);
    if (size_ >= kFirst && (size_ - kFirst) % kBlock == 0) add_block();
    ++size_;
  }

 private:
  static constexpr size_t kHugePage = size_t{2} << 20;
  static constexpr size_t kFirst = 1024;
  static constexpr size_t kBlock = std::bit_floor(kHugePage / sizeof(T));

  void add_block() {
    void* memory = std::aligned_alloc(kHugePage, kHugePage);
    if (memory == nullptr) throw std::bad_alloc();
    ::madvise(memory, kHugePage, MADV_HUGEPAGE);  // only a hint
    T* block = static_cast<T*>(memory);
    std::uninitialized_value_construct_n(block, kBlock);
    blocks_.push_back(block);
  }

  std::unique_ptr<T[]> first_;
  std::vector<T*> blocks_;
  size_t size_ = 0;
};

}  // namespace gt
