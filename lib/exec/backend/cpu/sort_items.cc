#include "exec/backend/cpu/sort_items.h"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/backend/cpu/parallel.h"

namespace gt::exec::cpu {
namespace {

// So few items are sorted by insertion.
constexpr int64_t kFew = 24;
// The most bits that items are divided by at a time: as many parts as the
// second level cache has lines for.
constexpr int kMostBits = 11;
// From here on items go past the caches to the parts that they are divided
// into.
constexpr int64_t kMany = int64_t{1} << 16;
// The cost of an item, as parallel.h counts.
constexpr int64_t kItemCost = 64;

// T is an Item, or a number, which is sorted by itself.
uint64_t number_of(const Item& item) { return item.rank; }
uint64_t number_of(uint64_t number) { return number; }

// Sorts `from` into `to`, which may be `from` itself. That is quick where no
// item has far to go.
template <typename T>
void insert_each(const T* from, T* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const T item = from[i];
    int64_t k = i;
    for (; k > 0 && number_of(item) < number_of(to[k - 1]); --k)
      to[k] = to[k - 1];
    to[k] = item;
  }
}

// The bits in which ranks differ.
struct Spread {
  uint64_t all = ~uint64_t{0};
  uint64_t any = 0;

  template <typename T>
  void add(const T* items, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      all &= number_of(items[i]);
      any |= number_of(items[i]);
    }
  }
  void add(const Spread& other) {
    all &= other.all;
    any |= other.any;
  }
  // The number of low bits that are not alike.
  int bits() const { return 64 - std::countl_zero(all ^ any); }
};

// The highest of the `top` low bits, in which n ranks differ: so many that a
// part, if they are spread evenly, seldom has two items.
class Digit {
 public:
  Digit(int top, int64_t n) {
    const int some = 64 - std::countl_zero(static_cast<uint64_t>(n));
    const int bits = std::min({kMostBits, top, some});
    shift_ = top - bits;
    mask_ = (uint64_t{1} << bits) - 1;
  }

  int shift() const { return shift_; }
  size_t parts() const { return mask_ + 1; }
  size_t of(uint64_t rank) const { return (rank >> shift_) & mask_; }

  template <typename T>
  void count(const T* items, int64_t n, int64_t* counts) const {
    for (int64_t i = 0; i < n; ++i) ++counts[of(number_of(items[i]))];
  }
  // Puts items where their parts begin, and moves these on.
  template <typename T>
  void place(const T* items, int64_t n, int64_t* begins, T* to) const {
    if (n >= kMany) return place_by_lines(items, n, begins, to);
    for (int64_t i = 0; i < n; ++i) {
      to[begins[of(number_of(items[i]))]++] = items[i];
    }
  }

 private:
  // Collects the items of each part until they fill a line of the cache, which
  // is then written to memory as a whole. The parts of many items are too far
  // from each other for a line of each to stay in the cache.
  template <typename T>
  void place_by_lines(const T* items, int64_t n, int64_t* begins, T* to) const {
    constexpr size_t kBytes = 64;
    constexpr size_t kItems = kBytes / sizeof(T);
    struct alignas(kBytes) Line {
      T items[kItems];
    };
    const std::unique_ptr<Line[]> lines(new Line[parts()]);
    const std::vector<int64_t> firsts(begins, begins + parts());
    // How far an item is from where its line of memory begins.
    const size_t skew = reinterpret_cast<uintptr_t>(to) / sizeof(T);
    const auto lane_of = [&](int64_t at) {
      return (skew + static_cast<size_t>(at)) % kItems;
    };
    // A line may begin with items of the part before, which stay as they are.
    const auto copy_line = [&](size_t p, int64_t end) {
      int64_t at = end - static_cast<int64_t>(lane_of(end - 1)) - 1;
      for (at = std::max(at, firsts[p]); at < end; ++at) {
        to[at] = lines[p].items[lane_of(at)];
      }
    };
    for (int64_t i = 0; i < n; ++i) {
      const size_t p = of(number_of(items[i]));
      const int64_t end = ++begins[p];
      const size_t lane = lane_of(end - 1);
      lines[p].items[lane] = items[i];
      if (lane + 1 < kItems) continue;
      const int64_t at = end - static_cast<int64_t>(kItems);
      if (at < firsts[p]) {
        copy_line(p, end);
        continue;
      }
      auto* line = reinterpret_cast<__m128i*>(to + at);
      const auto* from = reinterpret_cast<const __m128i*>(lines[p].items);
      for (size_t k = 0; k < kBytes / sizeof *line; ++k) {
        _mm_stream_si128(line + k, _mm_load_si128(from + k));
      }
    }
    _mm_sfence();
    for (size_t p = 0; p < parts(); ++p) {
      if (begins[p] > firsts[p]) copy_line(p, begins[p]);
    }
  }

