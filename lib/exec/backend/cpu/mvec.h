// The functions of glibc's libmvec, called through its vector ABI, for which
// elementary.h has none of its own; they are within 4 units in the last place.
// See pack.h for who may include this.
#pragma once

#include "exec/backend/cpu/pack.h"

namespace gt::exec::cpu::GT_ISA {

// The names of libmvec's functions consist of the ISA, masked or not, the
// number of lanes, and a "v" for each argument.
#if GT_PACK_BYTES == 64
#define GT_MVEC_F32(args, name) _ZGVeN16##args##_##name##f
#define GT_MVEC_F64(args, name) _ZGVeN8##args##_##name
#elif GT_PACK_BYTES == 32
#define GT_MVEC_F32(args, name) _ZGVdN8##args##_##name##f
#define GT_MVEC_F64(args, name) _ZGVdN4##args##_##name
#else
#define GT_MVEC_F32(args, name) _ZGVbN4##args##_##name##f
#define GT_MVEC_F64(args, name) _ZGVbN2##args##_##name
#endif
#define GT_MVEC_OF_F32(name, as)            \
  extern "C" F32 GT_MVEC_F32(v, name)(F32); \
  inline F32 as(F32 x) { return GT_MVEC_F32(v, name)(x); }
#define GT_MVEC_OF_F64(name, as)            \
  extern "C" F64 GT_MVEC_F64(v, name)(F64); \
  inline F64 as(F64 x) { return GT_MVEC_F64(v, name)(x); }

#define GT_MVEC_OF_TWO(name)                                            \
  extern "C" F32 GT_MVEC_F32(vv, name)(F32, F32);                       \
  extern "C" F64 GT_MVEC_F64(vv, name)(F64, F64);                       \
  inline F32 name(F32 x, F32 y) { return GT_MVEC_F32(vv, name)(x, y); } \
  inline F64 name(F64 x, F64 y) { return GT_MVEC_F64(vv, name)(x, y); }

GT_MVEC_OF_F32(atan, atan)
GT_MVEC_OF_F64(atan, atan)
GT_MVEC_OF_F64(tanh, tanh)
GT_MVEC_OF_F64(erf, erf)
GT_MVEC_OF_F64(erfc, erfc)
GT_MVEC_OF_F32(sinh, sinh)
GT_MVEC_OF_F64(sinh, sinh)
GT_MVEC_OF_F32(cosh, cosh)
GT_MVEC_OF_F64(cosh, cosh)
GT_MVEC_OF_TWO(hypot)
GT_MVEC_OF_TWO(pow)
GT_MVEC_OF_TWO(atan2)

#if GT_PACK_BYTES == 16

GT_MVEC_OF_F32(exp, plain_exp)
GT_MVEC_OF_F64(exp, plain_exp)
GT_MVEC_OF_F32(log, log)
GT_MVEC_OF_F64(log, log)
GT_MVEC_OF_F32(sin, sin)
GT_MVEC_OF_F64(sin, sin)
GT_MVEC_OF_F32(cos, cos)
GT_MVEC_OF_F64(cos, cos)
GT_MVEC_OF_F32(expm1, expm1)
GT_MVEC_OF_F64(expm1, expm1)
GT_MVEC_OF_F32(log1p, log1p)
GT_MVEC_OF_F64(log1p, log1p)
GT_MVEC_OF_F32(tanh, tanh)
GT_MVEC_OF_F32(erf, erf)
GT_MVEC_OF_F32(erfc, erfc)

// libmvec takes 20 times longer where the result is 0 or inf, as in the softmax
// of masked logits, so such lanes are not passed to it.
template <typename V, typename T>
inline V exp_between(V x, T low, T high) {
  const auto beyond = (x < low) | (x > high);
  const V y = plain_exp(beyond ? V{} : x);
  const V far = x > 0 ? V{} + static_cast<T>(__builtin_inf()) : V{};
  return beyond ? far : y;
}
inline F32 exp(F32 x) { return exp_between(x, -104.0F, 88.75F); }
inline F64 exp(F64 x) { return exp_between(x, -746.0, 709.8); }

#endif

}  // namespace gt::exec::cpu::GT_ISA

#undef GT_MVEC_OF_F32
#undef GT_MVEC_OF_F64
#undef GT_MVEC_OF_TWO
