// Losses beside those that are ops (cross_entropy, mse, huber, bce), with
// PyTorch's names and default reductions.
#pragma once

#include <string>

#include <gt/gt.h>

namespace gt::inline v1 {
namespace nn {

inline Tensor l1_loss(const Tensor& x, const Tensor& target,
                      At at = At::here()) {
  return mean(abs(sub(x, target, at), at), {}, at);
}
// The square of the difference over 2 beta where that is below beta; beyond it
// the difference, less beta / 2.
inline Tensor smooth_l1_loss(const Tensor& x, const Tensor& target,
                             double beta = 1, At at = At::here()) {
  return div(huber(x, target, {.delta = beta}, at), beta, at);
}
// bce of sigmoid(x), which large x does not bring out of range.
inline Tensor bce_with_logits_loss(const Tensor& x, const Tensor& target,
                                   At at = At::here()) {
  return mean(sub(softplus(x, {}, at), mul(x, target, at), at), {}, at);
}
// Of logarithms of probabilities [n,classes] and classes i64[n].
inline Tensor nll_loss(const Tensor& x, const Tensor& target,
                       At at = At::here()) {
  const Tensor classes = unsqueeze(target, {-1}, at);
  return neg(mean(gather(x, classes, {.axis = 1}, at), {}, at), at);
}
// Of logarithms of probabilities, where the target has the probabilities: the
// sum over the classes, and the mean over the rows (reduction="batchmean").
inline Tensor kl_div(const Tensor& x, const Tensor& target,
                     At at = At::here()) {
  const Tensor known = log(maximum(target, 1e-38, at), at);
  const Tensor terms = mul(target, sub(known, x, at), at);
  return div(sum(terms, {}, at), x.size(0, at), at);
}

}  // namespace nn
}  // namespace gt::inline v1
