// The losses of a distance d from a target, of a number or of a pack of them.
#pragma once

namespace gt::exec::cpu {

template <typename V>
static inline V square_loss(V d) {
  return d * d;
}

// Half the square up to delta, linear from there.
template <typename V>
static inline V huber_loss(V d, V delta) {
  const V a = d < 0 ? -d : d;
  const V c = a > delta ? delta : a;
  return c * (a - c / 2);
}

}  // namespace gt::exec::cpu
