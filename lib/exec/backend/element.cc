#include "exec/backend/element.h"

#include <bit>
#include <cmath>
#include <limits>

#include "stream/number.h"

namespace gt::exec {
namespace {

// Returns a float that rounds to any shorter float as `value` does: it is
// truncated, and its last bit is set if anything was cut off (round to odd).
float odd_float(double value) {
  const auto near = static_cast<float>(value);
  if (static_cast<double>(near) == value || std::isnan(value)) return near;
  auto bits = std::bit_cast<uint32_t>(near);
  if (std::abs(static_cast<double>(near)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1);
}

template <typename T>
T saturate(double value) {
  if (std::isnan(value)) return 0;
  // Both bounds are exact, since they are powers of two or 0; the upper one is
  // exclusive.
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kHigh =
      2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
  if (value <= kLow) return std::numeric_limits<T>::min();
  if (value >= kHigh) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

template <typename T>
T get(const void* data, int64_t i) {
  return static_cast<const T*>(data)[i];
}
template <typename T>
void put(void* data, int64_t i, T value) {
  static_cast<T*>(data)[i] = value;
}

}  // namespace

uint16_t f16_from_double(double value) {
  return f16_from_float(odd_float(value));
}
uint16_t bf16_from_double(double value) {
  return bf16_from_float(odd_float(value));
}

double load_real(Dtype dtype, const void* data, int64_t i) {
  switch (dtype) {
    case Dtype::kF32:
      return static_cast<double>(get<float>(data, i));
    case Dtype::kF64:
      return get<double>(data, i);
    case Dtype::kF16:
      return static_cast<double>(float_from_f16(get<uint16_t>(data, i)));
    case Dtype::kBf16:
      return static_cast<double>(float_from_bf16(get<uint16_t>(data, i)));
    case Dtype::kI64:
      return static_cast<double>(get<int64_t>(data, i));
    case Dtype::kI32:
      return get<int32_t>(data, i);
    case Dtype::kU8:
    case Dtype::kBool:
      return get<uint8_t>(data, i);
  }
  return 0;
}

int64_t load_int(Dtype dtype, const void* data, int64_t i) {
  switch (dtype) {
    case Dtype::kI64:
      return get<int64_t>(data, i);
    case Dtype::kI32:
      return get<int32_t>(data, i);
    case Dtype::kU8:
    case Dtype::kBool:
      return get<uint8_t>(data, i);
    default:
      return saturate<int64_t>(load_real(dtype, data, i));
  }
}

void store_real(Dtype dtype, void* data, int64_t i, double value) {
  switch (dtype) {
    case Dtype::kF32:
      return put(data, i, static_cast<float>(value));
    case Dtype::kF64:
      return put(data, i, value);
    case Dtype::kF16:
      return put(data, i, f16_from_double(value));
    case Dtype::kBf16:
      return put(data, i, bf16_from_double(value));
    case Dtype::kI64:
      return put(data, i, saturate<int64_t>(value));
    case Dtype::kI32:
      return put(data, i, saturate<int32_t>(value));
    case Dtype::kU8:
      return put(data, i, saturate<uint8_t>(value));
    case Dtype::kBool:
      return put<uint8_t>(data, i, value != 0 ? 1 : 0);
  }
}

void store_int(Dtype dtype, void* data, int64_t i, int64_t value) {
  switch (dtype) {
    case Dtype::kI64:
      return put(data, i, value);
    case Dtype::kI32:
      return put(data, i, static_cast<int32_t>(value));
    case Dtype::kU8:
      return put(data, i, static_cast<uint8_t>(value));
    case Dtype::kBool:
      return put<uint8_t>(data, i, value != 0 ? 1 : 0);
    case Dtype::kF32:
      return put(data, i, static_cast<float>(value));
    default:
      return store_real(dtype, data, i, static_cast<double>(value));
  }
}

double round_real(Dtype dtype, double value) {
  switch (dtype) {
    case Dtype::kF32:
      return static_cast<double>(static_cast<float>(value));
    case Dtype::kF16:
      return static_cast<double>(float_from_f16(f16_from_double(value)));
    case Dtype::kBf16:
      return static_cast<double>(float_from_bf16(bf16_from_double(value)));
    default:
      return value;
  }
}

int64_t wrap_int(Dtype dtype, int64_t value) {
  switch (dtype) {
    case Dtype::kI32:
      return static_cast<int32_t>(value);
    case Dtype::kU8:
      return static_cast<uint8_t>(value);
    case Dtype::kBool:
      return value != 0 ? 1 : 0;
    default:
      return value;
  }
}

}  // namespace gt::exec
