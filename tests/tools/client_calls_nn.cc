// The calls of client_calls of layers and optimizers.
#include <gt/optim.h>

#include <memory>

#include "client_calls.h"

namespace nn = gt::nn;
namespace optim = gt::optim;

namespace client_calls {
namespace {

// The module, whose parameters are numbers().
template <typename M>
M& filled(M& module) {
  const gt::NoGrad no_grad;
  for (Tensor& w : module.parameters()) {
    w.mul_(0);
    w.add_(numbers(w.shape(), w.dtype()));
  }
  return module;
}

// Calls a layer, and computes the gradients of the sum of its squares: by x and
// by its parameters.
template <typename M>
std::vector<Tensor> results_of(M& layer, const Tensor& x) {
  Tensor z = gt::copy(x);
  if (z.dtype().is_float()) z.requires_grad_();
  const Tensor y = layer(z);
  std::vector<Tensor> out = {y};
  gt::sum(y * y).backward();
  if (z.dtype().is_float()) out.push_back(z.grad());
  if constexpr (std::is_base_of_v<nn::Module, M>) {
    for (const Tensor& w : layer.parameters()) out.push_back(w.grad());
  }
  return out;
}

int modules = 0;
std::string next_name() { return "m" + std::to_string(++modules); }

#define LAYER(torch, x, layer, ...)                                          \
  call("layer(" torch ", " #x ")", "nn::" #layer "(" #__VA_ARGS__ ")", [&] { \
    nn::layer made(nullptr, next_name(), __VA_ARGS__);                       \
    return results_of(filled(made), x);                                      \
  });
#define PLAIN(torch, x, ...)                                  \
  call("layer(" torch ", " #x ")", "nn::" #__VA_ARGS__, [&] { \
    nn::__VA_ARGS__ made;                                     \
    return results_of(made, x);                               \
  });

}  // namespace

