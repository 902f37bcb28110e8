// A constant with several owners, all of one thread: a std::shared_ptr whose
// count is a plain integer and not an atomic one, and so cheaper to copy.
#pragma once

#include <cstdint>
#include <utility>

namespace gt {

template <typename T>
class Shared {
 public:
  Shared() = default;
  explicit Shared(T value) : box_(new Box{std::move(value), 1}) {}
  Shared(const Shared& other) : box_(other.box_) {
    if (box_ != nullptr) ++box_->holders;
  }
  Shared(Shared&& other) noexcept : box_(std::exchange(other.box_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(box_, other.box_);
    return *this;
  }
  ~Shared() {
    if (box_ != nullptr && --box_->holders == 0) delete box_;
  }

  void reset() { *this = Shared(); }
  explicit operator bool() const { return box_ != nullptr; }
  const T& operator*() const { return box_->value; }
  const T* operator->() const { return &box_->value; }

 private:
  struct Box {
    const T value;
    uint32_t holders;
  };
  Box* box_ = nullptr;
};

}  // namespace gt
