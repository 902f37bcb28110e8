// Random numbers as a function of a seed and an element's index alone, so that
// parts equal the whole and no count of threads matters.
//
// Philox4x32-10: J. K. Salmon et al., "Parallel Random Numbers: As Easy as 1,
// 2, 3", SC11. Key: the seed. Counter: the block's number. A block gives two
// 64-bit words, those of elements 2b and 2b + 1. Log and sine are written out
// in plain double arithmetic: those of a C library differ in last bits from
// machine to machine.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "stream/type.h"

namespace gt::exec::philox {

using Words = std::array<uint32_t, 4>;

static inline Words block(Words counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

struct Pair {
  uint64_t first, second;
};

// The words of elements 2b and 2b + 1.
static inline Pair pair(uint64_t seed, uint64_t b) {
  const Words w =
      block({static_cast<uint32_t>(b), static_cast<uint32_t>(b >> 32), 0, 0},
            {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return {w[0] | uint64_t{w[1]} << 32, w[2] | uint64_t{w[3]} << 32};
}

static inline uint64_t word(uint64_t seed, uint64_t element) {
  const Pair p = pair(seed, element / 2);
  return element % 2 == 0 ? p.first : p.second;
}

// Significand of a float dtype, its hidden bit included.
static inline int digits_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return 53;
    case Dtype::kF16:
      return 11;
    case Dtype::kBf16:
      return 8;
    default:
      return 24;
  }
}

// The top `digits` bits of a word as a number in [0, 1): exact in a dtype of
// that many digits, so that rounding never makes it 1.
static inline double uniform(uint64_t word, int digits) {
  return static_cast<double>(static_cast<int64_t>(word >> (64 - digits))) /
         static_cast<double>(int64_t{1} << digits);
}

// Natural logarithm of x in (0, 1]: x = 2^e * m, m in [sqrt(1/2), sqrt(2)],
// log m = 2 atanh((m - 1) / (m + 1)) by its series.
static inline double log_unit(double x) {
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  const auto bits = std::bit_cast<uint64_t>(x);
  const int64_t e = static_cast<int64_t>(bits - kSqrtHalf) >> 52;
  const auto m = std::bit_cast<double>(bits - (static_cast<uint64_t>(e) << 52));
  const double s = (m - 1) / (m + 1);
  const double z = s * s;
  double sum = 0;
  for (int k = 21; k >= 3; k -= 2) sum = sum * z + 1.0 / k;
  const double low = 2 * s * (z * sum);
  return static_cast<double>(e) * 0.693147180559945309417 + (low + 2 * s);
}

// 1/n! with alternating signs: +1 -1/2! +1/4! ... or +1 -1/3! +1/5! ...
template <int kFirst>
constexpr std::array<double, 9> taylor() {
  std::array<double, 9> c{};
  double factorial = 1;
  for (int k = 0; k < 9; ++k) {
    if (k > 0) factorial *= (2 * k - 1 + kFirst) * (2 * k + kFirst);
    c[static_cast<size_t>(k)] = (k % 2 == 0 ? 1 : -1) / factorial;
  }
  return c;
}
inline constexpr std::array<double, 9> kCosine = taylor<0>();
inline constexpr std::array<double, 9> kSine = taylor<1>();

// Cosine and sine of 2 pi u, u in [0, 1): down to an eighth of the circle,
// exactly, then by their series.
struct Circle {
  double cos, sin;
};
static inline Circle circle(double u) {
  const double eighths = u * 8;
  const auto octant = static_cast<int64_t>(eighths);
  double rest = eighths - static_cast<double>(octant);
  if (octant % 2 != 0) rest = 1 - rest;
  const double x = rest * 0.785398163397448309616;
  const double z = x * x;
  double c = 0;
  double s = 0;
  for (size_t k = 9; k-- > 0;) {
    c = c * z + kCosine[k];
    s = s * z + kSine[k];
  }
  s *= x;
  const bool swapped = ((octant + 1) / 2) % 2 != 0;
  const double across = swapped ? s : c;
  const double up = swapped ? c : s;
  return {octant >= 2 && octant < 6 ? -across : across, octant >= 4 ? -up : up};
}

// Two independent values of the standard normal distribution (G. Box and M.
// Muller, 1958). std::sqrt is exact on every machine, so it may be used.
static inline Circle normal(Pair words) {
  const double u = 1 - uniform(words.first, 53);  // in (0, 1]
  const double radius = std::sqrt(-2 * log_unit(u));
  const Circle c = circle(uniform(words.second, 53));
  return {radius * c.cos, radius * c.sin};
}

}  // namespace gt::exec::philox
