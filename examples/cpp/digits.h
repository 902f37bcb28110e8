// The model of digits.cc and serve.cc.
#pragma once

#include <gt/nn.h>

struct Digits : gt::nn::Module {
  using Module::Module;
  gt::nn::Linear hidden{this, "hidden", 64, 128};
  gt::nn::Linear out{this, "out", 128, 10};

  gt::Tensor operator()(const gt::Tensor& x) const {
    gt::Tensor h;
    {
      const gt::Signal signal("hidden");
      h = relu(hidden(x));
    }
    const gt::Signal signal("out");
    return out(h);
  }
};
