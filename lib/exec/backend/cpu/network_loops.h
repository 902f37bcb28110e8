// Loops over rows: reductions, softmax, losses, optimizers; see pack.h for who
// may include this. Sums run in a fixed order: kLanes packs side by side, and
// then the lanes of the packs, joined by halves in double.
#pragma once

#include <utility>

#include "exec/backend/cpu/distance.h"
#include "exec/backend/cpu/loops.h"
#include "exec/backend/cpu/pack.h"
#include "exec/backend/cpu/pointwise_loops.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

constexpr int64_t kLanes = 4;

struct Sum {
  static constexpr double kNone = 0;
  template <typename V>
  static V join(V a, V b) {
    return a + b;
  }
};
struct Product {
  static constexpr double kNone = 1;
  template <typename V>
  static V join(V a, V b) {
    return a * b;
  }
};
// A nan on either side is kept: if a is nan it is chosen, and if b is nan the
// comparison is false.
struct Largest {
  static constexpr double kNone = -__builtin_inf();
  template <typename V>
  static V join(V a, V b) {
    return ((a > b) | (a != a)) ? a : b;
  }
};
struct Smallest {
  static constexpr double kNone = __builtin_inf();
  template <typename V>
  static V join(V a, V b) {
    return ((a < b) | (a != a)) ? a : b;
  }
};

// What is joined: each element, or its square.
struct Same {
  template <typename V>
  static V map(V x) {
    return x;
  }
};
struct Square {
  template <typename V>
  static V map(V x) {
    return x * x;
  }
};

template <typename Join>
inline double join_doubles(double a, double b) {
  using One [[gnu::vector_size(16)]] = double;
  return Join::join(One{a, a}, One{b, b})[0];
}

// Loads a pack of a row that has `left` elements of it; lanes past the end are
// kNone.
template <typename Join, typename T>
inline Pack<T> load_rest(const T* x, int64_t left) {
  return left == kWidth<T> ? load(x)
                           : load_part(x, left, static_cast<T>(Join::kNone));
}

// Joins the lanes of doubles by halves until one value is left.
template <typename Join, typename V, size_t... kLane>
inline double join_halves(V x, std::index_sequence<kLane...>) {
  constexpr size_t kHalf = sizeof...(kLane);
  if constexpr (kHalf == 1) {
    return join_doubles<Join>(x[0], x[1]);
  } else {
    return join_halves<Join>(
        Join::join(__builtin_shufflevector(x, x, kLane...),
                   __builtin_shufflevector(x, x, (kHalf + kLane)...)),
        std::make_index_sequence<kHalf / 2>{});
  }
}
template <typename Join, typename T>
inline double join_lanes(Pack<T> pack) {
  using Wide [[gnu::vector_size(kWidth<T> * sizeof(double))]] = double;
  return join_halves<Join>(__builtin_convertvector(pack, Wide),
                           std::make_index_sequence<kWidth<T> / 2>{});
}

// Joins map(i, left) over the packs of a row of n elements: pack p goes to
// total[p % kLanes].
template <typename Join, typename T, typename Map>
inline void join_packs(int64_t n, const Map& map, Pack<T>* total) {
  for (int64_t k = 0; k < kLanes; ++k) {
    total[k] = splat(static_cast<T>(Join::kNone));
  }
  constexpr int64_t kStep = kLanes * kWidth<T>;
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    for (int64_t k = 0; k < kLanes; ++k) {
      total[k] = Join::join(total[k], map(i + k * kWidth<T>, kWidth<T>));
    }
  }
  for (int64_t k = 0; i < n; i += kWidth<T>, ++k) {
    const int64_t left = n - i < kWidth<T> ? n - i : kWidth<T>;
    total[k] = Join::join(total[k], map(i, left));
  }
}
template <typename Join, typename T>
inline double join_totals(const Pack<T>* total) {
  Pack<T> all = total[0];
  for (int64_t k = 1; k < kLanes; ++k) all = Join::join(all, total[k]);
  return join_lanes<Join, T>(all);
}
// Returns these joined.
template <typename Join, typename T, typename Map>
inline double join_row(int64_t n, const Map& map) {
  if (n <= kWidth<T>) {
    return n == 0 ? Join::kNone : join_lanes<Join, T>(map(0, n));
  }
  Pack<T> total[kLanes];
  join_packs<Join, T>(n, map, total);
  return join_totals<Join, T>(total);
}

