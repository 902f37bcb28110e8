// Reductions over any axes. A result's elements are cut into parts, each of
// which one thread or one block of threads reduces; further launches reduce the
// parts of a result in the same way. So the order of a sum depends only on its
// length and its layout.
#pragma once

#include "common.cuh"
#include "integer.cuh"

namespace gt {

// The type that elements of T are accumulated in: f32 for f32, f16 and bf16,
// f64 for f64, and wrapping i64 for integers.
template <typename T>
struct Total {
  using type = Wrap<i64>;
  static type of(T x) { return widen(x); }
};
template <>
struct Total<f32> {
  using type = f32;
  static f32 of(f32 x) { return x; }
};
template <>
struct Total<f64> {
  using type = f64;
  static f64 of(f64 x) { return x; }
};
template <>
struct Total<f16> {
  using type = f32;
  static f32 of(f16 x) { return widen(x); }
};
template <>
struct Total<bf16> {
  using type = f32;
  static f32 of(bf16 x) { return widen(x); }
};

inline f32 plain(f32 x) { return x; }
inline f64 plain(f64 x) { return x; }
inline i64 plain(Wrap<i64> x) { return x.value; }

template <typename A>
struct Limits {
  static A least() { return A(-bits_as<f32>(0x7f800000)); }
  static A most() { return A(bits_as<f32>(0x7f800000)); }
};
template <>
struct Limits<Wrap<i64>> {
  static Wrap<i64> least() { return -9223372036854775807 - 1; }
  static Wrap<i64> most() { return 9223372036854775807; }
};

// A reduction of T has: the total of no element (none) and of one (take), how
// two totals are joined (join), and how the last total becomes a result (give),
// where n is the divisor.
template <typename T>
struct Base {
  using A = typename Total<T>::type;
  static A take(T x, int64_t /*index*/) { return Total<T>::of(x); }
  template <typename R>
  static R give(A total, int64_t /*n*/) {
    return to<R>(plain(total));
  }
};
template <typename T>
struct Sum : Base<T> {
  using A = typename Base<T>::A;
  static A none() { return A(0); }
  static A join(A a, A b) { return a + b; }
};
// Of floats. It is finite where the sum in their own type would not be.
template <typename T>
struct Mean {
  using A = f64;
  static A take(T x, int64_t /*index*/) { return static_cast<f64>(widen(x)); }
  static A none() { return 0; }
  static A join(A a, A b) { return a + b; }
  template <typename R>
  static R give(A total, int64_t n) {
    return to<R>(total / static_cast<f64>(n));
  }
};

// The Euclidean norm of floats. Squares of all but f64 have room in f64.
template <typename T>
struct Norm : Mean<T> {
  using A = f64;
  static A take(T x, int64_t /*index*/) {
    const auto wide = static_cast<f64>(widen(x));
    return wide * wide;
  }
  template <typename R>
  static R give(A total, int64_t n) {
    return to<R>(root(total) / static_cast<f64>(n));
  }
};
// Squares of f64 are taken of shares of the largest size: the norm is size *
// root(sum).
struct Sized {
  f64 size, sum;
};
template <>
struct Norm<f64> {
  using A = Sized;
  static A take(f64 x, int64_t /*index*/) { return {x < 0 ? -x : x, 1}; }
  static A none() { return {0, 0}; }
  static A join(A a, A b) {
    if (a.size == b.size) return {a.size, a.sum + b.sum};
    if (a.size != a.size || b.size != b.size) return {a.size + b.size, 1};
    const A& most = a.size > b.size ? a : b;
    const A& less = a.size > b.size ? b : a;
    const f64 share = less.size / most.size;
    return {most.size, most.sum + less.sum * share * share};
  }
  template <typename R>
  static R give(A total, int64_t n) {
    const f64 sum = root(total.sum) / static_cast<f64>(n);
    return to<R>(total.size == 0 ? f64(0) : total.size * sum);
  }
};

// The sum of exponentials of what is at most 0, of which one is 1, without that
// one.
template <typename V>
struct RestAndOnes {
  V rest, ones;
};
template <typename T>
struct ExpOthers {
  using V = typename Total<T>::type;
  using A = RestAndOnes<V>;
  static A none() { return {V(0), V(0)}; }
  static A take(T x, int64_t /*index*/) {
    const V wide = Total<T>::of(x);
    if (wide == V(0)) return {V(0), V(1)};
    return {exp(wide), V(0)};
  }
  static A join(A a, A b) { return {a.rest + b.rest, a.ones + b.ones}; }
  template <typename R>
  static R give(A total, int64_t /*n*/) {
    return to<R>(total.rest + (total.ones - V(1)));
  }
};

template <typename T, bool = kIsFloat<T>>
struct Prod : Base<T> {
  using A = typename Base<T>::A;
  static A none() { return A(1); }
  static A join(A a, A b) { return a * b; }
};
// A product of floats is fraction * 2^exponent, with a fraction from 1 to 2, or
// 0, inf or nan, so that it leaves no range on the way.
struct Scaled {
  f64 fraction;
  int64_t exponent;
};
template <typename T>
struct Prod<T, true> {
  using A = Scaled;
  static A none() { return {1, 0}; }
  static A take(T x, int64_t /*index*/) {
    const auto wide = static_cast<f64>(widen(x));
    const bool low = wide > -2.3e-308 && wide < 2.3e-308;  // a subnormal one
    return split(low ? wide * 18446744073709551616.0 : wide, low ? -64 : 0);
  }
  static A join(A a, A b) {
    return split(a.fraction * b.fraction, a.exponent + b.exponent);
  }
  // Three powers, so that each is a number and the last one alone rounds.
  template <typename R>
  static R give(A total, int64_t /*n*/) {
    int64_t e = total.exponent;
    e = e > 2400 ? 2400 : e < -2400 ? -2400 : e;
    const int64_t third = e / 3;
    return to<R>(total.fraction * power(third) * power(third) *
                 power(e - 2 * third));
  }

