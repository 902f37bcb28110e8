// Numbers as text: locale-free, shortest digits that read back the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stream/type.h"

namespace gt {

// A literal. Its category is that of its spelling: 1 is an integer, 1.0 and
// 1e3 and inf are floats, true is a bool. Literals are weak in promotion.
struct Number {
  enum class Kind : uint8_t { kInteger, kFloat, kBool };
  Kind kind = Kind::kInteger;
  double real = 0;      // always set
  int64_t integer = 0;  // set unless kFloat
};

// Nothing if the text is not a number. An integer beyond 64 bits is a float,
// and a float beyond double is inf or 0.
std::optional<Number> parse_number(std::string_view text);
// Bytes of the number that `text` begins with, 0 if it begins with none. Its
// value, which takes ten times as long, is not read.
size_t number_length(std::string_view text);
inline bool is_number(std::string_view text) {
  return !text.empty() && number_length(text) == text.size();
}

// Appends the shortest digits that read back as the same value of the dtype:
// 0.1, 3, 1e-08, nan, inf, -inf, -0. f16 and bf16 take their value as float.
void append_number(std::string& out, double value);
void append_number(std::string& out, float value);
void append_number(std::string& out, int64_t value);
void append_half_number(std::string& out, float value, Dtype dtype);

// Bits of the 16-bit floats: f16 (IEEE 754 binary16) and bf16 (the upper half
// of binary32), rounded to nearest even; nan stays nan.
uint16_t f16_from_float(float value);
float float_from_f16(uint16_t bits);
uint16_t bf16_from_float(float value);
float float_from_bf16(uint16_t bits);

}  // namespace gt
