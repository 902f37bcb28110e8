// The basis of gt/gt.h: the place of a call in the user's source, errors,
// dtypes, shapes and types.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gt/c.h>

namespace gt::inline v1 {

// The place of a call in the user's source. A function whose last argument
// defaults to At::here() gets the place that it is called from.
struct At {
  const char* file = nullptr;
  unsigned line = 0;

  // Same as std::source_location::current(), which clang 14 does not have.
  static constexpr At here(const char* file = __builtin_FILE(),
                           unsigned line = __builtin_LINE()) {
    return {file, line};
  }
  operator gt_place() const { return {file, line}; }
};

// ---- errors -----------------------------------------------------------------

// A call was wrong: its shapes, dtypes, options or names. Nothing was written,
// and the program goes on as if the call had not been made. what() begins with
// the place of the call.
class Error : public std::runtime_error {
 public:
  [[gnu::cold]] Error(const char* text, At at)
      : std::runtime_error(text), at_(at) {}
  At at() const { return at_; }

 private:
  At at_;
};
// A value could not be computed: a line failed when it ran.
class Failed : public Error {
  using Error::Error;
};
// The pipeline that runs the program is gone, or cannot be started.
class Lost : public Error {
  using Error::Error;
};
// A file could not be read or written, or there is not enough memory.
class FileError : public Error {
  using Error::Error;
};

namespace detail {

// Throws the thread's last error, which the library or gt_set_error() has set.
// The function is cold, so that the compiler spends little on the many calls of
// it.
[[noreturn, gnu::cold]] inline void fail(At at) {
  const char* const text = gt_error_at(at);
  switch (gt_error_fault()) {
    case GT_FAILED:
      throw Failed(text, at);
    case GT_LOST:
      throw Lost(text, at);
    case GT_FILE:
      throw FileError(text, at);
    default:
      throw Error(text, at);
  }
}
inline void check(int result, At at) {
  if (result != 0) fail(at);
}

}  // namespace detail

// ---- shapes -----------------------------------------------------------------

// A list of integers: sizes, axes. One integer is a list of one.
class List {
 public:
  List() = default;
  List(int64_t one) : values_{one} {}  // NOLINT: implicit
  List(int one) : values_{one} {}      // NOLINT: implicit
  List(std::initializer_list<int64_t> values) : values_(values) {}
  List(std::vector<int64_t> values)  // NOLINT: implicit
      : values_(std::move(values)) {}
  List(const int64_t* begin, const int64_t* end) : values_(begin, end) {}

  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  int64_t operator[](size_t i) const { return values_[i]; }
  int64_t& operator[](size_t i) { return values_[i]; }
  const int64_t* data() const { return values_.data(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  int64_t back() const { return values_.back(); }
  friend bool operator==(const List&, const List&) = default;

  // Returns the numbers with commas between them: "2,3".
  std::string text() const {
    std::string out;
    for (const int64_t value : values_) {
      if (!out.empty()) out += ',';
      out += std::to_string(value);
    }
    return out;
  }

 private:
  std::vector<int64_t> values_;
};

// The sizes of a tensor, outermost first. A scalar has none.
using Shape = List;

// ---- dtypes and types -------------------------------------------------------

struct Type;

// The type of a tensor's elements: gt::f32 and so on. gt::f32(2, 3) is a Type,
// that of a tensor with these sizes.
class Dtype {
 public:
  constexpr Dtype(gt_dtype value) : value_(value) {}  // NOLINT: implicit
  // A template, so that a Dtype converts to gt_dtype alone: were it to convert
  // to integers, {{16}, f32} would be two sizes.
  template <typename T,
            typename = std::enable_if_t<std::is_same_v<T, gt_dtype>>>
  constexpr operator T() const {
    return value_;
  }
  constexpr gt_dtype raw() const { return value_; }
  friend constexpr bool operator==(const Dtype&, const Dtype&) = default;
  template <typename... Sizes>
  Type operator()(Sizes... sizes) const;

  bool is_float() const { return value_ <= GT_BF16; }
  size_t bytes() const {
    constexpr size_t kBytes[] = {4, 8, 2, 2, 8, 4, 1, 1};
    return kBytes[value_];
  }
  const char* text() const {
    constexpr const char* kNames[] = {"f32", "f64", "f16", "bf16",
                                      "i64", "i32", "u8",  "bool"};
    return kNames[value_];
  }

 private:
  gt_dtype value_;
};

inline constexpr Dtype f32{GT_F32};
inline constexpr Dtype f64{GT_F64};
inline constexpr Dtype f16{GT_F16};
inline constexpr Dtype bf16{GT_BF16};
inline constexpr Dtype i64{GT_I64};
inline constexpr Dtype i32{GT_I32};
inline constexpr Dtype u8{GT_U8};
inline constexpr Dtype boolean{GT_BOOL};

// Returns the dtype whose elements are of type T in memory.
template <typename T>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return boolean;
  } else if constexpr (std::is_same_v<T, float>) {
    return f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return f64;
  } else if constexpr (sizeof(T) == 8) {
    return i64;
  } else if constexpr (sizeof(T) == 4) {
    return i32;
  } else {
    static_assert(sizeof(T) == 1 && std::is_unsigned_v<T>,
                  "no dtype has elements of this type");
    return u8;
  }
}

// The type of a tensor, "f32[2,3]". In C++ it is {2, 3}, f32(2, 3) or {{2, 3},
// f32}.
struct Type {
  Dtype dtype = f32;
  Shape shape;

  Type() = default;
  Type(std::initializer_list<int64_t> sizes) : shape(sizes) {}
  Type(Shape sizes, Dtype kind = f32)  // NOLINT: implicit
      : dtype(kind), shape(std::move(sizes)) {}

  int64_t elements() const {
    int64_t n = 1;
    for (const int64_t size : shape) n *= size;
    return n;
  }
  std::string text() const {
    const gt_type type = raw();
    return gt_type_text(&type);
  }
  gt_type raw() const {
    return {dtype, static_cast<int32_t>(shape.size()), shape.data()};
  }
};

template <typename... Sizes>
Type Dtype::operator()(Sizes... sizes) const {
  return {Shape{static_cast<int64_t>(sizes)...}, *this};
}

}  // namespace gt::inline v1
