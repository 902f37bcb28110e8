// Philox and Box-Muller for many blocks at once, with the same steps as
// philox.h takes for one. See pack.h for who may include this.
#pragma once

#include "exec/backend/cpu/loops.h"
#include "exec/backend/cpu/pack.h"
#include "exec/backend/cpu/pointwise_loops.h"
#include "exec/backend/philox.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

constexpr int64_t kBlocks = 32;
// The packs of blocks that are computed side by side, so that none waits for
// another; all of their words are in registers.
constexpr int64_t kSide = 4;
constexpr int64_t kPackBlocks = kWidth<double>;

// The words of a pack of blocks, in the lower halves of the lanes: c[0] has the
// lower half of each block's first number, c[1] its upper half, and c[2] and
// c[3] have those of the second.
struct PhiloxPack {
  U64 c[4];
};

// Computes the blocks from `first` on in kSide packs.
inline void philox_packs(uint64_t seed, uint64_t first,
                         PhiloxPack (&of)[kSide]) {
  constexpr uint64_t kHalf = 0xffffffff;
  const U64 by0 = U64{} + 0xD2511F53;
  const U64 by2 = U64{} + 0xCD9E8D57;
  U64 lane{};
  for (int64_t i = 0; i < kPackBlocks; ++i) lane[i] = static_cast<uint64_t>(i);
  uint64_t key0 = seed & kHalf;
  uint64_t key1 = seed >> 32;
  // Only the lower halves count, so the upper ones may hold anything. In the
  // first round c[2] is 0, and so is its product.
  for (int64_t p = 0; p < kSide; ++p) {
    const U64 block = lane + (first + static_cast<uint64_t>(p * kPackBlocks));
    const U64 a = multiply_halves(block, by0);
    of[p] = {{(block >> 32) ^ key0, U64{}, (a >> 32) ^ key1, a}};
  }
  // Unrolled, the last round computes nothing that the caller does not read.
#pragma GCC unroll 9
  for (int round = 1; round < 10; ++round) {
    key0 = (key0 + 0x9E3779B9) & kHalf;
    key1 = (key1 + 0xBB67AE85) & kHalf;
    for (PhiloxPack& pack : of) {
      U64(&c)[4] = pack.c;
      const U64 a = multiply_halves(c[0], by0);
      const U64 b = multiply_halves(c[2], by2);
      c[0] = (b >> 32) ^ c[1] ^ key0;
      c[2] = (a >> 32) ^ c[3] ^ key1;
      c[1] = b;
      c[3] = a;
    }
  }
}

// Writes the words of kBlocks blocks.
inline void philox_blocks(uint64_t seed, uint64_t first, uint64_t* y) {
  constexpr uint64_t kHalf = 0xffffffff;
  for (int64_t b = 0; b < kBlocks; b += kSide * kPackBlocks) {
    PhiloxPack of[kSide];
    philox_packs(seed, first + static_cast<uint64_t>(b), of);
    for (const auto& [c] : of) {
      const U64 even = (c[0] & kHalf) | c[1] << 32;
      const U64 odd = (c[2] & kHalf) | c[3] << 32;
      for (int64_t i = 0; i < kPackBlocks; ++i) {
        *y++ = even[i];
        *y++ = odd[i];
      }
    }
  }
}

void words(uint64_t seed, uint64_t first_block, uint64_t* y, int64_t n) {
  uint64_t part[2 * kBlocks];
  for (int64_t i = 0; i < n; i += 2 * kBlocks) {
    philox_blocks(seed, first_block + static_cast<uint64_t>(i) / 2, part);
    const int64_t left = n - i < 2 * kBlocks ? n - i : 2 * kBlocks;
    std::memcpy(y + i, part, static_cast<size_t>(left) * sizeof *y);
  }
}

// Calls use(i, upper, left) for each pack of n elements that lie side by side
// from `first` on in the whole tensor: the upper halves of the words of those
// from the i-th on, of which `left` are to be used.
template <typename Use>
inline void each_upper(uint64_t seed, uint64_t first, int64_t n,
                       const Use& use) {
  constexpr uint64_t kHalf = 0xffffffff;
  constexpr int64_t kMost = kWidth<float>;
  PhiloxPack of[kSide];
  const auto upper = [&of](int64_t p) {
    const U64(&c)[4] = of[p].c;
    return reinterpret_cast<U32>((c[1] & kHalf) | c[3] << 32);
  };
  int64_t i = 0;
  if (first % 2 != 0 && n > 0) {  // the second element of a block
    philox_packs(seed, first / 2, of);
    use(i++, U32{} + upper(0)[1], int64_t{1});
  }
  for (; i < n; i += kSide * kMost) {
    philox_packs(seed, (first + static_cast<uint64_t>(i)) / 2, of);
    const bool whole = n - i >= kSide * kMost;
    for (int64_t p = 0; p < kSide; ++p) {
      const int64_t at = i + p * kMost;
      if (whole) {
        use(at, upper(p), kMost);
      } else if (at < n) {
        use(at, upper(p), n - at < kMost ? n - at : kMost);
      }
    }
  }
}

// An element is the first 24 bits of its word, as a fraction.
void uniforms(uint64_t seed, uint64_t first, float* y, int64_t n) {
  each_upper(seed, first, n, [y](int64_t i, U32 upper, int64_t left) {
    const I32 digits = reinterpret_cast<I32>(upper >> 8);
    put<float>(y, i, __builtin_convertvector(digits, F32) * 0x1p-24F, left);
  });
}

// Bit i tells whether the same 24 bits of element i reach `least`.
void reaching(uint64_t seed, uint64_t first_block, int32_t least,
              uint64_t* bits, int64_t n) {
  each_upper(seed, 2 * first_block, (n + 63) / 64 * 64,
             [=](int64_t i, U32 upper, int64_t /*left*/) {
               const I32 digits = reinterpret_cast<I32>(upper >> 8);
               uint64_t& word = bits[i / 64];
               word = (i % 64 == 0 ? 0 : word) | lane_bits(digits >= least)
                                                     << i % 64;
             });
}

void normals(uint64_t seed, uint64_t first_block, double* y, int64_t n) {
  uint64_t word[2 * kBlocks];
  double part[2 * kBlocks];
  for (int64_t i = 0; i < n; i += 2 * kBlocks) {
    philox_blocks(seed, first_block + static_cast<uint64_t>(i) / 2, word);
    for (int64_t b = 0; b < kBlocks; ++b) {
      const philox::Circle z = philox::normal({word[2 * b], word[2 * b + 1]});
      part[2 * b] = z.cos;
      part[2 * b + 1] = z.sin;
    }
    const int64_t left = n - i < 2 * kBlocks ? n - i : 2 * kBlocks;
    std::memcpy(y + i, part, static_cast<size_t>(left) * sizeof *y);
  }
}

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
