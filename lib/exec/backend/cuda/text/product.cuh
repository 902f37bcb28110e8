// Matrix products that no library computes: those of integers and of mixed
// dtypes.
#pragma once

#include "reduce.cuh"

namespace gt {

// c[..,i,j] is the sum of a[..,i,k] b[..,k,j] over k. Args::n: elements, m, n,
// k; the strides of a's rows and columns and of b's rows and columns; then the
// places of the matrices of a and of b.
template <typename A, typename B, typename R>
inline void product(const Args& a) {
  using T = Total<R>;
  const int64_t* of_a = a.n + 8;
  const int64_t* of_b = of_a + place_size(of_a);
  GT_EACH(u, a.n[0]) {
    const int64_t j = u % a.n[2];
    const int64_t i = u / a.n[2] % a.n[1];
    const int64_t matrix = u / a.n[2] / a.n[1];
    const A* x = in<A>(a, 0) + place(of_a, matrix) + i * a.n[4];
    const B* y = in<B>(a, 1) + place(of_b, matrix) + j * a.n[7];
    typename T::type sum(0);
    for (int64_t k = 0; k < a.n[3]; ++k) {
      using V = typename T::type;
      sum = sum + V(widen(x[k * a.n[5]])) * V(widen(y[k * a.n[6]]));
    }
    out<R>(a, 0)[u] = to<R>(plain(sum));
  }
}

}  // namespace gt
