// The digits of examples/cpp/digits.cc with libtorch: the same model, data and
// steps, from the same first weights, which it reads from a directory of .npy
// files of float32. It prints the loss of each epoch's last batch. Its time to
// compile is what cpp.py measures beside that of the other.
//
//   libtorch_digits DIRECTORY EPOCHS
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "libtorch_npy.h"

namespace {

struct Digits : torch::nn::Module {
  torch::nn::Linear hidden{nullptr}, out{nullptr};
  Digits() {
    hidden = register_module("hidden", torch::nn::Linear(64, 128));
    out = register_module("out", torch::nn::Linear(128, 10));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return out(torch::relu(hidden(x)));
  }
};

}  // namespace

int main(int, char** argv) {
  const std::string folder = argv[1];
  const int epochs = std::atoi(argv[2]);
  torch::set_num_threads(1);
  const torch::Tensor images =
      read_npy("share/digits/images.npy", {1797, 64}, torch::kFloat32);
  const torch::Tensor labels =
      read_npy("share/digits/labels.npy", {1797}, torch::kInt64);
  Digits model;
  {
    const torch::NoGradGuard no_grad;
    const auto set = [&](torch::Tensor& to, const char* name,
                         at::IntArrayRef sizes) {
      const torch::Tensor from =
          read_npy(folder + "/" + name + ".npy", sizes, torch::kFloat32);
      to.copy_(from.dim() == 2 ? from.t() : from);
    };
    set(model.hidden->weight, "hidden.w", {64, 128});
    set(model.hidden->bias, "hidden.b", {128});
    set(model.out->weight, "out.w", {128, 10});
    set(model.out->bias, "out.b", {10});
  }
  torch::optim::AdamW optimizer(
      model.parameters(), torch::optim::AdamWOptions(0.003).weight_decay(0.01));
  for (int epoch = 0; epoch < epochs; ++epoch) {
    torch::Tensor loss;
    for (int64_t i = 0; i < 15; ++i) {
      loss = torch::nn::functional::cross_entropy(
          model.forward(images.slice(0, i * 100, i * 100 + 100)),
          labels.slice(0, i * 100, i * 100 + 100));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    std::printf("%.9g\n", static_cast<double>(loss.item<float>()));
  }
}