template <typename Join, typename T, typename Of = Same>
double reduce_row(const T* x, int64_t n) {
  return join_row<Join, T>(n, [x](int64_t i, int64_t left) {
    return Of::map(load_rest<Join, T>(x + i, left));
  });
}

// Reduces map(pack, c), where c is the pack's first column, down the rows for
// kN packs of columns at a time, in registers; every kBlock rows, the totals
// are joined in double.
template <typename Join, typename T, int64_t kN, typename Map>
inline void reduce_strip(const T* x, int64_t rows, int64_t width,
                         int64_t columns, double* total, const Map& map) {
  constexpr int64_t kBlock = 128;
  const int64_t last = columns - (kN - 1) * kWidth<T>;
  const auto lanes = [&](int64_t j) { return j + 1 < kN ? kWidth<T> : last; };
  for (int64_t first = 0; first < rows; first += kBlock) {
    const int64_t end = first + kBlock < rows ? first + kBlock : rows;
    Pack<T> sum[kN];
    for (auto& s : sum) s = splat(static_cast<T>(Join::kNone));
    for (int64_t r = first; r < end; ++r) {
      for (int64_t j = 0; j < kN; ++j) {
        const T* from = x + r * width + j * kWidth<T>;
        const bool whole = j + 1 < kN || last == kWidth<T>;
        const Pack<T> next = whole ? load(from) : load_part(from, last);
        sum[j] = Join::join(sum[j], map(next, j * kWidth<T>));
      }
    }
    for (int64_t j = 0; j < kN; ++j) {
      for (int64_t i = 0; i < lanes(j); ++i) {
        double& to = total[j * kWidth<T> + i];
        to = join_doubles<Join>(to, static_cast<double>(sum[j][i]));
      }
    }
  }
}

template <typename Join, typename T, typename Map>
inline void join_columns(const T* x, int64_t rows, int64_t width,
                         int64_t columns, double* total, const Map& map) {
  constexpr int64_t kPacks = 4;
  for (int64_t c = 0; c < columns; ++c) total[c] = Join::kNone;
  for (int64_t c = 0; c < columns; c += kPacks * kWidth<T>) {
    const int64_t left = columns - c;
    const int64_t packs = (left + kWidth<T> - 1) / kWidth<T>;
    const auto strip = [&]<int64_t kN>() {
      reduce_strip<Join, T, kN>(
          x + c, rows, width, left < kN * kWidth<T> ? left : kN * kWidth<T>,
          total + c, [&](Pack<T> e, int64_t at) { return map(e, c + at); });
    };
    if (packs >= 4) {
      strip.template operator()<4>();
    } else if (packs == 3) {
      strip.template operator()<3>();
    } else if (packs == 2) {
      strip.template operator()<2>();
    } else {
      strip.template operator()<1>();
    }
  }
}

template <typename Join, typename T, typename Of = Same>
void reduce_columns(const T* x, int64_t rows, int64_t width, int64_t columns,
                    double* total) {
  join_columns<Join, T>(x, rows, width, columns, total,
                        [](Pack<T> e, int64_t) { return Of::map(e); });
}

template <typename T>
constexpr ReduceRow<T> kReductions[] = {
    {"sum", reduce_row<Sum, T>, reduce_columns<Sum, T>, join_doubles<Sum>},
    {"max", reduce_row<Largest, T>, reduce_columns<Largest, T>,
     join_doubles<Largest>},
    {"min", reduce_row<Smallest, T>, reduce_columns<Smallest, T>,
     join_doubles<Smallest>},
    {"norm", reduce_row<Sum, T, Square>, reduce_columns<Sum, T, Square>,
     join_doubles<Sum>},
};

