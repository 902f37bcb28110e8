#include "stream/type.h"

#include <charconv>

#include "base/message.h"

namespace gt {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 60;

}  // namespace

void Shape::erase(size_t i) {
  GT_CHECK(i < rank_);
  for (size_t j = i + 1; j < rank_; ++j) dims_[j - 1] = dims_[j];
  --rank_;
}

void Shape::insert(size_t i, int64_t d) {
  GT_CHECK(i <= rank_ && rank_ < kMaxRank);
  for (size_t j = rank_; j > i; --j) dims_[j] = dims_[j - 1];
  dims_[i] = d;
  ++rank_;
}

std::string to_string(const Shape& shape) {
  std::string out;
  for (int64_t d : shape) {
    if (!out.empty()) out += ',';
    out += std::to_string(d);
  }
  return out;
}

std::string to_string(const Type& type) {
  return std::string(to_string(type.dtype)) + "[" + to_string(type.shape) + "]";
}

Result<std::vector<int64_t>> parse_integers(std::string_view text, bool signs) {
  std::vector<int64_t> list;
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end) {
    int64_t d = 0;
    const auto [next, error] = std::from_chars(p, end, d);
    if (error == std::errc::result_out_of_range) {
      return Error{"size in '" + excerpt(text) + "' is out of range"};
    }
    if (error != std::errc{} || (next != end && *next != ',') ||
        next + 1 == end) {
      return Error{"'" + excerpt(text) +
                   "' is not a list of sizes such as 128,64"};
    }
    if (d < 0 && !signs) {
      return Error{"size " + std::to_string(d) + " is negative"};
    }
    list.push_back(d);
    p = next == end ? end : next + 1;
  }
  return list;
}

Result<Shape> parse_shape(std::string_view text, bool signs) {
  const auto list = parse_integers(text, signs);
  if (!list.ok()) return list.error();
  if (list.value().size() > Shape::kMaxRank) {
    return Error{"more than " + std::to_string(Shape::kMaxRank) +
                 " dimensions"};
  }
  return Shape(std::span<const int64_t>(list.value()));
}

Status check_size(const Type& type) {
  int64_t bytes = static_cast<int64_t>(size_of(type.dtype));
  for (int64_t d : type.shape) {
    if (__builtin_mul_overflow(bytes, d == 0 ? 1 : d, &bytes) ||
        bytes > kMaxBytes) {
      return Error{to_string(type) + " is too large: over 2^60 bytes"};
    }
  }
  return ok_status();
}

Result<Type> parse_type(std::string_view text) {
  const size_t bracket = text.find('[');
  if (bracket == std::string_view::npos || text.back() != ']') {
    return Error{"'" + excerpt(text) + "' is not a type such as f32[128,64]"};
  }
  const auto dtype = parse_dtype(text.substr(0, bracket));
  if (!dtype) {
    const std::string_view word = text.substr(0, bracket);
    const auto meant = dtype_elsewhere(word);
    return Error{"unknown dtype '" + excerpt(word) + "'; " +
                 (meant
                      ? "did you mean '" + std::string(to_string(*meant)) + "'?"
                      : "known: f32 f64 f16 bf16 i64 i32 u8 bool")};
  }
  auto shape =
      parse_shape(text.substr(bracket + 1, text.size() - bracket - 2), false);
  if (!shape.ok()) return shape.error();
  Type type{*dtype, shape.value()};
  const Status fits = check_size(type);
  if (!fits.ok()) return fits.error();
  return type;
}

}  // namespace gt