 private:
  static f64 power(int64_t e) {
    return bits_as<f64>(static_cast<uint64_t>(e + 1023) << 52);
  }
  static A split(f64 x, int64_t exponent) {
    const auto bits = bits_as<uint64_t>(x);
    const auto field = static_cast<int64_t>(bits >> 52 & 0x7ff);
    if (field == 0 || field == 0x7ff) return {x, exponent};
    const uint64_t one = 1023ULL << 52;
    const uint64_t rest = bits & ~(0x7ffULL << 52);
    return {bits_as<f64>(rest | one), exponent + field - 1023};
  }
};
template <typename T>
struct Max : Base<T> {
  using A = typename Base<T>::A;
  static A none() { return Limits<A>::least(); }
  static A join(A a, A b) { return greater(a, b); }
};
template <typename T>
struct Min : Base<T> {
  using A = typename Base<T>::A;
  static A none() { return Limits<A>::most(); }
  static A join(A a, A b) { return lesser(a, b); }
};

// The index of the first largest or smallest element; nan comes before all
// others.
template <typename V>
struct Found {
  V value;
  int64_t index;  // -1: no element was met
};
template <typename T, bool kLargest>
struct Extreme {
  using V = Wide<T>;
  using A = Found<V>;
  static A none() { return {V(0), -1}; }
  static A take(T x, int64_t index) { return {widen(x), index}; }
  static A join(A a, A b) {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    if (before(b.value, a.value)) return b;
    if (before(a.value, b.value)) return a;
    return a.index < b.index ? a : b;
  }
  static bool before(V x, V y) {
    if (y != y) return false;
    return x != x || (kLargest ? x > y : x < y);
  }
  template <typename R>
  static R give(A total, int64_t /*n*/) {
    return to<R>(total.index);
  }
};
template <typename T>
using Argmax = Extreme<T, true>;
template <typename T>
using Argmin = Extreme<T, false>;

// The elements of operand 0, or the totals that an earlier launch made of them,
// by their places in memory. `Raw` is their type in memory.
template <typename T>
struct Memory {
  using Raw = T;
  // True if packs may be loaded at once.
  static bool are_even(const Args& a) { return is_even(a.in[0]); }
  static T at(const Args& a, int64_t i) { return in<T>(a, 0)[i]; }
  // Returns the first kPack of `left` elements from the i-th on, as load_pack()
  // does.
  template <bool kWhole, int kPack>
  static Several<T, kPack> pack(const Args& a, int64_t i, int64_t left) {
    return load_pack<kWhole, kPack>(in<T>(a, 0) + i, 1, left, T{});
  }
};
template <typename F, typename T>
struct Elements : Memory<T> {
  static typename F::A take(T x, int64_t index) { return F::take(x, index); }
};
template <typename F>
struct Partial : Memory<typename F::A> {
  static typename F::A take(typename F::A x, int64_t /*index*/) { return x; }
};
// What is done with a total: it becomes a result, or is kept for a later
// launch. `Raw` is its type in memory.
template <typename F, typename R>
struct Results {
  using Raw = R;
  static R of(const Args& a, typename F::A total) {
    return F::template give<R>(total, a.n[entry::kDivisor]);
  }
  static void put(const Args& a, int64_t i, typename F::A total) {
    out<R>(a, 0)[i] = of(a, total);
  }
};
template <typename F>
struct Totals {
  using Raw = typename F::A;
  static Raw of(const Args& /*a*/, Raw total) { return total; }
  static void put(const Args& a, int64_t i, Raw total) {
    out<Raw>(a, 0)[i] = total;
  }
};

// The number of packs that a thread loads before it uses the first of them.
constexpr int kPacksAtOnce = 4;

// Each block reduces a part of a result. The totals of a result's parts are
// written next to each other. A thread takes kPack elements at a time, which
// must be contiguous if kPack is more than one.
template <typename F, typename From, typename Into, int kPack>
inline void reduce_by_block(const Args& a) {
  using A = typename F::A;
  constexpr int64_t kTurn = int64_t{kThreads} * kPack;
  GT_SHARED A lane[kThreads];
  const int64_t reduced = a.n[entry::kReduced];
  const int64_t parts = a.n[entry::kParts];
  const int64_t size = a.n[entry::kPartSize];
  const int64_t* kept = a.n + entry::kPlaces;
  const int64_t* along = kept + place_size(kept);
  const bool whole = a.n[entry::kIsWhole] != 0 && From::are_even(a);
  GT_BLOCKS(b, a.n[entry::kResults] * parts) {
    const int64_t base = place(kept, b / parts);
    const int64_t first = b % parts * size;
    const int64_t last = first + size < reduced ? first + size : reduced;
    GT_PHASE(t) {
      A own[kPack];
#pragma unroll
      for (int j = 0; j < kPack; ++j) own[j] = F::none();
      with_constant(whole, [&](auto is_whole) {
        for (int64_t i = first + t * kPack; i < last;
             i += kPacksAtOnce * kTurn) {
          Several<typename From::Raw, kPack> x[kPacksAtOnce];
#pragma unroll
          for (int k = 0; k < kPacksAtOnce; ++k) {
            const int64_t at = i + k * kTurn;
            x[k] = From::template pack<is_whole.value, kPack>(
                a, base + (kPack > 1 ? at : place(along, at)), last - at);
          }
#pragma unroll
          for (int k = 0; k < kPacksAtOnce; ++k) {
            const int64_t at = i + k * kTurn;
#pragma unroll
            for (int j = 0; j < kPack; ++j) {
              if (at + j < last) {
                own[j] = F::join(own[j], From::take(x[k].x[j], at + j));
              }
            }
          }
        }
      });
      A total = own[0];
#pragma unroll
      for (int j = 1; j < kPack; ++j) total = F::join(total, own[j]);
      lane[t] = total;
    }
    for (int half = kThreads / 2; half > 0; half /= 2) {
      GT_PHASE(t) {
        if (t < half) lane[t] = F::join(lane[t], lane[t + half]);
      }
    }
    GT_PHASE(t) {
      if (t == 0) Into::put(a, b, lane[0]);
    }
  }
}

// Each thread reduces one result of few elements.
template <typename F, typename From, typename Into>
inline void reduce_by_thread(const Args& a) {
  const int64_t* kept = a.n + entry::kPlaces;
  const int64_t* along = kept + place_size(kept);
  GT_EACH(r, a.n[entry::kResults]) {
    const int64_t base = place(kept, r);
    typename F::A total = F::none();
    for (int64_t i = 0; i < a.n[entry::kReduced]; ++i) {
      const auto x = From::at(a, base + place(along, i));
      total = F::join(total, From::take(x, i));
    }
    Into::put(a, r, total);
  }
}

// Reduces where neighbouring results are made of neighbouring elements: a block
// has a part of kPack results for each of its `lanes`, and its threads divide
// the rows. The totals of all results' first parts come first, then those of
// their second parts. kStraight: the rows are equally far apart.
template <typename F, typename From, typename Into, int kPack, bool kStraight>
inline void reduce_columns(const Args& a) {
  using A = typename F::A;
  GT_SHARED A total[kPack * kThreads];
  const int64_t reduced = a.n[entry::kReduced];
  const int64_t parts = a.n[entry::kParts];
  const int64_t size = a.n[entry::kPartSize];
  const int64_t tiles = a.n[entry::kTiles];
  const auto lanes = static_cast<int>(a.n[entry::kLanes]);
  const int64_t width = a.n[entry::kWidth];
  const int64_t* kept = a.n + entry::kColumnPlaces;
  const int64_t* along = kept + place_size(kept);
  const int64_t step = kStraight ? along[2] : 0;
  const int rows = kThreads / lanes;
  const int64_t groups = a.n[entry::kBlocks] / tiles / parts;
  const bool whole = a.n[entry::kIsWhole] != 0 && From::are_even(a);
  GT_BLOCKS(b, a.n[entry::kBlocks]) {
    const int64_t part = b / tiles % parts;
    const int64_t group = b / tiles / parts;
    const int64_t column = b % tiles * lanes * kPack;
    const int64_t base = place(kept, group) + column;
    const int64_t first = part * size;
    const int64_t last = first + size < reduced ? first + size : reduced;
    GT_PHASE(t) {
      const int64_t at = base + t % lanes * kPack;
      const int64_t left = width - column - t % lanes * kPack;
      A own[kPack];
#pragma unroll
      for (int j = 0; j < kPack; ++j) own[j] = F::none();
      with_constant(whole, [&](auto is_whole) {
        if (left <= 0) return;
        for (int64_t i = first + t / lanes; i < last;
             i += kPacksAtOnce * rows) {
          Several<typename From::Raw, kPack> x[kPacksAtOnce];
#pragma unroll
          for (int k = 0; k < kPacksAtOnce; ++k) {
            const int64_t row = i + k * rows;
            const int64_t to = kStraight ? row * step : place(along, row);
            x[k] = From::template pack<is_whole.value, kPack>(
                a, at + to, row < last ? left : 0);
          }
#pragma unroll
          for (int k = 0; k < kPacksAtOnce; ++k) {
            const int64_t row = i + k * rows;
#pragma unroll
            for (int j = 0; j < kPack; ++j) {
              if (row < last)
                own[j] = F::join(own[j], From::take(x[k].x[j], row));
            }
          }
        }
      });
#pragma unroll
      for (int j = 0; j < kPack; ++j) total[j * kThreads + t] = own[j];
    }
    for (int half = rows / 2; half > 0; half /= 2) {
      GT_PHASE(t) {
        if (t < half * lanes) {
#pragma unroll
          for (int j = 0; j < kPack; ++j) {
            A* own = total + j * kThreads + t;
            *own = F::join(*own, own[half * lanes]);
          }
        }
      }
    }
    GT_PHASE(t) {
      if (t < lanes) {
        const int64_t i = column + t * kPack;
        for (int j = 0; j < kPack && i + j < width; ++j) {
          Into::put(a, (part * groups + group) * width + i + j,
                    total[j * kThreads + t]);
        }
      }
    }
  }
}

}  // namespace gt