// Calls use(i, left) for each pack of a row; it has `left` elements.
template <typename T, typename Use>
inline void each_pack(int64_t n, const Use& use) {
  int64_t i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>) use(i, kWidth<T>);
  if (i < n) use(i, n - i);
}

template <typename T>
inline Pack<T> get(const T* from, int64_t left) {
  return left == kWidth<T> ? load(from) : load_part(from, left);
}

// Returns the pack of the first element of a row that is `most`, which is one.
template <typename T>
inline int64_t pack_of(const T* x, T most) {
  for (int64_t p = 0;; ++p) {
    for (int64_t k = 0; k < kWidth<T>; ++k) {
      if (x[p * kWidth<T> + k] == most) return p;
    }
  }
}

// Sums exp(x - most), where most is the largest x. Only where the sum is near 1
// do digits count that were lost beside the 1. Then there is one, and the packs
// that were added to its own are added again without it.
template <typename T>
inline ExpSum exp_sum_below(const T* x, int64_t n, T most) {
  if (n == 0) return {};
  const Pack<T> m = splat(most);
  const auto each = [x, m](int64_t i, int64_t left) {
    const Pack<T> e = exp(get(x + i, left) - m);
    return left == kWidth<T> ? e : first_lanes<T>(left) ? e : Pack<T>{};
  };
  const auto other = [x, m, &each](int64_t i, int64_t left) {
    return get(x + i, left) == m ? Pack<T>{} : each(i, left);
  };
  Pack<T> total[kLanes];
  join_packs<Sum, T>(n, each, total);
  const double sum = join_totals<Sum, T>(total);
  if (!(sum < kFarAboveOne)) return {1, sum - 1};
  const int64_t own = pack_of(x, most) % kLanes;
  total[own] = Pack<T>{};
  for (int64_t i = own * kWidth<T>; i < n; i += kLanes * kWidth<T>) {
    total[own] += other(i, n - i < kWidth<T> ? n - i : kWidth<T>);
  }
  return {1, join_totals<Sum, T>(total)};
}

// Where no x is 0, none is taken out.
template <typename T>
ExpSum exp_below_sum(const T* x, int64_t n) {
  if (reduce_row<Largest, T>(x, n) == 0) return exp_sum_below<T>(x, n, T{});
  return {0, join_row<Sum, T>(n, [x](int64_t i, int64_t left) {
            const Pack<T> e = exp(get(x + i, left));
            return left == kWidth<T> ? e : first_lanes<T>(left) ? e : Pack<T>{};
          })};
}

template <typename T>
void exp_columns(const T* x, int64_t rows, int64_t width, int64_t columns,
                 double* total) {
  join_columns<Sum, T>(x, rows, width, columns, total,
                       [](Pack<T> e, int64_t) { return exp(e); });
}

template <typename T>
ExpSum exp_sum(const T* x, int64_t n, T* largest) {
  *largest = static_cast<T>(reduce_row<Largest, T>(x, n));
  return exp_sum_below(x, n, *largest);
}

template <typename T>
void softmax_scaled(const T* x, T* z, int64_t n, T largest, double sum,
                    T scale) {
  const Pack<T> m = splat(largest);
  const Pack<T> factor =
      splat(static_cast<T>(static_cast<double>(scale) / sum));
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    put<T>(z, i, exp(get(x + i, left) - m) * factor, left);
  });
}

// Computes one exponential per element; the intermediate row stays in cache.
template <typename T>
void softmax(const T* x, T* y, int64_t n) {
  const Pack<T> m = splat(static_cast<T>(reduce_row<Largest, T>(x, n)));
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    put<T>(y, i, exp(get(x + i, left) - m), left);
  });
  const Pack<T> sum = splat(static_cast<T>(reduce_row<Sum, T>(y, n)));
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    put<T>(y, i, get(y + i, left) / sum, left);
  });
}

template <typename T>
void log_softmax(const T* x, T* y, int64_t n) {
  T largest = 0;
  const ExpSum sum = exp_sum(x, n, &largest);
  const Pack<T> m = splat(largest);
  const Pack<T> l = splat(static_cast<T>(__builtin_log1p(sum.others())));
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    put<T>(y, i, get(x + i, left) - m - l, left);
  });
}

