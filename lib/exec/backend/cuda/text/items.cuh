// What kernels that do many runs at once share: how the elements of all items are
// shared out, and how a thread loads and stores its own.
#pragma once

#include "common.cuh"

namespace gt {

// Calls use(item, i, left, is_whole) for packs of kPack elements of all items, of
// which this is thread t of block b: the pack begins at element i of an item and,
// with those behind it, has `left`. If it is_whole, it is loaded and stored at
// once.
template <int kPack, typename Use>
inline void each_pack(const Items& items, int64_t b, int t, const Use& use) {
  constexpr int64_t kTurn = int64_t{kThreads} * kPack;
  int64_t turn = b;  // of the block, in the item
  for (int k = 0; k < items.count; ++k) {
    const Item& p = items.item[k];
    const int64_t turns = (p.n + kTurn - 1) / kTurn;
    const bool even = is_even(p.in[0] | p.in[1] | p.in[2] | p.in[3] | p.out[0] |
                              p.out[1] | p.out[2]);
    for (; turn < turns; turn += items.blocks) {
      const int64_t i = turn * kTurn + t * kPack;
      const int64_t left = p.n - i;
      with_constant(even && left >= kPack, [&](auto is_whole) {
        use(p, i, left, is_whole);
      });
    }
    turn -= turns;
  }
}

// The pack at element i of x, an entry of an item.
template <typename T, bool kWhole, int kPack = kPackOf<T>>
inline Several<T, kPack> load_item(uint64_t x, int64_t i, int64_t left) {
  return load_pack<kWhole, kPack>(reinterpret_cast<const T*>(x) + i, 1, left,
                                  T{});
}
template <bool kWhole, int kPack, typename T>
inline void store_item(uint64_t x, int64_t i, int64_t left,
                       const Several<T, kPack>& pack) {
  T* const to = reinterpret_cast<T*>(x) + i;
  if constexpr (kWhole && sizeof pack != 16) {
    *reinterpret_cast<Several<T, kPack>*>(to) = pack;
  } else {
    store_pack<kWhole>(to, 1, left, pack);
  }
}

}  // namespace gt
