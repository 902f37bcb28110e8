// A vector of trivially copyable elements that allocates nothing while it has
// at most N of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace gt {

template <typename T, uint32_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVector() = default;
  SmallVector(const SmallVector&) = delete;
  SmallVector& operator=(const SmallVector&) = delete;
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~SmallVector() { release(); }

  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return capacity_ > N ? heap_ : inline_; }
  const T* data() const { return capacity_ > N ? heap_ : inline_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  const T& front() const { return data()[0]; }
  const T& back() const { return data()[size_ - 1]; }

  void push_back(const T& value) {
    if (size_ == capacity_) grow(capacity_ * 2);
    data()[size_++] = value;
  }
  // Popping the last element gives memory back, as clear() does.
  void pop_back() {
    --size_;
    if (size_ == 0) clear();
  }
  // Removes all elements and frees what was allocated.
  void clear() {
    release();
    capacity_ = N;
    size_ = 0;
  }
  // Replaces the elements; memory that was allocated is kept.
  void assign(std::span<const T> values) {
    size_ = 0;
    if (values.empty()) return;
    if (values.size() > capacity_) grow(static_cast<uint32_t>(values.size()));
    std::memcpy(data(), values.data(), values.size_bytes());
    size_ = static_cast<uint32_t>(values.size());
  }
  // New elements have their default value.
  void resize(uint32_t size) {
    if (size > capacity_) grow(size);
    for (uint32_t i = size_; i < size; ++i) data()[i] = T{};
    size_ = size;
  }
  operator std::span<const T>() const { return {data(), size_}; }

 private:
  void release() {
    if (capacity_ > N) delete[] heap_;
  }
  void take(SmallVector& other) {
    std::memcpy(static_cast<void*>(this), &other, sizeof *this);
    other.capacity_ = N;
    other.size_ = 0;
  }
  void grow(uint32_t capacity) {
    T* heap = new T[capacity];
    std::memcpy(heap, data(), size_ * sizeof(T));
    release();
    heap_ = heap;
    capacity_ = capacity;
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  union {
    T inline_[N];
    T* heap_;
  };
};

}  // namespace gt