// Computes y (g - sum(g y)), rounded as the expansion rounds it.
template <typename T>
void softmax_grad(const T* g, const T* y, T* z, int64_t n) {
  const double sum = join_row<Sum, T>(n, [&](int64_t i, int64_t left) {
    return load_rest<Sum, T>(g + i, left) * load_rest<Sum, T>(y + i, left);
  });
  const Pack<T> s = splat(static_cast<T>(sum));
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    const Pack<T> p = get(y + i, left);
    put<T>(z, i, get(g + i, left) * p - p * s, left);
  });
}

template <typename T>
void log_softmax_grad(const T* g, const T* y, T* z, int64_t n) {
  const Pack<T> s = splat(static_cast<T>(reduce_row<Sum, T>(g, n)));
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    put<T>(z, i, get(g + i, left) - exp(get(y + i, left)) * s, left);
  });
}

// Sums loss(x - y), which must be 0 of 0.
template <typename T, typename Loss>
inline double distance(const T* x, const T* y, int64_t n, const Loss& loss) {
  return join_row<Sum, T>(n, [&](int64_t i, int64_t left) {
    return loss(load_rest<Sum, T>(x + i, left) -
                load_rest<Sum, T>(y + i, left));
  });
}

template <typename T>
double mse(const T* x, const T* y, int64_t n, T /*delta*/) {
  return distance(x, y, n, [](Pack<T> d) { return square_loss(d); });
}

template <typename T>
double huber(const T* x, const T* y, int64_t n, T delta) {
  const Pack<T> most = splat(delta);
  return distance(x, y, n, [&](Pack<T> d) { return huber_loss(d, most); });
}

template <typename T>
void moments(const T* x, int64_t n, T shift, double* sum, double* square) {
  const Pack<T> m = splat(shift);
  const auto off = [&](int64_t i, int64_t left) {
    const Pack<T> d = get(x + i, left) - m;
    return left == kWidth<T> ? d : first_lanes<T>(left) ? d : Pack<T>{};
  };
  *sum = join_row<Sum, T>(n, off);
  *square = join_row<Sum, T>(n, [&](int64_t i, int64_t left) {
    const Pack<T> d = off(i, left);
    return d * d;
  });
}

// Of columns, the first of which has shift[0].
template <typename T>
void column_moments(const T* x, int64_t rows, int64_t width, int64_t columns,
                    const T* shift, double* sum, double* square) {
  const auto off = [=](Pack<T> e, int64_t c) {
    return e -
           get(shift + c, columns - c < kWidth<T> ? columns - c : kWidth<T>);
  };
  join_columns<Sum, T>(x, rows, width, columns, sum, off);
  join_columns<Sum, T>(x, rows, width, columns, square,
                       [=](Pack<T> e, int64_t c) {
                         const Pack<T> d = off(e, c);
                         return d * d;
                       });
}

// Computes (x - shift - rest) * factor * g.
template <typename T>
void spread(const T* x, T* z, int64_t n, T shift, T rest, T factor, T g) {
  const Pack<T> s = splat(shift), r = splat(rest);
  const Pack<T> f = splat(factor), all = splat(g);
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    put<T>(z, i, (get(x + i, left) - s - r) * f * all, left);
  });
}
template <typename T>
void column_spread(const T* x, T* z, int64_t rows, int64_t width,
                   int64_t columns, const T* shift, const T* rest,
                   const T* factor, const T* g) {
  for (int64_t r = 0; r < rows; ++r, x += width, z += width) {
    each_pack<T>(columns, [&](int64_t c, int64_t left) {
      const Pack<T> off =
          get(x + c, left) - get(shift + c, left) - get(rest + c, left);
      put<T>(z, c, off * get(factor + c, left) * get(g + c, left), left);
    });
  }
}