void layers() {
  const Tensor x = of("x_f32"), x_f64 = of("x_f64"), i = of("i"),
               image = gt::unsqueeze(x, 0), ids = gt::tensor({0, 2, 1});
  LAYER("Linear(4, 5)", x, Linear, 4, 5)
  LAYER("Linear(4, 5, bias=False)", x, Linear, 4, 5, {.bias = false})
  LAYER("Linear(4, 5, dtype=torch.float64)", x_f64, Linear, 4, 5,
        {.dtype = gt::f64})
  LAYER("Embedding(7, 3)", i, Embedding, 7, 3)
  LAYER("Embedding(7, 3, dtype=torch.float64)", i, Embedding, 7, 3,
        {.dtype = gt::f64})
  call("logits(x)", "nn::Embedding::logits", [&] {
    nn::Embedding table(nullptr, next_name(), 7, 4);
    return filled(table).logits(x);
  });
  LAYER("LayerNorm(4)", x, LayerNorm, 4)
  LAYER("LayerNorm(4, eps=1e-2, bias=False)", x, LayerNorm, 4,
        {.eps = 1e-2, .bias = false})
  LAYER("LayerNorm(4, dtype=torch.float64)", x_f64, LayerNorm, 4,
        {.dtype = gt::f64})
  LAYER("RMSNorm(4, eps=1e-5)", x, RMSNorm, 4)
  LAYER("RMSNorm(4, eps=1e-2)", x, RMSNorm, 4, {.eps = 1e-2})
  LAYER("Conv2d(2, 4, 2)", image, Conv2d, 2, 4, 2)
  LAYER(
      "Conv2d(2, 4, (2, 1), stride=(1, 2), padding=(1, 0), dilation=(1, 2), "
      "groups=2, bias=False)",
      image, Conv2d, 2, 4, {2, 1},
      {.stride = {1, 2},
       .padding = {1, 0},
       .dilation = {1, 2},
       .groups = 2,
       .bias = false})
  LAYER("ConvTranspose2d(2, 4, 2)", image, ConvTranspose2d, 2, 4, 2)
  LAYER(
      "ConvTranspose2d(2, 4, 2, stride=2, padding=1, output_padding=1, "
      "groups=2, dilation=2)",
      image, ConvTranspose2d, 2, 4, 2,
      {.stride = 2,
       .padding = 1,
       .output_padding = 1,
       .dilation = 2,
       .groups = 2})
  LAYER("Dropout(0.0)", x, Dropout, 0.0)
  call("layer(nn.Dropout(0.5).eval(), x)", "nn::Dropout::eval", [&] {
    nn::Dropout drop(nullptr, next_name(), 0.5);
    drop.eval();
    return results_of(drop, x);
  });
  call("torch.tensor(True)", "nn::Dropout(0.25)", [&] {
    nn::Dropout drop(nullptr, next_name(), 0.25, 7);
    const Tensor y = drop(gt::ones({9999}));
    return gt::all((y == 0) | (y == 4.0F / 3)) &
           (gt::abs(gt::mean(y) - 1) < 0.03);
  });
  PLAIN("nn.ReLU()", x, ReLU)
  PLAIN("nn.GELU()", x, GELU)
  PLAIN("nn.SiLU()", x, SiLU)
  PLAIN("nn.Tanh()", x, Tanh)
  PLAIN("nn.Sigmoid()", x, Sigmoid)
  PLAIN("nn.Flatten()", x, Flatten)
  call("layer(nn.MaxPool2d(2, 1, 1), image)", "nn::MaxPool2d", [&] {
    nn::MaxPool2d pool{2, {.stride = 1, .padding = 1}};
    return results_of(pool, image);
  });
  call("layer(nn.AvgPool2d((2, 1), count_include_pad=False), image)",
       "nn::AvgPool2d", [&] {
         nn::AvgPool2d pool{{2, 1}, {.count_include_pad = false}};
         return results_of(pool, image);
       });
  call("layer(Sequential(Linear(4, 6), nn.ReLU(), Linear(6, 2)), x)",
       "nn::Sequential", [&] {
         nn::Sequential net(next_name());
         net.add<nn::Linear>(4, 6).add(nn::ReLU()).add<nn::Linear>(6, 2);
         return results_of(filled(net), x);
       });
  call("layer(MLP(4, 8), x)", "nn::MLP", [&] {
    nn::MLP mlp(nullptr, next_name(), 4, 8, {.bias = true});
    return results_of(filled(mlp), x);
  });
  call("layer(Attention(4, 2), x)", "nn::Attention", [&] {
    nn::Attention a(nullptr, next_name(), 4,
                    {.heads = 2, .causal = false, .rope = false});
    return results_of(filled(a), x);
  });
  call("layer(Attention(4, 2, causal=True, rope_base=100, bias=True), x)",
       "nn::Attention, causal, rope", [&] {
         nn::Attention a(nullptr, next_name(), 4,
                         {.heads = 2, .rope_base = 100, .bias = true});
         return results_of(filled(a), x);
       });
  call("mixed(x)", "nn::Mixed", [&] {
    nn::Linear layer(nullptr, next_name(), 4, 5);
    filled(layer);
    const nn::Mixed mixed(gt::bf16);
    return layer(x);
  });
}

// ---- optimizers -------------------------------------------------------------

namespace {

struct Line : nn::Module {
  Line(const std::string& name, gt::Dtype dtype)
      : Module(name), layer(this, "layer", 4, 3, {.dtype = dtype}) {}
  nn::Linear layer;
};

// Trains a layer for so many steps. `make` returns the optimizer.
template <typename Making>
std::vector<Tensor> trained(const Making& make, gt::Dtype dtype = gt::f64,
                            int steps = 12, double clip = 0) {
  Line line(next_name(), dtype);
  filled(line);
  auto optimizer = make(line.parameters(), next_name());
  const Tensor x = numbers({5, 4}, dtype), y = numbers({5, 3}, dtype);
  for (int i = 0; i < steps; ++i) {
    gt::mse(line.layer(x), y * 3).backward();
    if (clip > 0) optimizer->clip_grad_norm(clip);
    optimizer->step();
    optimizer->zero_grad();
  }
  return line.parameters();
}

#define TRAIN(torch, more, kind, ...)                                       \
  call("train(lambda p: " torch more ")", "optim::" #kind " " #__VA_ARGS__, \
       [&] {                                                                \
         const auto make = [](const std::vector<Tensor>& p,                 \
                              const std::string& name) {                    \
           return std::make_unique<optim::kind>(p, __VA_ARGS__, name);      \
         };                                                                 \
         return trained(make, dtype);                                       \
       });

}  // namespace

