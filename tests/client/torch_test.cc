// Modules and optimizers agree with PyTorch, run by the Python that has it.
#include <gt/nn.h>
#include <gt/optim.h>

#include <cmath>

#include "client/helper.h"

using namespace gt_test;
namespace nn = gt::nn;
namespace optim = gt::optim;

namespace {

// The script prints numbers after these lines.
constexpr const char* kBegin = R"(
import torch
from torch.optim import SGD, AdamW
from torch.optim.lr_scheduler import StepLR, CosineAnnealingLR
F = torch.nn.functional
def show(*tensors):
  for t in tensors: print(*t.detach().flatten().tolist())
def numbers(*shape):  # the same here as in C++
  n = torch.Size(shape).numel()
  return ((torch.arange(n, dtype=torch.float64) * 7) % 11 / 11 - 0.4).reshape(shape)
)";
gt::Tensor numbers(const gt::Shape& shape) {
  const int64_t n = gt::Type(shape).elements();
  const gt::Tensor x = gt::arange({{n}, gt::f64}) * 7 % 11 / 11 - 0.4;
  return x.reshape(shape);
}

class Torch : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* python : {"python3", "/usr/bin/python3"}) {
      python_ = python;
      const std::string asks = python_ + " -c 'import torch' 2>/dev/null";
      if (std::system(asks.c_str()) == 0) return;
    }
    GTEST_SKIP() << "there is no PyTorch: scripts/packages install heavy";
  }
  std::vector<double> run(const std::string& script) const {
    const Folder folder;
    std::ofstream(folder / "a.py") << kBegin << script;
    const std::string command =
        python_ + " " + (folder / "a.py") + " >" + (folder / "out");
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::istringstream words(read(folder / "out"));
    std::vector<double> out;
    for (double word; words >> word;) out.push_back(word);
    return out;
  }
  static void expect_near(const std::vector<double>& got,
                          const std::vector<double>& expected, double within) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], expected[i], within * (1 + std::abs(expected[i])))
          << i;
    }
  }

 private:
  std::string python_;
};

// A linear layer whose parameters are numbers() at first.
struct Model : nn::Module {
  explicit Model(const std::string& name) : Module(name) {
    const gt::NoGrad no_grad;
    for (gt::Tensor& w : parameters()) {
      w.mul_(0);
      w.add_(numbers(w.shape()));
    }
  }
  nn::Linear layer{this, "layer", 4, 3, {.dtype = gt::f64}};
};
constexpr const char* kTrain = R"(
def train(make, schedule=None):
  w, b = (numbers(4, 3).requires_grad_(), numbers(3).requires_grad_())
  x = numbers(6, 4)
  o = make([w, b])
  s = schedule(o) if schedule else None
  for i in range(6):
    o.zero_grad()
    ((x @ w + b) ** 2).mean().backward()
    torch.nn.utils.clip_grad_norm_([w, b], 0.2)
    o.step()
    if s: s.step()
  show(w, b)
)";

template <typename Make>
std::vector<double> train(const std::string& name, const Make& make) {
  const Model model(name);
  const auto optimizer = make(model.parameters());
  const gt::Tensor x = numbers({6, 4});
  for (int i = 0; i < 6; ++i) {
    model.zero_grad();
    const gt::Tensor y = model.layer(x);
    (y * y).mean().backward();
    optimizer->clip_grad_norm(0.2);
    optimizer->step();
  }
  std::vector<double> out;
  for (const gt::Tensor& w : model.parameters()) {
    for (const double value : w.to_vector<double>()) out.push_back(value);
  }
  return out;
}

