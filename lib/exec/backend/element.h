// Loads and stores one element of any dtype as a double or an int64_t, so that
// one plain loop serves all dtypes.
#pragma once

#include <cstdint>

#include "stream/dtype.h"

namespace gt::exec {

// Returns element i of `data` as a double.
double load_real(Dtype dtype, const void* data, int64_t i);
// Returns element i of `data` as an int64_t. A float is truncated and
// saturates; nan gives 0.
int64_t load_int(Dtype dtype, const void* data, int64_t i);

// Stores `value` as element i, rounded once, to nearest even. For an integer
// dtype the value is truncated and saturates, and nan gives 0; for bool, 1 is
// stored if the value is not 0.
void store_real(Dtype dtype, void* data, int64_t i, double value);
// Stores `value` as element i. An integer dtype wraps; for bool, 1 is stored if
// the value is not 0.
void store_int(Dtype dtype, void* data, int64_t i, int64_t value);

// These return what a load gives after `value` was stored as `dtype`.
double round_real(Dtype dtype, double value);
int64_t wrap_int(Dtype dtype, int64_t value);

// Two's complement arithmetic that wraps instead of overflowing, which would be
// undefined.
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