  int shift_;
  uint64_t mask_;
};

// Sorts `from` into `to`, which is `from` itself or the other of two arrays, by
// the highest bits in which the ranks differ, and each part then by the rest.
// Ranks differ in the `top` low bits at most. Numbers are taken to differ in
// all of them, as random ones do.
template <typename T>
void sort_into(T* from, T* other, int64_t n, bool stays, int top) {
  T* const to = stays ? from : other;
  if (n <= kFew) return insert_each(from, to, n);
  if constexpr (std::is_same_v<T, Item>) {
    Spread spread;
    spread.add(from, n);
    top = spread.bits();
  }
  if (top == 0) {
    if (!stays) std::copy_n(from, n, to);
    return;
  }
  const Digit digit(top, n);
  int64_t ends[1 << kMostBits];
  std::fill_n(ends, digit.parts(), 0);
  digit.count(from, n, ends);
  int64_t end = 0;
  int64_t most = 0;
  for (size_t p = 0; p < digit.parts(); ++p) {
    most = std::max(most, ends[p]);
    end += std::exchange(ends[p], end);
  }
  digit.place(from, n, ends, other);
  if (most <= kFew) return insert_each(other, to, n);
  int64_t begin = 0;
  for (size_t p = 0; p < digit.parts(); ++p) {
    const int64_t size = ends[p] - begin;
    if (size > 0) {
      sort_into(other + begin, from + begin, size, !stays, digit.shift());
    }
    begin = ends[p];
  }
}

// The first division is done by workers, each for a piece of the items, and its
// parts are shared among them.
template <typename T>
void sort_by(int64_t workers, T* items, T* scratch, int64_t n) {
  const auto each = static_cast<size_t>(workers);
  const int64_t piece = (n + workers - 1) / workers;
  const auto pieces = [&](const auto& use) {
    shared_by_workers(workers, workers, [&](int64_t w, int64_t) {
      const int64_t begin = std::min(n, w * piece);
      use(static_cast<size_t>(w), items + begin,
          std::min(n, begin + piece) - begin);
    });
  };
  std::vector<Spread> spreads(each);
  pieces([&](size_t w, const T* from, int64_t m) { spreads[w].add(from, m); });
  for (const Spread& other : spreads) spreads[0].add(other);
  if (spreads[0].bits() == 0) return;
  const Digit digit(spreads[0].bits(), n);
  const size_t parts = digit.parts();
  std::vector<int64_t> ends(each * parts);
  pieces([&](size_t w, const T* from, int64_t m) {
    digit.count(from, m, ends.data() + w * parts);
  });
  int64_t end = 0;
  for (size_t p = 0; p < parts; ++p) {
    for (size_t w = 0; w < each; ++w) {
      end += std::exchange(ends[w * parts + p], end);
    }
  }
  pieces([&](size_t w, const T* from, int64_t m) {
    digit.place(from, m, ends.data() + w * parts, scratch);
  });
  const int64_t* part_ends = ends.data() + (each - 1) * parts;
  shared_by_workers(workers, static_cast<int64_t>(parts),
                    [&](int64_t p, int64_t) {
                      const int64_t begin = p == 0 ? 0 : part_ends[p - 1];
                      sort_into(scratch + begin, items + begin,
                                part_ends[p] - begin, false, digit.shift());
                    });
}

template <typename T>
void sort(T* items, T* scratch, int64_t n, int threads) {
  const int64_t workers = workers_for(threads, n, kItemCost);
  if (workers > 1) {
    sort_by(workers, items, scratch, n);
  } else {
    sort_into(items, scratch, n, true, 64);
  }
}

}  // namespace

void sort_items(Item* items, Item* scratch, int64_t n, int threads) {
  sort(items, scratch, n, threads);
}

void sort_numbers(uint64_t* numbers, uint64_t* scratch, int64_t n,
                  int threads) {
  sort(numbers, scratch, n, threads);
}

}  // namespace gt::exec::cpu
