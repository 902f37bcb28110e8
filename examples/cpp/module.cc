// A model of two layers, trained by hand: it learns the sum of ten numbers.
//
//   module [STEPS]
#include <gt/nn.h>

#include <cstdlib>
#include <iostream>

struct Model : gt::nn::Module {
  using Module::Module;
  gt::nn::Linear fc1{this, "fc1", 10, 20};
  gt::nn::Linear fc2{this, "fc2", 20, 1};

  gt::Tensor operator()(const gt::Tensor& x) const { return fc2(relu(fc1(x))); }
};

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 100;
  // Gradients: of the sum of 2 a by a.
  gt::Tensor a = gt::tensor({1.0F, 2.0F, 3.0F}).requires_grad_();
  (a * 2).sum().backward();
  std::cout << a.grad() << '\n';

  const Model model;
  const gt::Tensor x = gt::randn({64, 10}, 1);
  const gt::Tensor target = x.sum({.axis = 1, .keepdims = true});
  float first = 0, last = 0;
  for (int step = 0; step < steps; ++step) {
    const gt::Tensor loss = gt::mse(model(x), target);
    loss.backward();
    {
      const gt::NoGrad no_grad;
      for (gt::Tensor& w : model.parameters()) w -= 0.05 * w.grad();
    }
    model.zero_grad();
    if (step == 0) first = loss.item();
    if (step == steps - 1) last = loss.item();
  }
  std::cout << "loss " << first << " to " << last << '\n';
}
