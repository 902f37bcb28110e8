// Reads numbers from text and writes them as text, without locales, with the
// shortest digits that read back as the same value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stream/dtype.h"

namespace gt {

// A literal number of a line. Its spelling decides its category: 1 is an
// integer, 1.0 and 1e3 and inf are floats, true is a bool. Beside a tensor the
// category alone counts (promote() in ops/call.h).
struct Number {
  enum class Kind : uint8_t { kInteger, kFloat, kBool };
  Kind kind = Kind::kInteger;
  double real = 0;      // always set
  int64_t integer = 0;  // set unless kFloat
};

// Returns nothing if the text is not a number. An integer beyond 64 bits is a
// float, and a float beyond double is inf or 0.
std::optional<Number> parse_number(std::string_view text);
// Returns the size in bytes of the number that `text` begins with, 0 if it
// begins with none. Ten times as fast as parse_number(), since the value is not
// computed.
size_t number_length(std::string_view text);
inline bool is_number(std::string_view text) {
  return !text.empty() && number_length(text) == text.size();
}

// Append the shortest digits that read back as the same value of the dtype:
// 0.1, 3, 1e-08, nan, inf, -inf, -0.
void append_number(std::string& out, double value);
void append_number(std::string& out, float value);
void append_number(std::string& out, int64_t value);
void append_number(std::string& out, F16 value);
void append_number(std::string& out, Bf16 value);

}  // namespace gt