// Splits x into a fraction from 1 to 2, which is returned, and an exponent,
// which is added to `exponent`. What is 0, inf or nan is its own fraction.
template <typename T>
inline Pack<T> split(Pack<T> x, Mask<T>& exponent) {
  using I = std::remove_cvref_t<decltype(Mask<T>{}[0])>;
  constexpr bool kDouble = sizeof(T) == 8;
  constexpr int kMantissa = kDouble ? 52 : 23;
  constexpr I kMost = kDouble ? 0x7ff : 0xff;
  constexpr I kBias = kMost / 2;
  constexpr I kUp = 64;  // lifts a subnormal number
  const Mask<T> no{};
  const auto field_of = [](Pack<T> y) {
    return (reinterpret_cast<Mask<T>>(y) >> kMantissa) & kMost;
  };
  const Mask<T> low = field_of(x) == 0;
  const Pack<T> y = low ? x * splat(static_cast<T>(0x1p64)) : x;
  const Mask<T> field = field_of(y);
  const Mask<T> usual = (field != 0) & (field != kMost);
  exponent += usual ? field - kBias - (low ? no + kUp : no) : no;
  const Mask<T> fraction =
      (reinterpret_cast<Mask<T>>(y) & ~(kMost << kMantissa)) |
      (kBias << kMantissa);
  return usual ? reinterpret_cast<Pack<T>>(fraction) : x;
}

// True if some lane is so far from 1 that `count` of its kind may leave the
// range of T, as 0, inf and nan are.
template <typename T, int kCount>
inline bool any_far(Pack<T> x) {
  constexpr int kAll = (sizeof(T) == 8 ? 1000 : 120) / kCount;
  constexpr int kBits = kAll < 62 ? kAll : 62;
  constexpr auto kHigh = static_cast<T>(uint64_t{1} << kBits);
  const Pack<T> a = x < 0 ? -x : x;
  const Mask<T> near = (a <= splat(kHigh)) & (a >= splat(1 / kHigh));
  return any(~near);
}

// Multiplies map(i, left) over the packs of a row. Where elements are near 1,
// as they mostly are, a few packs are multiplied before exponents are looked
// at.
template <typename T, typename Map>
inline Scaled multiply_row(int64_t n, const Map& map) {
  constexpr int kOnce = sizeof(T) == 8 ? 16 : 8;
  // The packs' lanes are joined in double.
  constexpr int kLane = sizeof(T) == 8 ? 2 * kWidth<T> : 4;
  if (n <= kWidth<T>) {
    if (n == 0) return {};
    const Pack<T> x = map(0, n);
    if (!any_far<T, kLane>(x)) return {join_lanes<Product, T>(x), 0};
  }
  Pack<T> fraction = splat(T{1});
  Mask<T> exponent{};
  for (int64_t i = 0; i < n; i += kOnce * kWidth<T>) {
    Pack<T> x[kOnce];
    bool far = false;
    for (int k = 0; k < kOnce; ++k) {
      const int64_t at = i + k * kWidth<T>;
      const int64_t left = n - at;
      x[k] = left <= 0           ? splat(T{1})
             : left >= kWidth<T> ? map(at, kWidth<T>)
                                 : map(at, left);
      far = any_far<T, kOnce>(x[k]) || far;
    }
    if (far) {
      for (Pack<T>& each : x) each = split<T>(each, exponent);
    }
    Pack<T> product = x[0];
    for (int k = 1; k < kOnce; ++k) product *= x[k];
    fraction *= split<T>(product, exponent);
    fraction = split<T>(fraction, exponent);
  }
  int64_t total = 0;
  for (int64_t k = 0; k < kWidth<T>; ++k) total += exponent[k];
  return {join_lanes<Product, T>(fraction), total};
}

template <typename T>
Scaled product(const T* x, int64_t n) {
  return multiply_row<T>(n, [x](int64_t i, int64_t left) {
    return load_rest<Product, T>(x + i, left);
  });
}

