// The transformer of examples/cpp/transformer.cc with libtorch: the same model
// and steps, from the same first weights and windows of the text, which it
// reads from a directory of .npy files. It prints the loss of each step.
//
//   libtorch_transformer DIRECTORY LAYERS WIDTH HEADS CONTEXT BATCH STEPS
//   WARMUP
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "libtorch_npy.h"

namespace {

using torch::Tensor;

constexpr int64_t kVocabulary = 128;
constexpr double kRate = 2e-3, kDecay = 0.1, kClip = 1;

struct Sizes {
  std::string folder;
  int64_t layers, width, heads, context, batch, steps, warmup;
};

// A parameter as gt stores it: a matrix is [in,out].
Tensor weight(const Sizes& s, const std::string& name, at::IntArrayRef sizes) {
  return read_npy(s.folder + "/" + name + ".npy", sizes, torch::kFloat32)
      .requires_grad_();
}

Tensor rms_norm(const Tensor& x, const Tensor& w) {
  return x * torch::rsqrt((x * x).mean(-1, true) + 1e-5) * w;
}

struct Block {
  Block(const Sizes& s, int64_t i) : sizes(s) {
    const std::string name = "blocks." + std::to_string(i) + ".";
    const int64_t c = s.width;
    norm1 = weight(s, name + "norm1.w", {c});
    qkv = weight(s, name + "attention.qkv.w", {c, 3 * c});
    out = weight(s, name + "attention.out.w", {c, c});
    norm2 = weight(s, name + "norm2.w", {c});
    up = weight(s, name + "mlp.up.w", {c, 4 * c});
    down = weight(s, name + "mlp.down.w", {4 * c, c});
  }
  // [batch,context,width] as [batch,heads,context,width/heads].
  Tensor heads_of(const Tensor& x) const {
    return x.view({x.size(0), x.size(1), sizes.heads, -1}).transpose(1, 2);
  }
  // Each pair of halves of a head's elements is turned.
  Tensor turned(const Tensor& x) const {
    const int64_t half = x.size(3) / 2;
    const Tensor i = torch::arange(half, torch::kFloat64);
    const Tensor angle =
        torch::arange(x.size(2), torch::kFloat64).unsqueeze(1) *
        torch::pow(10000.0, i * (-1.0 / static_cast<double>(half)));
    const Tensor c = angle.cos().to(torch::kFloat32);
    const Tensor s = angle.sin().to(torch::kFloat32);
    const Tensor l = x.slice(3, 0, half), h = x.slice(3, half);
    return torch::cat({l * c - h * s, h * c + l * s}, 3);
  }
  Tensor attended(const Tensor& x) const {
    const auto parts = x.matmul(qkv).chunk(3, 2);
    const Tensor q = turned(heads_of(parts[0])), k = turned(heads_of(parts[1]));
    Tensor z =
        q.matmul(k.transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
    const Tensor later =
        torch::ones({z.size(2), z.size(3)}, torch::kBool).triu(1);
    z = z.masked_fill(later, -INFINITY).softmax(3);
    const Tensor o = z.matmul(heads_of(parts[2])).transpose(1, 2);
    return o.reshape(x.sizes()).matmul(out);
  }
  Tensor operator()(Tensor x) const {
    x = x + attended(rms_norm(x, norm1));
    const Tensor h = torch::gelu(rms_norm(x, norm2).matmul(up), "tanh");
    return x + h.matmul(down);
  }

  Sizes sizes;
  Tensor norm1, qkv, out, norm2, up, down;
};

struct Model {
  explicit Model(const Sizes& s) {
    table = weight(s, "table.w", {kVocabulary, s.width});
    norm = weight(s, "norm.w", {s.width});
    for (int64_t i = 0; i < s.layers; ++i) blocks.emplace_back(s, i);
  }
  Tensor operator()(const Tensor& characters) const {
    Tensor x = torch::embedding(table, characters);
    for (const Block& block : blocks) x = block(x);
    return rms_norm(x, norm).matmul(table.t());
  }
  std::vector<Tensor> matrices() const {
    std::vector<Tensor> all = {table};
    for (const Block& b : blocks) {
      all.insert(all.end(), {b.qkv, b.out, b.up, b.down});
    }
    return all;
  }
  std::vector<Tensor> norms() const {
    std::vector<Tensor> all = {norm};
    for (const Block& b : blocks) all.insert(all.end(), {b.norm1, b.norm2});
    return all;
  }

  Tensor table, norm;
  std::vector<Block> blocks;
};

// Of step t, from 1 on: it rises evenly, then falls by half a cosine.
double rate(const Sizes& s, int64_t t) {
  const double up = static_cast<double>(t) / static_cast<double>(s.warmup);
  const double after = static_cast<double>(std::max<int64_t>(t - s.warmup, 0));
  const double whole =
      static_cast<double>(std::max<int64_t>(s.steps - s.warmup, 1));
  return kRate * std::min(up, 1.0) *
         (0.55 + 0.45 * std::cos(after * M_PI / whole));
}

void train(const Sizes& s) {
  const Model model(s);
  using torch::optim::AdamWOptions;
  const auto options = [](double decay) {
    return std::make_unique<AdamWOptions>(
        AdamWOptions(kRate).betas({0.9, 0.99}).weight_decay(decay));
  };
  torch::optim::AdamW optimizer(
      {torch::optim::OptimizerParamGroup(model.matrices(), options(kDecay)),
       torch::optim::OptimizerParamGroup(model.norms(), options(0))},
      AdamWOptions(kRate));
  std::vector<Tensor> all = model.matrices();
  for (const Tensor& w : model.norms()) all.push_back(w);
  for (int64_t t = 1; t <= s.steps; ++t) {
    const Tensor window =
        read_npy(s.folder + "/window." + std::to_string(t) + ".npy",
                 {s.batch, s.context + 1}, torch::kInt64);
    const Tensor logits = model(window.slice(1, 0, s.context));
    const Tensor loss = torch::nn::functional::cross_entropy(
        logits.reshape({-1, kVocabulary}), window.slice(1, 1).reshape({-1}));
    optimizer.zero_grad();
    loss.backward();
    torch::nn::utils::clip_grad_norm_(all, kClip);
    for (auto& group : optimizer.param_groups()) {
      static_cast<AdamWOptions&>(group.options()).lr(rate(s, t));
    }
    optimizer.step();
    std::printf("%.9g\n", static_cast<double>(loss.item<float>()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 9) return 2;
  torch::set_num_threads(1);
  const auto number = [&](int i) { return std::atoll(argv[i]); };
  train({argv[1], number(2), number(3), number(4), number(5), number(6),
         number(7), number(8)});
}
