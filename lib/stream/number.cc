#include "stream/number.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/result.h"

namespace gt {
namespace {

template <typename T>
void append_shortest(std::string& out, T value) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  char digits[40];
  const auto [end, error] =
      std::to_chars(digits, digits + sizeof digits, value);
  GT_CHECK(error == std::errc{});
  out.append(digits, end);
}

// True if a decimal beyond the range of double is too small rather than too
// large.
bool is_tiny(std::string_view decimal) {
  const size_t e = std::min(decimal.find_first_of("eE"), decimal.size());
  const std::string_view digits = decimal.substr(0, e);
  const size_t point = std::min(digits.find('.'), digits.size());
  const size_t first = digits.find_first_of("123456789");
  const bool below = e + 1 < decimal.size() && decimal[e + 1] == '-';
  const auto exponent = parse_number(
      decimal.substr(e + 1 < decimal.size() ? e + 1 : decimal.size()));
  if (exponent && exponent->kind != Number::Kind::kInteger) return below;
  // The magnitude is 10^scale or a little more.
  const auto scale = static_cast<double>(point) - static_cast<double>(first) +
                     (exponent ? exponent->real : 0);
  return scale < 0;
}

size_t sign_length(std::string_view text) {
  return text.starts_with('+') || text.starts_with('-') ? 1 : 0;
}

// Counts eight at a time: a byte is '0' to '9' if its upper half is 3, both as
// it is and after 6 is added. (Bytes of 0xFA and more carry into the next one,
// but their own upper half is not 3.)
size_t count_digits(std::string_view text) {
  constexpr uint64_t kEach = 0x0101010101010101;
  size_t n = 0;
  for (uint64_t eight = 0; n + sizeof eight <= text.size(); n += sizeof eight) {
    std::memcpy(&eight, text.data() + n, sizeof eight);
    const uint64_t upper = (eight & (eight + 6 * kEach)) & (0xf0 * kEach);
    const uint64_t either = (eight | (eight + 6 * kEach)) & (0xf0 * kEach);
    if (upper != 0x30 * kEach || either != 0x30 * kEach) break;
  }
  while (n < text.size() && text[n] >= '0' && text[n] <= '9') ++n;
  return n;
}

// Returns the length of a number that is written in letters, 0 if `text` begins
// with none. `sign` is the length of its sign, which only inf may have.
size_t word_length(std::string_view text, size_t sign) {
  if (text.substr(sign).starts_with("inf")) return sign + 3;
  for (const std::string_view word : {"true", "false", "nan"}) {
    if (text.starts_with(word)) return word.size();
  }
  return 0;
}

}  // namespace

size_t number_length(std::string_view text) {
  size_t n = sign_length(text);
  if (n == text.size()) return 0;
  if (text[n] >= 'a') return word_length(text, n);
  const size_t whole = count_digits(text.substr(n));
  n += whole;
  size_t fraction = 0;
  if (text.substr(n).starts_with('.')) {
    fraction = count_digits(text.substr(n + 1));
    n += fraction + 1;
  }
  if (whole + fraction == 0) return 0;
  if (n == text.size() || (text[n] != 'e' && text[n] != 'E')) return n;
  const size_t sign = sign_length(text.substr(n + 1));
  const size_t exponent = count_digits(text.substr(n + 1 + sign));
  return exponent == 0 ? n : n + 1 + sign + exponent;
}

std::optional<Number> parse_number(std::string_view text) {
  // from_chars knows more spellings than the language.
  if (!is_number(text)) return std::nullopt;
  if (text[0] == 't') return Number{Number::Kind::kBool, 1, 1};
  if (text[0] == 'f') return Number{Number::Kind::kBool, 0, 0};
  if (text[0] == 'n') return Number{Number::Kind::kFloat, std::nan(""), 0};
  std::string_view digits = text;
  if (digits[0] == '+') digits.remove_prefix(1);
  const char* begin = digits.data();
  const char* end = begin + digits.size();
  int64_t integer = 0;
  if (const auto r = std::from_chars(begin, end, integer);
      r.ptr == end && r.ec == std::errc{}) {
    // "-0" is what a float prints as; as an integer it is 0.
    const double real =
        integer == 0 && digits[0] == '-' ? -0.0 : static_cast<double>(integer);
    return Number{Number::Kind::kInteger, real, integer};
  }
  const size_t sign = digits[0] == '-' ? 1 : 0;
  double real = 0;
  const auto r = std::from_chars(begin, end, real);
  if (r.ptr != end) return std::nullopt;
  if (r.ec == std::errc::result_out_of_range) {
    real = is_tiny(digits.substr(sign)) ? 0.0 : HUGE_VAL;
    if (sign == 1) real = -real;
  }
  return Number{Number::Kind::kFloat, real, 0};
}

void append_number(std::string& out, double value) {
  append_shortest(out, value);
}
void append_number(std::string& out, float value) {
  append_shortest(out, value);
}
void append_number(std::string& out, int64_t value) {
  char digits[24];
  const auto [end, error] =
      std::to_chars(digits, digits + sizeof digits, value);
  GT_CHECK(error == std::errc{});
  out.append(digits, end);
}

namespace {

template <typename Half>
void append_half(std::string& out, Half half) {
  const auto value = static_cast<float>(half);
  if (!std::isfinite(value)) return append_shortest(out, value);
  char digits[40];
  for (int precision = 1; precision <= 9; ++precision) {
    const auto [end, error] =
        std::to_chars(digits, digits + sizeof digits, value,
                      std::chars_format::general, precision);
    GT_CHECK(error == std::errc{});
    float back = 0;
    std::from_chars(digits, end, back);
    if (Half::from(back).bits != half.bits) continue;
    // to_chars picks the shorter of fixed and scientific only without a
    // precision, so the rounded value is printed again. If fewer digits save
    // nothing (10000 for 9984), the value itself is printed.
    std::string shown, exact;
    append_shortest(shown, back);
    append_shortest(exact, value);
    out += exact.size() <= shown.size() ? exact : shown;
    return;
  }
  append_shortest(out, value);
}

}  // namespace

void append_number(std::string& out, F16 value) { append_half(out, value); }
void append_number(std::string& out, Bf16 value) { append_half(out, value); }

}  // namespace gt
