// Steps of optimizers, for as many parameters as a launch has items.
#pragma once

#include "items.cuh"

namespace gt {

template <typename Scalar>
inline f64 scalar(const Args& a, int k) {
  return static_cast<f64>(widen(Scalar::at(a, k, 0)));
}

// Operands of an item: w g [v]; its results: w [v]. Operands of Args: lr and,
// as a number, the momentum.
template <typename T, bool kVelocity, typename Rate>
inline void sgd(const Args& a, const Items& items) {
  using V = Wide<T>;
  const V rate = static_cast<V>(scalar<Rate>(a, 0));
  const V momentum = static_cast<V>(bits_as<f64>(a.in[1]));
  GT_BLOCKS(b, items.blocks) {
    GT_ALONE(t) {
      each_pack<kPackOf<T>>(
          items, b, t,
          [&](const Item& p, int64_t i, int64_t left, auto is_whole) {
            constexpr bool kWhole = is_whole.value;
            Pack<T> w = load_item<T, kWhole>(p.in[0], i, left);
            const Pack<T> g = load_item<T, kWhole>(p.in[1], i, left);
            Pack<T> v;
            if constexpr (kVelocity) v = load_item<T, kWhole>(p.in[2], i, left);
#pragma unroll
            for (int j = 0; j < kPackOf<T>; ++j) {
              V step = widen(g.x[j]);
              if constexpr (kVelocity) {
                step = widen(v.x[j]) * momentum + step;
                v.x[j] = to<T>(step);
              }
              w.x[j] = to<T>(widen(w.x[j]) - step * rate);
            }
            if constexpr (kVelocity) store_item<kWhole>(p.out[1], i, left, v);
            store_item<kWhole>(p.out[0], i, left, w);
          });
    }
  }
}

// Operands of an item: w g m v; its results: w m v. Operands of Args: t lr and,
// as numbers, beta1 and beta2; Args::n[0] and n[1] are the bits of eps and of
// the decay. What depends on these alone is computed in f64, as
// torch.optim.AdamW does it, once for each block.
template <typename T, typename Step, typename Rate>
inline void adamw(const Args& a, const Items& items) {
  using V = Wide<T>;
  GT_SHARED V pace;
  GT_SHARED V scale;
  const f64 rate = scalar<Rate>(a, 1);
  const f64 beta1 = bits_as<f64>(a.in[2]);
  const f64 beta2 = bits_as<f64>(a.in[3]);
  const V keep = static_cast<V>(1 - rate * bits_as<f64>(a.n[1]));
  const V eps = static_cast<V>(bits_as<f64>(a.n[0]));
  GT_BLOCKS(b, items.blocks) {
    GT_PHASE(t) {
      // Two warps compute one power each at the same time, since a power is
      // slow.
      const f64 step = t % 32 == 0 ? scalar<Step>(a, 0) : f64(1);
      if (!(step > 0)) fault(a, 0);
      if (t == 0) pace = static_cast<V>(rate / (1 - pow(beta1, step)));
      if (t == 32) scale = static_cast<V>(root(1 - pow(beta2, step)));
    }
    GT_ALONE(t) {
      each_pack<kPackOf<T>>(
          items, b, t,
          [&](const Item& p, int64_t i, int64_t left, auto is_whole) {
            constexpr bool kWhole = is_whole.value;
            Pack<T> w = load_item<T, kWhole>(p.in[0], i, left);
            const Pack<T> g = load_item<T, kWhole>(p.in[1], i, left);
            Pack<T> m = load_item<T, kWhole>(p.in[2], i, left);
            Pack<T> v = load_item<T, kWhole>(p.in[3], i, left);
#pragma unroll
            for (int j = 0; j < kPackOf<T>; ++j) {
              const V gj = widen(g.x[j]);
              const V mj = widen(m.x[j]) * static_cast<V>(beta1) +
                           gj * static_cast<V>(1 - beta1);
              const V vj = widen(v.x[j]) * static_cast<V>(beta2) +
                           gj * static_cast<V>(1 - beta2) * gj;
              const V wj = widen(w.x[j]) * keep;
              m.x[j] = to<T>(mj);
              v.x[j] = to<T>(vj);
              w.x[j] = to<T>(wj - mj / (root(vj) / scale + eps) * pace);
            }
            store_item<kWhole>(p.out[1], i, left, m);
            store_item<kWhole>(p.out[2], i, left, v);
            store_item<kWhole>(p.out[0], i, left, w);
          });
    }
    GT_BARRIER();
  }
}

// Copies t, which must be the number of a step, from 1.
template <typename T, typename Step>
inline void step_number(const Args& a) {
  GT_EACH(i, 1) {
    const f64 t = scalar<Step>(a, 0);
    if (!(t > 0)) fault(a, 0);
    out<T>(a, 0)[i] = to<T>(t);
  }
}

// Copies p, which must be from 0 to 1.
template <typename T, typename Probability>
inline void probability(const Args& a) {
  GT_EACH(i, 1) {
    const f64 p = scalar<Probability>(a, 0);
    if (!(p >= 0 && p <= 1)) fault(a, 0);
    out<T>(a, 0)[i] = to<T>(p);
  }
}

}  // namespace gt
