#include "exec/backend/element.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

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

// Returns what storing the value as a T gives (store_real()).
template <typename T>
T from_real(double value) {
  if constexpr (std::is_integral_v<T>) {
    return saturate<T>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return T::from(odd_float(value));
  }
}

}  // namespace

double load_real(Dtype dtype, const void* data, int64_t i) {
  return with_element(dtype, [&]<typename T>() {
    return static_cast<double>(get<T>(data, i));
  });
}

int64_t load_int(Dtype dtype, const void* data, int64_t i) {
  return with_element(dtype, [&]<typename T>() {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<int64_t>(get<T>(data, i));
    } else {
      return saturate<int64_t>(static_cast<double>(get<T>(data, i)));
    }
  });
}

void store_real(Dtype dtype, void* data, int64_t i, double value) {
  if (dtype == Dtype::kBool) return put<uint8_t>(data, i, value != 0 ? 1 : 0);
  with_element(dtype,
               [&]<typename T>() { put<T>(data, i, from_real<T>(value)); });
}

void store_int(Dtype dtype, void* data, int64_t i, int64_t value) {
  if (dtype == Dtype::kBool) return put<uint8_t>(data, i, value != 0 ? 1 : 0);
  with_element(dtype, [&]<typename T>() {
    if constexpr (std::is_arithmetic_v<T>) {
      put(data, i, static_cast<T>(value));
    } else {
      put(data, i, from_real<T>(static_cast<double>(value)));
    }
  });
}

double round_real(Dtype dtype, double value) {
  return with_element(dtype, [&]<typename T>() {
    if constexpr (std::is_integral_v<T>) {
      return value;
    } else {
      return static_cast<double>(from_real<T>(value));
    }
  });
}

int64_t wrap_int(Dtype dtype, int64_t value) {
  if (dtype == Dtype::kBool) return value != 0 ? 1 : 0;
  return with_element(dtype, [&]<typename T>() {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<int64_t>(static_cast<T>(value));
    } else {
      return value;
    }
  });
}

}  // namespace gt::exec
