// The expansions and gradients of losses, as text; losses.cc says what their
// placeholders are.
#pragma once

#include "ops/row_text.h"

namespace gt::loss_texts {

// Computes y: what reduction= makes of l, the loss of each element.
inline constexpr char kReduced[] = R"(
       [reduction=none] y = copy l
       [reduction=sum] y = sum l
       [reduction=mean] y = mean l)";

// Compute c and r, of which an element's loss is the product.
inline constexpr char kSquareFactors[] = R"(
       [apart=1] c = sub x target
       [apart=1] r = copy c)";
inline constexpr char kHuberFactors[] = R"(
       [apart=1] t = sub x target
       [apart=1] a = abs t
       [apart=1] c = minimum a {delta}
       [apart=1] h = mul c 0.5
       [apart=1] r = sub a h)";
// Computes y unless it is a mean.
inline constexpr char kProducts[] = R"(
       [apart=1] l = mul c r
       [reduction=none] y = copy l
       [reduction=sum] y = sum l)";
// A loss may leave the range where the mean does not. f64 has room for those of
// all other dtypes; those of f64 are lessened by a power of two.
inline constexpr char kMeanOfProducts[] = R"(
       [room=f64] cw = cast c f64
       [room=f64] rw = cast r f64
       [room=less] cw = mul c {less}
       [room=less] rw = mul r {less}
       l = mul cw rw
       m = part_mean l divisor={divisor}
       [room=f64] y = cast m {x.dtype}
       [room=less] y = mul m {more})";

inline constexpr char kMseGradient[] = R"(
       t = sub x target
       s = mul dy {factor}
       u = mul t s
       dx = copy u
       dtarget = neg u)";
inline constexpr auto kMse = row_text(kSquareFactors, kProducts, R"(
       [reduction=mean] y = part_mse x target divisor={count})");
inline constexpr auto kPartMse = row_text(kSquareFactors, kMeanOfProducts);
inline constexpr char kHuberGradient[] = R"(
       t = sub x target
       c = clamp t {below} {delta}
       [mean_of=none] s = copy dy
       [mean_of!=none] s = div dy {mean_of}
       u = mul c s
       dx = copy u
       dtarget = neg u)";
inline constexpr auto kHuber = row_text(kHuberFactors, kProducts, R"(
       [reduction=mean] y = part_huber x target divisor={count} delta={delta})");
inline constexpr auto kPartHuber = row_text(kHuberFactors, kMeanOfProducts);

inline constexpr auto kBce = row_text(R"(
       a = log x
       b = maximum a -100
       o = neg x
       c = log1p o
       e = maximum c -100
       p = mul target b
       r = sub target 1
       q = mul r e
       l = sub q p)",
                                      kReduced);

// Computes f and e, the weights of the rows, where those that are ignored have
// none, and of the classes. A mean only depends on how weights compare, so the
// largest of the rows' is made 1: their sums and products then stay in range.
inline constexpr char kWeights[] = R"(
       [weight] e0 = cast weight {wide}
       [weight] f0 = take e0 s axis=0
       [weight ignore_index] fv = where v f0 0
       [weight !ignore_index] fv = copy f0
       [counted=weights] fa = abs fv
       [counted=weights] ft = max fa
       [counted=weights] fz = eq ft 0
       [counted=weights] fm = where fz 1 ft
       [counted=weights] f = div fv fm
       [counted=weights] e = div e0 fm
       [weight counted!=weights] f = copy fv
       [weight counted!=weights] e = copy e0)";

// With weights, ignored classes or smoothing, a row's target is a distribution,
// d. Its product with -log_softmax x is the row's loss.
inline constexpr auto kCrossEntropyGradient = row_text(R"(
       [plain=1] dx = cross_entropy_grad dy x target reduction={reduction}
       [plain=0] c = cast x {wide}
       [plain=0] l = log_softmax c
       [ignore_index] q = cast target i64
       [ignore_index] v = ne q {ignore_index}
       [ignore_index] s = where v q 0
       [!ignore_index] s = copy target
       [plain=0] t = unsqueeze s axis=-1)",
                                                       kWeights, R"(
       [plain=0] g = cast dy {wide}
       [counted=weights] n = sum f
       [counted=flags] fn = cast v {wide}
       [counted=flags] n = sum fn
       [plain=0 counted=number] h = div g {count}
       [reduction=mean counted!=number] h = div g n
       [plain=0 reduction!=mean] h = copy g
       [plain=0] r = zeros {target.rows}
       [plain=0] k = add r h
       [ignore_index] kv = where v k 0
       [plain=0 !ignore_index] kv = copy k
       [weight] kf = mul kv f
       [plain=0 !weight] kf = copy kv
       [plain=0] o0 = mul kf {own}
       [plain=0] o = unsqueeze o0 axis=-1
       [smooth=1] a0 = full {x.wide} {shared}
       [smooth=1 weight] a1 = mul a0 e
       [smooth=1 !weight] a1 = copy a0
       [smooth=1] ku = unsqueeze kv axis=-1
       [smooth=1] a = mul a1 ku
       [plain=0 smooth=0] a = zeros {x.wide}
       [plain=0] d = scatter_add a t o axis=-1
       [plain=0] dx = log_softmax_grad d l)");
inline constexpr auto kCrossEntropy = row_text(R"(
       [plain=1 reduction=mean] a = cross_entropy x target reduction=none
       [plain=1 reduction=mean] y = mean a
       [plain=1 reduction!=mean] l = log_softmax x
       [plain=1 reduction!=mean] t = unsqueeze target axis=-1
       [plain=1 reduction!=mean] p = gather l t axis=-1
       [plain=1 reduction!=mean] n = neg p
       [plain=1 reduction=none] y = squeeze n axis=-1
       [plain=1 reduction=sum] y = sum n
       [plain=0] l = log_softmax x
       [ignore_index] i = cast target i64
       [ignore_index] v = ne i {ignore_index}
       [ignore_index] s = where v i 0
       [!ignore_index] s = copy target
       [plain=0] t = unsqueeze s axis=-1
       [plain=0] p = gather l t axis=-1
       [plain=0] o = squeeze p axis=-1
       [plain=0] m = mul o {own})",
                                               kWeights, R"(
       [weight] mf = mul m f
       [plain=0 !weight] mf = copy m
       [smooth=1 weight] le = mul l e
       [smooth=1 !weight] le = copy l
       [smooth=1] u = mean le axis=-1
       [smooth=1] us = mul u {evenly}
       [smooth=1] b = add mf us
       [plain=0 smooth=0] b = copy mf
       [ignore_index] z = where v b 0
       [plain=0 !ignore_index] z = copy b
       [plain=0 reduction=none] r = copy z
       [plain=0 reduction=sum] r = sum z
       [counted=weights] fn = copy f
       [counted=flags] fn = cast v {wide}
       [reduction=mean counted!=number] k = mean z
       [reduction=mean counted!=number] d = mean fn
       [reduction=mean counted!=number] r = div k d
       [plain=0 counted=number] r = mean z
       [plain=0] y = copy r)");

}  // namespace gt::loss_texts
