// The losses that are not ops of the language (as cross_entropy, mse, huber and
// bce are), with PyTorch's names and default reductions.
#pragma once

#include <string>

#include <gt/gt.h>

namespace gt::inline v1 {
namespace nn {

// Returns the mean of |x - target|.
inline Tensor l1_loss(const Tensor& x, const Tensor& target,
                      At at = At::here()) {
  return mean(abs(sub(x, target, at), at), {}, at);
}
// Returns the mean of d * d / (2 * beta) where d = |x - target| is below beta,
// and of d - beta / 2 elsewhere.
inline Tensor smooth_l1_loss(const Tensor& x, const Tensor& target,
                             double beta = 1, At at = At::here()) {
  // Where beta times a difference, or its square, may be out of range, the
  // formula is written out.
  if (beta >= 0 && beta < 1e-37) return l1_loss(x, target, at);
  const bool is_extreme = beta > 0 && (beta < 1e-6 || beta > 1e6);
  if (!is_extreme) {
    return div(huber(x, target, {.delta = beta}, at), beta, at);
  }
  const Tensor d = abs(sub(x, target, at), at);
  const Tensor c = minimum(d, beta, at);
  const Tensor rest = sub(d, mul(c, 0.5, at), at);
  return mean(mul(div(c, beta, at), rest, at), {}, at);
}
// Returns bce(sigmoid(x), target), computed so that large x neither overflows
// nor loses the digits of a small loss: target * log(1 + exp(-x)) and (1 -
// target) * log(1 + exp(x)), where exp(-40) is less than the digits of f64.
inline Tensor bce_with_logits_loss(const Tensor& x, const Tensor& target,
                                   At at = At::here()) {
  const SoftplusOptions exact{.threshold = 40};
  const Tensor of_one = mul(target, softplus(neg(x, at), exact, at), at);
  const Tensor of_zero = mul(sub(1, target, at), softplus(x, exact, at), at);
  return mean(add(of_one, of_zero, at), {}, at);
}
// Returns the negative log likelihood: the mean of -x[i,target[i]]. x are
// logarithms of probabilities [n,classes], target are classes i64[n].
inline Tensor nll_loss(const Tensor& x, const Tensor& target,
                       At at = At::here()) {
  const Tensor classes = unsqueeze(target, {-1}, at);
  return neg(mean(gather(x, classes, {.axis = 1}, at), {}, at), at);
}
// Returns the Kullback-Leibler divergence of x, logarithms of probabilities,
// from target, probabilities: the sum over the classes, and the mean over the
// rows (PyTorch's reduction="batchmean").
inline Tensor kl_div(const Tensor& x, const Tensor& target,
                     At at = At::here()) {
  const Tensor known = log(where(ne(target, 0, at), target, 1, at), at);
  const Tensor terms = mul(target, sub(known, x, at), at);
  return div(sum(terms, {}, at), x.size(0, at), at);
}

}  // namespace nn
}  // namespace gt::inline v1
