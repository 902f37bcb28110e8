// Shapes and tensor types, and their spellings. Types of results follow
// from the program's text alone, never from data (ops/call.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stream/dtype.h"

namespace gt {

// The sizes of a tensor's dimensions, outermost first. There are at most
// kMaxRank of them; to add more is a bug of the caller and aborts (GT_CHECK),
// so code that reads or infers a shape checks first.
class Shape {
 public:
  static constexpr size_t kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) {
    for (int64_t d : dims) push_back(d);
  }
  explicit Shape(std::span<const int64_t> dims) {
    for (int64_t d : dims) push_back(d);
  }

  size_t size() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  int64_t operator[](size_t i) const { return dims_[i]; }
  int64_t& operator[](size_t i) { return dims_[i]; }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }
  int64_t back() const { return dims_[rank_ - 1]; }
  void push_back(int64_t d) {
    GT_CHECK(rank_ < kMaxRank);
    dims_[rank_++] = d;
  }
  void erase(size_t i);
  void insert(size_t i, int64_t d);

  // Returns the product of the sizes. It cannot overflow for a type that was
  // parsed or inferred, since these went through check_size().
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t d : *this) n *= d;
    return n;
  }

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (size_t i = 0; i < a.rank_; ++i) {
      if (a.dims_[i] != b.dims_[i]) return false;
    }
    return true;
  }

 private:
  std::array<int64_t, kMaxRank> dims_{};
  uint8_t rank_ = 0;
};

struct Type {
  Dtype dtype = Dtype::kF32;
  Shape shape;

  int64_t elements() const { return shape.elements(); }
  size_t bytes() const {
    return static_cast<size_t>(elements()) * size_of(dtype);
  }
  friend bool operator==(const Type& a, const Type& b) = default;
};

struct TypeHash {
  size_t operator()(const Type& type) const {
    size_t h = static_cast<size_t>(type.dtype) + 1;
    for (const int64_t d : type.shape) {
      h = (h ^ static_cast<size_t>(d)) * 0x9e3779b97f4a7c15U;
    }
    return h ^ (h >> 32);
  }
};

std::string to_string(const Shape& shape);  // "128,64"
std::string to_string(const Type& type);    // "f32[128,64]"

// Parses "f32[128,64]". Errors: unknown dtype, a negative size, more than
// kMaxRank dimensions, or more than 2^60 bytes.
Result<Type> parse_type(std::string_view text);
// Parses a list of any length, "1,0,-2". Negative numbers are errors unless
// `signs`.
Result<std::vector<int64_t>> parse_integers(std::string_view text, bool signs);
// Parses "128,64", a list of at most kMaxRank sizes; `signs` as above.
Result<Shape> parse_shape(std::string_view text, bool signs);
// Returns an error if the type has over 2^60 bytes; below that, products of
// sizes cannot overflow.
Status check_size(const Type& type);

}  // namespace gt