TEST_F(Torch, OptimizersAndSchedulesAgree) {
  using Parameters = std::vector<gt::Tensor>;
  std::vector<double> got;
  const auto add = [&](const std::vector<double>& more) {
    got.insert(got.end(), more.begin(), more.end());
  };
  add(train("sgd", [](const Parameters& w) {
    return std::make_unique<optim::SGD>(w, 0.1);
  }));
  add(train("momentum", [](const Parameters& w) {
    return std::make_unique<optim::SGD>(
        w, optim::step(0.1, 2, 0.5),
        optim::SGDOptions{.momentum = 0.9, .decay = 0.05});
  }));
  add(train("nesterov", [](const Parameters& w) {
    return std::make_unique<optim::SGD>(
        w, 0.1, optim::SGDOptions{.momentum = 0.9, .nesterov = true});
  }));
  add(train("adamw", [](const Parameters& w) {
    return std::make_unique<optim::AdamW>(
        w, optim::cosine(0.1, 8),
        optim::AdamWOptions{.beta1 = 0.8, .beta2 = 0.99, .decay = 0.1});
  }));
  expect_near(got, run(std::string(kTrain) + R"(
train(lambda p: SGD(p, 0.1))
train(lambda p: SGD(p, 0.1, momentum=0.9, weight_decay=0.05),
      lambda o: StepLR(o, 2, 0.5))
train(lambda p: SGD(p, 0.1, momentum=0.9, nesterov=True))
train(lambda p: AdamW(p, 0.1, betas=(0.8, 0.99), weight_decay=0.1),
      lambda o: CosineAnnealingLR(o, 8))
)"),
              1e-6);
}

TEST_F(Torch, LayersAgree) {
  std::vector<double> got;
  const auto add = [&](const gt::Tensor& x) {
    for (const double value : x.to_vector<double>()) got.push_back(value);
  };
  const gt::Tensor x = numbers({5, 8}).cast(gt::f32);
  add(nn::LayerNorm(nullptr, "norm", 8)(x));
  add(nn::GELU()(x));
  add(nn::SiLU()(x));
  const nn::Conv2d conv(nullptr, "conv", 2, 4, {3, 3},
                        {.stride = 2, .padding = 1, .groups = 2});
  {
    const gt::NoGrad no_grad;
    gt::Tensor w = conv.w;
    w.mul_(0);
    w.add_(numbers({4, 1, 3, 3}).cast(gt::f32));
  }
  add(conv(numbers({1, 2, 5, 5}).cast(gt::f32)));
  const nn::ConvTranspose2d turned(
      nullptr, "turned", 4, 2, {3, 3},
      {.stride = 2, .padding = 1, .output_padding = {1, 0}, .groups = 2});
  {
    const gt::NoGrad no_grad;
    gt::Tensor w = turned.w;
    w.mul_(0);
    w.add_(numbers({4, 1, 3, 3}).cast(gt::f32));
  }
  add(turned(numbers({1, 4, 3, 3}).cast(gt::f32)));
  add(gt::cross_entropy(x, gt::tensor<int64_t>({0, 1, 7, 3, 2})));
  const gt::Tensor y = numbers({2, 20}).cast(gt::f32).reshape({5, 8}).flip();
  add(nn::l1_loss(x, y));
  add(nn::smooth_l1_loss(x, y, 0.3));
  add(nn::bce_with_logits_loss(x * 40, sigmoid(y)));
  add(nn::nll_loss(x, gt::tensor<int64_t>({0, 1, 7, 3, 2})));
  add(nn::kl_div(log_softmax(x), softmax(y)));
  const gt::Tensor image = numbers({1, 2, 4, 4}).cast(gt::f32);
  add(nn::MaxPool2d{2}(image));
  add(nn::AvgPool2d{2}(image));
  expect_near(got, run(R"(
x = numbers(5, 8).float()
show(F.layer_norm(x, (8,)), F.gelu(x), F.silu(x))
show(F.conv2d(numbers(1, 2, 5, 5).float(), numbers(4, 1, 3, 3).float(),
              stride=2, padding=1, groups=2))
show(F.conv_transpose2d(numbers(1, 4, 3, 3).float(),
                        numbers(4, 1, 3, 3).float(), stride=2, padding=1,
                        output_padding=(1, 0), groups=2))
classes = torch.tensor([0, 1, 7, 3, 2])
show(F.cross_entropy(x, classes))
y = numbers(2, 20).float().reshape(5, 8).flip((0, 1))
show(F.l1_loss(x, y), F.smooth_l1_loss(x, y, beta=0.3),
     F.binary_cross_entropy_with_logits(x * 40, torch.sigmoid(y)),
     F.nll_loss(x, classes),
     F.kl_div(F.log_softmax(x, -1), F.softmax(y, -1), reduction="batchmean"))
image = numbers(1, 2, 4, 4).float()
show(F.max_pool2d(image, 2), F.avg_pool2d(image, 2))
)"),
              1e-5);
}

