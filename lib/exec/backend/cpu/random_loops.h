// Philox and Box-Muller for many blocks at once, with the same steps as
// philox.h takes for one. The compiler turns the inner loops into packs, and no
// step depends on how it does that. See pack.h for who may include this.
#pragma once

#include "exec/backend/cpu/loops.h"
#include "exec/backend/cpu/pack.h"
#include "exec/backend/philox.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

constexpr int64_t kBlocks = 32;

inline void philox_blocks(uint64_t seed, uint64_t first, uint64_t* y) {
  uint32_t c0[kBlocks], c1[kBlocks], c2[kBlocks], c3[kBlocks];
  for (int64_t i = 0; i < kBlocks; ++i) {
    const uint64_t b = first + static_cast<uint64_t>(i);
    c0[i] = static_cast<uint32_t>(b);
    c1[i] = static_cast<uint32_t>(b >> 32);
    c2[i] = 0;
    c3[i] = 0;
  }
  auto k0 = static_cast<uint32_t>(seed);
  auto k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int64_t i = 0; i < kBlocks; ++i) {
      const uint64_t a = uint64_t{0xD2511F53} * c0[i];
      const uint64_t b = uint64_t{0xCD9E8D57} * c2[i];
      c0[i] = static_cast<uint32_t>(b >> 32) ^ c1[i] ^ k0;
      c2[i] = static_cast<uint32_t>(a >> 32) ^ c3[i] ^ k1;
      c1[i] = static_cast<uint32_t>(b);
      c3[i] = static_cast<uint32_t>(a);
    }
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  for (int64_t i = 0; i < kBlocks; ++i) {
    y[2 * i] = c0[i] | static_cast<uint64_t>(c1[i]) << 32;
    y[2 * i + 1] = c2[i] | static_cast<uint64_t>(c3[i]) << 32;
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
