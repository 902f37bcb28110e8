#include "exec/backend/cpu/sort_items.h"

#include <algorithm>
#include <bit>

namespace gt::exec::cpu {
namespace {

// So few items are sorted by insertion.
constexpr int64_t kFew = 24;
// The most bits that items are divided by at a time: as many parts as the first
// level cache has lines for.
constexpr int kMostBits = 8;

void insert_each(Item* items, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const Item item = items[i];
    int64_t k = i;
    for (; k > 0 && item.rank < items[k - 1].rank; --k) items[k] = items[k - 1];
    items[k] = item;
  }
}

// Sorts `from` into `to`, which is `from` itself or the other of two arrays, by
// the highest bits in which the ranks differ, and each part then by the rest.
void sort_into(Item* from, Item* other, int64_t n, bool stays) {
  Item* const to = stays ? from : other;
  if (n <= kFew) {
    if (!stays) std::copy_n(from, n, to);
    return insert_each(to, n);
  }
  uint64_t all = ~uint64_t{0};
  uint64_t any = 0;
  for (int64_t i = 0; i < n; ++i) {
    all &= from[i].rank;
    any |= from[i].rank;
  }
  const uint64_t differ = all ^ any;
  if (differ == 0) {
    if (!stays) std::copy_n(from, n, to);
    return;
  }
  const int top = 64 - std::countl_zero(differ);
  const int bits = std::min(
      {kMostBits, top, 64 - std::countl_zero(static_cast<uint64_t>(n))});
  const int shift = top - bits;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  int64_t ends[(1 << kMostBits) + 1] = {};
  for (int64_t i = 0; i < n; ++i) ++ends[((from[i].rank >> shift) & mask) + 1];
  for (uint64_t p = 1; p <= mask; ++p) ends[p] += ends[p - 1];
  for (int64_t i = 0; i < n; ++i) {
    other[ends[(from[i].rank >> shift) & mask]++] = from[i];
  }
  int64_t begin = 0;
  for (uint64_t p = 0; p <= mask; ++p) {
    const int64_t size = ends[p] - begin;
    if (size > 0) sort_into(other + begin, from + begin, size, !stays);
    begin = ends[p];
  }
}

}  // namespace

void sort_items(Item* items, Item* scratch, int64_t n) {
  sort_into(items, scratch, n, true);
}

}  // namespace gt::exec::cpu