// An element's gradient is g times the product of the others, which is that of
// all elements that are not zero, divided by the element. Beside a zero it is
// 0: in a row with one zero only that zero's gradient is not 0, and in a row
// with more none is. Rounded as the expansion rounds.
template <typename T>
void prod_grad(T g, const T* x, T* z, int64_t n) {
  const Pack<T> one = splat(T{1});
  const Pack<T> none{};
  bool far = false;
  bool has_zero = false;
  const Scaled others_of = multiply_row<T>(n, [&](int64_t i, int64_t left) {
    const Pack<T> a = load_rest<Product, T>(x + i, left);
    const Mask<T> is_zero = a == 0;
    has_zero = any(is_zero) || has_zero;
    const Pack<T> b = a == 0 ? one : a;
    far = any_far<T, 2>(b) || far;
    return b;
  });
  double zeros = 0;
  if (has_zero) {
    zeros = join_row<Sum, T>(n, [&](int64_t i, int64_t left) {
      return load_rest<Product, T>(x + i, left) == 0 ? one : none;
    });
  }
  const auto bits = static_cast<double>(others_of.exponent);
  constexpr double kNear = sizeof(T) == 8 ? 500 : 60;
  if (far || bits > kNear || bits < -kNear) {
    for (int64_t i = 0; i < n; ++i) {
      const bool zero = x[i] == 0;
      int exponent = 0;
      const double own =
          zero ? 1 : __builtin_frexp(static_cast<double>(x[i]), &exponent);
      const Scaled others{static_cast<double>(g) * (others_of.fraction / own),
                          others_of.exponent - exponent};
      z[i] = (zero ? 1 : 0) == zeros ? static_cast<T>(value_of(others)) : T{0};
    }
    return;
  }
  const bool plain = others_of.exponent == 0;
  const double others = plain ? others_of.fraction : value_of(others_of);
  const Pack<T> p = splat(static_cast<T>(others));
  const Pack<T> scale = splat(g);
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    const Pack<T> a = get(x + i, left);
    const auto zero = a == 0;
    const Pack<T> slope = scale * (p / (zero ? one : a));
    const Pack<T> own = zero ? one : none;
    put<T>(z, i, own == splat(static_cast<T>(zeros)) ? slope : none, left);
  });
}

template <typename T>
void sgd(const T* w, const T* g, const T* v, T* w_out, T* v_out, int64_t n,
         T lr, T momentum) {
  const Pack<T> rate = splat(lr);
  const Pack<T> keep = splat(momentum);
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    Pack<T> step = get(g + i, left);
    if (v != nullptr) {
      step = get(v + i, left) * keep + step;
      put<T>(v_out, i, step, left);
    }
    put<T>(w_out, i, get(w + i, left) - step * rate, left);
  });
}

template <typename T>
void adamw(const T* const* wgmv, T* const* wmv_out, int64_t n,
           const AdamwFactors& f) {
  const auto all = [](double x) { return splat(static_cast<T>(x)); };
  const Pack<T> keep = all(f.keep), rate = all(f.rate), root_of = all(f.root);
  const Pack<T> beta1 = all(f.beta1), rest1 = all(1 - f.beta1);
  const Pack<T> beta2 = all(f.beta2), rest2 = all(1 - f.beta2);
  const Pack<T> eps = all(f.eps);
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    const Pack<T> g = get(wgmv[1] + i, left);
    const Pack<T> m = get(wgmv[2] + i, left) * beta1 + g * rest1;
    const Pack<T> v = get(wgmv[3] + i, left) * beta2 + g * rest2 * g;
    const Pack<T> step = m / (root(v) / root_of + eps) * rate;
    put<T>(wmv_out[1], i, m, left);
    put<T>(wmv_out[2], i, v, left);
    put<T>(wmv_out[0], i, get(wgmv[0] + i, left) * keep - step, left);
  });
}

template <typename T>
void scale(const T* x, T* y, int64_t n, T factor) {
  const Pack<T> f = splat(factor);
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    put<T>(y, i, get(x + i, left) * f, left);
  });
}

template <typename T>
void add_to(T* y, const T* x, int64_t n) {
  each_pack<T>(n, [&](int64_t i, int64_t left) {
    put<T>(y, i, get(y + i, left) + get(x + i, left), left);
  });
}

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
