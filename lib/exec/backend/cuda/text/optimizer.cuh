// Steps of training, one element a thread.
#pragma once

#include "common.cuh"

namespace gt {

template <typename Scalar>
inline f64 scalar(const Args& a, int k) {
  return static_cast<f64>(widen(Scalar::at(a, k, 0)));
}

// w g v lr. Args::n: elements. The momentum is in in[4], as a number is.
template <typename T, bool kVelocity, typename Rate>
inline void sgd(const Args& a) {
  using V = Wide<T>;
  const V rate = static_cast<V>(scalar<Rate>(a, 3));
  const V momentum = static_cast<V>(bits_as<f64>(a.in[4]));
  GT_EACH(i, a.n[0]) {
    V step = widen(in<T>(a, 1)[i]);
    if constexpr (kVelocity) {
      step = widen(in<T>(a, 2)[i]) * momentum + step;
      out<T>(a, 1)[i] = to<T>(step);
    }
    out<T>(a, 0)[i] = to<T>(widen(in<T>(a, 0)[i]) - step * rate);
  }
}

// w g m v t lr, and beta1, beta2 in in[6] and in[7] as numbers are; eps and the
// decay are the bits of Args::n[1] and n[2], n[3] is how many blocks there are.
// What depends on scalars alone is computed in f64, as torch.optim.AdamW has
// it, once for a block.
template <typename T, typename Step, typename Rate>
inline void adamw(const Args& a) {
  using V = Wide<T>;
  constexpr int kPack = kPackOf<T>;
  GT_SHARED V pace;
  GT_SHARED V scale;
  const f64 rate = scalar<Rate>(a, 5);
  const f64 beta1 = bits_as<f64>(a.in[6]);
  const f64 beta2 = bits_as<f64>(a.in[7]);
  const V keep = static_cast<V>(1 - rate * bits_as<f64>(a.n[2]));
  const V eps = static_cast<V>(bits_as<f64>(a.n[1]));
  const bool even = is_even(a.in[0] | a.in[1] | a.in[2] | a.in[3] | a.out[0] |
                            a.out[1] | a.out[2]);
  GT_BLOCKS(b, a.n[3]) {
    GT_PHASE(t) {
      // By two warps, since a power takes its time.
      const f64 step = t % 32 == 0 ? scalar<Step>(a, 4) : f64(1);
      if (!(step > 0)) fault(a, 0);
      if (t == 0) pace = static_cast<V>(rate / (1 - pow(beta1, step)));
      if (t == 32) scale = static_cast<V>(root(1 - pow(beta2, step)));
    }
    GT_ALONE(t) {
      for (int64_t i = (b * kThreads + t) * kPack; i < a.n[0];
           i += a.n[3] * kThreads * kPack) {
        const int64_t left = a.n[0] - i;
        with_constant(even && left >= kPack, [&](auto is_whole) {
          constexpr bool kWhole = is_whole.value;
          const auto load = [&](int k) {
            return load_pack<kWhole, kPack>(in<T>(a, k) + i, 1, left, T{});
          };
          Pack<T> w = load(0);
          const Pack<T> g = load(1);
          Pack<T> m = load(2);
          Pack<T> v = load(3);
#pragma unroll
          for (int j = 0; j < kPack; ++j) {
            const V gj = widen(g.x[j]);
            const V mj = widen(m.x[j]) * static_cast<V>(beta1) +
                         gj * static_cast<V>(1 - beta1);
            const V vj = widen(v.x[j]) * static_cast<V>(beta2) +
                         gj * gj * static_cast<V>(1 - beta2);
            const V wj = widen(w.x[j]) * keep;
            m.x[j] = to<T>(mj);
            v.x[j] = to<T>(vj);
            w.x[j] = to<T>(wj - mj / (root(vj) / scale + eps) * pace);
          }
          store_pack<kWhole>(out<T>(a, 1) + i, 1, left, m);
          store_pack<kWhole>(out<T>(a, 2) + i, 1, left, v);
          store_pack<kWhole>(out<T>(a, 0) + i, 1, left, w);
        });
      }
    }
    GT_BARRIER();
  }
}

// t, which must be the number of a step, from 1.
template <typename T, typename Step>
inline void step_number(const Args& a) {
  GT_EACH(i, 1) {
    const f64 t = scalar<Step>(a, 0);
    if (!(t > 0)) fault(a, 0);
    out<T>(a, 0)[i] = to<T>(t);
  }
}

}  // namespace gt
