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
// decay are the bits of Args::n[1] and n[2]. What depends on scalars alone is
// computed in f64, as torch.optim.AdamW has it.
template <typename T, typename Step, typename Rate>
inline void adamw(const Args& a) {
  using V = Wide<T>;
  const f64 t = scalar<Step>(a, 4);
  const f64 rate = scalar<Rate>(a, 5);
  const f64 beta1 = bits_as<f64>(a.in[6]);
  const f64 beta2 = bits_as<f64>(a.in[7]);
  if (!(t > 0)) fault(a, 0);
  const V keep = static_cast<V>(1 - rate * bits_as<f64>(a.n[2]));
  const V pace = static_cast<V>(rate / (1 - pow(beta1, t)));
  const V scale = static_cast<V>(root(1 - pow(beta2, t)));
  const V eps = static_cast<V>(bits_as<f64>(a.n[1]));
  GT_EACH(i, a.n[0]) {
    const V g = widen(in<T>(a, 1)[i]);
    const V m = widen(in<T>(a, 2)[i]) * static_cast<V>(beta1) +
                g * static_cast<V>(1 - beta1);
    const V v = widen(in<T>(a, 3)[i]) * static_cast<V>(beta2) +
                g * g * static_cast<V>(1 - beta2);
    const V w = widen(in<T>(a, 0)[i]) * keep;
    out<T>(a, 1)[i] = to<T>(m);
    out<T>(a, 2)[i] = to<T>(v);
    out<T>(a, 0)[i] = to<T>(w - m / (root(v) / scale + eps) * pace);
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
