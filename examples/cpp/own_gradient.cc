// A training loop with a gradient rule and a step of its own. The weights are
// used as their signs alone, 1 and -1, whose gradient is 0 almost everywhere;
// it is passed straight through instead (Bengio, Leonard and Courville,
// Estimating or propagating gradients through stochastic neurons, 2013).
// Weights stay within -1 and 1.
//
//   own_gradient [STEPS]
#include <gt/nn.h>

#include <cstdlib>
#include <iostream>

namespace {

// sign(w) going forward, w going backward.
gt::Tensor binary(const gt::Tensor& w) { return w + (sign(w) - w).detach(); }

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 60;
  const gt::Tensor x = gt::randn({256, 16}, 1);
  const gt::Tensor secret = sign(gt::randn({16, 1}, 2));
  const gt::Tensor target = gt::matmul(x, secret);

  gt::Tensor w = gt::randn({16, 1}, 3, {.scale = 0.1});
  w.name("w").requires_grad_();
  for (int step = 0; step < steps; ++step) {
    const gt::Tensor loss = gt::mse(gt::matmul(x, binary(w)), target);
    const gt::Tensor g = gt::grad(loss, {w})[0];
    const gt::NoGrad no_grad;
    w -= 0.02 * g;
    w.clamp_(-1, 1);
  }
  const gt::Tensor right = (sign(w) == secret).cast(gt::f32).mean();
  std::cout << "signs found: " << right.item() << '\n';
}