void optimizers() {
  gt::Dtype dtype = gt::f64;
  TRAIN("SGD(p, 0.1)", "", SGD, 0.1, optim::SGDOptions{})
  TRAIN("SGD(p, 0.1, momentum=0.9)", "", SGD, 0.1,
        optim::SGDOptions{.momentum = 0.9})
  TRAIN("SGD(p, 0.1, momentum=0.9, nesterov=True)", "", SGD, 0.1,
        (optim::SGDOptions{.momentum = 0.9, .nesterov = true}))
  TRAIN("SGD(p, 0.1, weight_decay=0.1)", "", SGD, 0.1,
        optim::SGDOptions{.decay = 0.1})
  TRAIN("SGD(p, 0.1, momentum=0.5, nesterov=True, weight_decay=0.1)", "", SGD,
        0.1,
        (optim::SGDOptions{.momentum = 0.5, .nesterov = true, .decay = 0.1}))
  TRAIN("AdamW(p, 0.01)", "", AdamW, 0.01, optim::AdamWOptions{})
  TRAIN("AdamW(p, 0.01, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.2)", "",
        AdamW, 0.01,
        (optim::AdamWOptions{
            .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .decay = 0.2}))
  TRAIN("Adam(p, 0.01)", "", AdamW, 0.01, optim::AdamWOptions{.decay = 0})
  // The rate of a schedule is f32.
  dtype = gt::f32;
  TRAIN("SGD(p, 0.1)", ", lambda o: StepLR(o, 5, 0.5), torch.float32", SGD,
        optim::step(0.1, 5, 0.5), optim::SGDOptions{})
  TRAIN("SGD(p, 0.1)",
        ", lambda o: CosineAnnealingLR(o, 8, eta_min=0.01), torch.float32", SGD,
        optim::cosine(0.1, 8, 0.1), optim::SGDOptions{})
  TRAIN("SGD(p, 0.1)", ", lambda o: LinearLR(o, 1, 0.25, 8), torch.float32",
        SGD, optim::linear(0.1, 8, 0.25), optim::SGDOptions{})
  TRAIN("AdamW(p, 0.01)",
        ", lambda o: LambdaLR(o, lambda n: min((n + 1) / 4, 1)), torch.float32",
        AdamW, optim::constant(0.01).warmup(4), optim::AdamWOptions{})
  const auto sgd = [](const std::vector<Tensor>& p, const std::string& name) {
    return std::make_unique<optim::SGD>(p, 0.1, optim::SGDOptions{}, name);
  };
  const auto adamw = [](const std::vector<Tensor>& p, const std::string& name) {
    return std::make_unique<optim::AdamW>(p, 0.01, optim::AdamWOptions{}, name);
  };
  call("train(lambda p: SGD(p, 0.1), clip=0.25)", "clip_grad_norm",
       [&] { return trained(sgd, gt::f64, 12, 0.25); });
  call("train(lambda p: SGD(p, 0.1), clip=1e3)", "clip_grad_norm of few",
       [&] { return trained(sgd, gt::f64, 12, 1e3); });
  call("train(lambda p: SGD(p, 0.1), dtype=torch.float32)", "optim::SGD of f32",
       [&] { return trained(sgd, gt::f32); });
  call("train(lambda p: AdamW(p, 0.01), dtype=torch.float32)",
       "optim::AdamW of f32", [&] { return trained(adamw, gt::f32); });
  call("train(lambda p: SGD(p, 0.1), dtype=torch.bfloat16, steps=1)",
       "optim::SGD of bf16", [&] { return trained(sgd, gt::bf16, 1); });
  call("train(lambda p: AdamW(p, 0.01), dtype=torch.bfloat16, steps=1)",
       "optim::AdamW of bf16", [&] { return trained(adamw, gt::bf16, 1); });
}

}  // namespace client_calls
