// Code that all kernels over items share: it divides the elements of all items
// among the threads, and loads and stores a thread's elements.
#pragma once

#include "common.cuh"

namespace gt {

// Calls use(item, i, left, is_whole) for each pack of kPack elements, of any
// item, that is the work of thread t of block b: the pack begins at element i
// of the item, which has `left` elements from there on. If is_whole, the pack
// is loaded and stored at once.
template <int kPack, typename Use>
inline void each_pack(const Items& items, int64_t b, int t, const Use& use) {
  constexpr int64_t kTurn = int64_t{kThreads} * kPack;
  int64_t turn = b;  // the block's next turn in the item
  for (int k = 0; k < items.count; ++k) {
    const Item& p = items.item[k];
    const int64_t turns = (p.n + kTurn - 1) / kTurn;
    const bool even = is_even(p.in[0] | p.in[1] | p.in[2] | p.in[3] | p.out[0] |
                              p.out[1] | p.out[2]);
    for (; turn < turns; turn += items.blocks) {
      const int64_t i = turn * kTurn + t * kPack;
      const int64_t left = p.n - i;
      with_constant(even && left >= kPack,
                    [&](auto is_whole) { use(p, i, left, is_whole); });
    }
    turn -= turns;
  }
}

// Returns the pack at element i of x, the address of an operand in an item.
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
