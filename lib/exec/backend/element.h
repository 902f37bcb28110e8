// One element of any dtype as a double or an int64_t, and back: what makes a
// plain loop serve all dtypes.
#pragma once

#include <cstdint>

#include "stream/type.h"

namespace gt::exec {

double load_real(Dtype dtype, const void* data, int64_t i);
// Floats are truncated and saturate; nan gives 0.
int64_t load_int(Dtype dtype, const void* data, int64_t i);

// Rounds once, to nearest even. For an integer dtype it truncates and
// saturates, and nan gives 0; a bool says whether the value is not 0.
void store_real(Dtype dtype, void* data, int64_t i, double value);
// Integers wrap; a bool says whether the value is not 0.
void store_int(Dtype dtype, void* data, int64_t i, int64_t value);

// What a load gives after `value` was stored as that dtype.
double round_real(Dtype dtype, double value);
int64_t wrap_int(Dtype dtype, int64_t value);

uint16_t f16_from_double(double value);
uint16_t bf16_from_double(double value);

// Two's complement arithmetic without undefined overflow.
inline int64_t wrap_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}
inline int64_t wrap_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) -
                              static_cast<uint64_t>(b));
}
inline int64_t wrap_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

}  // namespace gt::exec