// No two of them are equal, so the largest are the same here as there.
gt::Tensor waves(const gt::Shape& shape, double step) {
  const int64_t n = gt::Type(shape).elements();
  return sin(gt::arange({{n}, gt::f64}) * step).cast(gt::f32).reshape(shape);
}

// Some choices find no place; with k of 2, second ones after all first ones.
TEST_F(Torch, ExpertsAgree) {
  std::vector<double> got;
  const auto add = [&](const gt::Tensor& x) {
    for (const double value : x.to_vector<double>()) got.push_back(value);
  };
  for (const int64_t k : {1, 2}) {
    const nn::MoE moe(nullptr, "moe" + std::to_string(k), 6, 5, 4,
                      {.top_k = k,
                       .capacity_factor = k == 1 ? 0.9 : 0.8,
                       .groups = 2,
                       .shared = k == 1 ? 0 : 7});
    {
      const gt::NoGrad no_grad;
      double step = 1.3;
      for (gt::Tensor& w : moe.parameters()) {
        w.mul_(0);
        w.add_(waves(w.shape(), step += 0.1));
      }
    }
    gt::Tensor x = waves({2, 8, 6}, 0.7).requires_grad_();
    const nn::MoE::Result made = moe(x);
    add(made.y);
    add(made.balance);
    add(made.dropped);
    ((made.y * made.y).mean() + made.balance).backward();
    add(x.grad());
    for (const gt::Tensor& w : moe.parameters()) add(w.grad());
  }
  expect_near(got, run(R"(
def waves(step, *shape):
  n = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
  return torch.sin(n * step).float().reshape(shape).requires_grad_()
def moe(x, k, places, up, down, router, more=None, less=None):
  y, balance, dropped = [], 0, 0
  for rows in x:
    shares = (rows @ router).softmax(-1)
    values, experts = shares.topk(k)
    if k > 1: values = values / values.sum(-1, keepdim=True)
    taken = [0] * 4
    out = [F.gelu(row @ more) @ less if k > 1 else 0 * row for row in rows]
    for choice in range(k):
      for t, row in enumerate(rows):
        e = int(experts[t, choice])
        taken[e] += 1
        if taken[e] > places: dropped += 1; continue
        out[t] = out[t] + values[t, choice] * (F.gelu(row @ up[e]) @ down[e])
    y.append(torch.stack(out))
    balance += 2 * sum(taken[e] / 8 / k * shares[:, e].mean() for e in range(4))
  return torch.stack(y), balance, torch.tensor(dropped)
for k, places in (1, 2), (2, 4):
  x = waves(0.7, 2, 8, 6)
  w = [waves(1.4, 4, 6, 5), waves(1.5, 4, 5, 6), waves(1.6, 6, 4)]
  if k == 2: w += [waves(1.7, 6, 7), waves(1.8, 7, 6)]
  y, balance, dropped = moe(x, k, places, *w)
  assert dropped > 0
  show(y, balance, dropped)
  ((y * y).mean() + balance).backward()
  show(x.grad, *(v.grad for v in w))
)"),
              1e-5);
}

}  // namespace
