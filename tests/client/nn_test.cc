// Modules: names, state, files, and what the layers compute.
#include <gt/nn.h>
#include <gt/optim.h>

#include <cmath>
#include <memory>

#include "client/helper.h"

using namespace gt_test;
namespace nn = gt::nn;

namespace {

struct Mlp : nn::Module {
  using Module::Module;
  nn::Linear up{this, "up", 4, 8};
  nn::Linear down{this, "down", 8, 2, {.bias = false}};
  nn::Dropout drop{this, "drop", 0.5};
  gt::Tensor operator()(const gt::Tensor& x) const {
    return down(drop(relu(up(x))));
  }
};

std::string names_of(const gt::StateDict& state) {
  std::string out;
  for (const auto& [name, tensor] : state) {
    out += name + " " + tensor.type().text() + "\n";
  }
  return out;
}

}  // namespace

TEST(Module, NamesItsRegistersByWhereTheyAre) {
  const std::string text = bare(written([] {
    Mlp mlp("mlp");
    EXPECT_EQ(mlp.down.path(), "mlp.down");
    EXPECT_EQ(names_of(mlp.named_parameters()),
              "mlp.up.w f32[4,8]\nmlp.up.b f32[8]\nmlp.down.w f32[8,2]\n");
    EXPECT_EQ(mlp.size(), 56);
    EXPECT_EQ(mlp.up.w.name(), "mlp.up.w");
  }));
  EXPECT_EQ(text,
            "mlp.up.w = randn f32[4,8] scale=0.5\n"
            "mlp.up.b = zeros f32[8]\n"
            "mlp.down.w = randn f32[8,2] scale=0.35355339059327373\n");
}

TEST(Module, ARootNeedsNoName) {
  EXPECT_EQ(names_of(Mlp().named_parameters()),
            "up.w f32[4,8]\nup.b f32[8]\ndown.w f32[8,2]\n");
}

TEST(Module, TwoOfOneNameAreAnErrorThatSaysWhereTheFirstIs) {
  const Mlp first("same");
  const std::string what = thrown([] { const Mlp second("same"); });
  EXPECT_NE(what.find("nn_test.cc:"), std::string::npos) << what;
  EXPECT_NE(what.find("'same.up.w'"), std::string::npos) << what;
}

TEST(Module, StateGoesToAFileAndBack) {
  const Folder folder;
  Mlp mlp("saved");
  const auto before = mlp.up.w.to_vector();
  mlp.save(folder / "m.safetensors");
  // At another path each parameter would be a file of its own.
  EXPECT_NE(thrown<gt::Error>([&] {
              mlp.save(folder / "m");
            }).find("ends with .safetensors"),
            std::string::npos);
  {
    const gt::NoGrad no_grad;
    mlp.up.w.mul_(0);
  }
  EXPECT_EQ(mlp.up.w.abs().sum().item(), 0);
  mlp.load(folder / "m.safetensors");
  EXPECT_EQ(mlp.up.w.to_vector(), before);
  EXPECT_TRUE(mlp.up.w.requires_grad());
  EXPECT_EQ(gt::load(folder / "m.safetensors:saved.up.w").to_vector(), before);
}

TEST(Module, AFileOfAnotherModelIsAFailure) {
  const Folder folder;
  gt::save(gt::ones({3, 3}), folder / "m.safetensors:other.up.w");
  gt::sync();
  Mlp mlp("other");
  mlp.load(folder / "m.safetensors");
  EXPECT_NE(thrown<gt::Failed>([&] { mlp.up.w.to_vector(); }), "");
}

TEST(Module, TrainAndEvalReachAllParts) {
  Mlp mlp("modes");
  const gt::Tensor x = gt::randn({64, 4}, 1);
  mlp.eval();
  EXPECT_FALSE(mlp.drop.is_training());
  EXPECT_EQ(mlp(x).to_vector(), mlp(x).to_vector());
  mlp.train();
  EXPECT_TRUE(mlp.drop.is_training());
  EXPECT_NE(mlp(x).to_vector(), mlp(x).to_vector());
}

TEST(Module, ListsAndSequencesNumberTheirParts) {
  nn::Sequential net("seq");
  net.add<nn::Linear>(4, 8).add(nn::ReLU()).add<nn::Linear>(8, 2);
  EXPECT_EQ(names_of(net.named_parameters()),
            "seq.0.w f32[4,8]\nseq.0.b f32[8]\nseq.2.w f32[8,2]\n"
            "seq.2.b f32[2]\n");
  EXPECT_EQ(net(gt::ones({3, 4})).type().text(), "f32[3,2]");
  nn::ModuleList<nn::RMSNorm> list("list");
  list.add(4);
  list.add(5);
  EXPECT_EQ(names_of(list.named_parameters()),
            "list.0.w f32[4]\nlist.1.w f32[5]\n");
  EXPECT_EQ(list.size(), 2U);
}

TEST(TensorFunction, ACopyHoldsACopy) {
  EXPECT_FALSE(gt::TensorFunction());
  int calls = 0;
  const gt::TensorFunction first = [&calls, n = 0](const gt::Tensor& x) {
    ++calls;
    return x + n;
  };
  gt::TensorFunction other = first;
  EXPECT_EQ(other(gt::full({2}, 3)).to_vector(), (std::vector<float>{3, 3}));
  other = nn::ReLU();  // the first one's stays
  EXPECT_EQ(other(gt::full({2}, -3)).to_vector(), (std::vector<float>{0, 0}));
  EXPECT_EQ(first(gt::full({2}, 3)).to_vector(), (std::vector<float>{3, 3}));
  EXPECT_EQ(calls, 2);
}

TEST(Module, APartMayGoBeforeTheWhole) {
  struct Root : nn::Module {
    using Module::Module;
    std::unique_ptr<nn::Linear> part =
        std::make_unique<nn::Linear>(this, "part", 2, 2);
  } root("root");
  root.part.reset();
  EXPECT_TRUE(root.parameters().empty());
  root.train();
}

TEST(Module, ParametersThatAreHeldStillGetNoGradient) {
  Mlp mlp("held");
  mlp.up.requires_grad_(false);
  mlp(gt::ones({3, 4})).sum().backward();
  EXPECT_FALSE(mlp.up.w.grad().defined());
  EXPECT_TRUE(mlp.down.w.grad().defined());
  mlp.zero_grad();
  EXPECT_FALSE(mlp.down.w.grad().defined());
}

TEST(Init, HasTheScaleThatItsNameSays) {
  struct Weights : nn::Module {
    explicit Weights(const nn::Init& init)
        : w(parameter("init.w", {300, 100}, init.seed(3))) {}
    gt::Tensor w;
  };
  // Expects the standard deviation, and the largest value if `most` is not 0.
  const auto expect = [](const nn::Init& init, double std, double most) {
    const Weights weights(init);
    EXPECT_NEAR(weights.w.var().sqrt().item(), std, std * 0.03);
    if (most > 0) EXPECT_LE(weights.w.abs().max().item(), most);
    if (most > 0) EXPECT_GT(weights.w.abs().max().item(), most * 0.99);
  };
  expect(nn::init::normal(0.02), 0.02, 0);
  expect(nn::init::uniform(-3, 3), std::sqrt(3), 3);
  expect(nn::init::xavier_normal(), std::sqrt(2.0 / 400), 0);
  expect(nn::init::xavier_uniform(), std::sqrt(2.0 / 400),
         std::sqrt(6.0 / 400));
  expect(nn::init::kaiming_normal(), std::sqrt(2.0 / 300), 0);
  expect(nn::init::kaiming_uniform(), std::sqrt(2.0 / 300),
         std::sqrt(6.0 / 300));
  EXPECT_EQ(Weights(nn::init::constant(0.5)).w.sum().item(), 15000);
  EXPECT_NEAR(Weights(nn::init::normal(1, 7)).w.mean().item(), 7, 0.05);
}

TEST(Layers, ComputeWhatTheirOpsDo) {
  const gt::Tensor x = gt::randn({5, 8}, 1);
  const nn::LayerNorm layer(nullptr, "n1", 8);
  EXPECT_EQ(layer(x).to_vector(), gt::layer_norm(x).to_vector());
  const nn::RMSNorm rms(nullptr, "n2", 8);
  EXPECT_EQ(rms(x).to_vector(), gt::rms_norm(x).to_vector());
  const nn::Embedding table(nullptr, "table", 10, 8);
  const gt::Tensor ids = gt::tensor<int64_t>({1, 9});
  EXPECT_EQ(table(ids).to_vector(), gt::embedding(table.w, ids).to_vector());
  EXPECT_EQ(table.logits(x).type().text(), "f32[5,10]");
  const nn::Conv2d conv(nullptr, "conv", 3, 6, {3, 3}, {.padding = 1});
  EXPECT_EQ(conv(gt::ones({2, 3, 8, 8})).type().text(), "f32[2,6,8,8]");
}

TEST(Layers, ADropoutWithASeedIsStored) {
  nn::Dropout drop(nullptr, "drop", 0.5, 7);
  EXPECT_EQ(names_of(drop.named_buffers()), "drop.seed i64[]\n");
  const gt::Tensor x = gt::ones({100});
  const auto first = drop(x).to_vector();
  const auto second = drop(x).to_vector();
  EXPECT_NE(first, second);
  EXPECT_EQ(first, gt::dropout(x, 0.5, 7).to_vector());
  EXPECT_EQ(second, gt::dropout(x, 0.5, 8).to_vector());
}

TEST(Layers, AttentionHasTheOpsMeaning) {
  const gt::Tensor x = gt::randn({2, 6, 16}, 1);
  const nn::Attention own(nullptr, "own", 16,
                          {.heads = 4, .kv_heads = 2, .rope = false});
  const gt::StateDict parts = own.named_parameters();
  EXPECT_EQ(names_of(parts),
            "own.q.w f32[16,16]\nown.k.w f32[16,8]\nown.v.w f32[16,8]\n"
            "own.out.w f32[16,16]\n");
  // Each head of k and v serves two neighbouring heads of q.
  const auto heads = [](const gt::Tensor& h, int64_t count) {
    return h.reshape({2, 6, count, 4}).transpose({.axes = {0, 2, 1, 3}});
  };
  const auto twice = [](const gt::Tensor& h) {
    return gt::stack({h, h}, {.axis = 2}).reshape({2, 4, 6, 4});
  };
  const gt::Tensor o = gt::attention(heads(x.linear(parts[0].second), 4),
                                     twice(heads(x.linear(parts[1].second), 2)),
                                     twice(heads(x.linear(parts[2].second), 2)),
                                     {.causal = true});
  const auto expected = o.transpose({.axes = {0, 2, 1, 3}})
                            .reshape({2, 6, 16})
                            .linear(parts[3].second)
                            .to_vector();
  const auto got = own(x).to_vector();
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], 1e-5);
  EXPECT_NE(thrown([] { nn::Attention(nullptr, "bad", 16, {.heads = 3}); }),
            "");
}

TEST(Layers, FusedAttentionIsTheSameFunction) {
  const gt::Tensor x = gt::randn({2, 6, 16}, 1);
  const nn::Attention one(nullptr, "one", 16, {.heads = 4, .fused = true});
  const nn::Attention three(nullptr, "three", 16, {.heads = 4});
  const gt::StateDict from = one.named_parameters();
  const gt::StateDict to = three.named_parameters();
  const gt::NoGrad no_grad;
  for (int64_t i = 0; i < 3; ++i) {
    gt::Tensor w = to[static_cast<size_t>(i)].second;
    w.mul_(0);
    w.add_(from[0].second(gt::_, gt::Range(16 * i, 16 * i + 16)));
  }
  gt::Tensor out = to[3].second;
  out.mul_(0);
  out.add_(from[1].second);
  const auto got = one(x).to_vector();
  const auto expected = three(x).to_vector();
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], 1e-5);
}

TEST(Layers, ABlockCarriesTheSignalsOfTheConfigs) {
  const std::string text = written([] {
    const nn::TransformerBlock block(nullptr, "b", 16,
                                     {.attention = {.heads = 2}});
    const gt::Signal signal("layer0");
    EXPECT_EQ(block(gt::ones({2, 4, 16})).type().text(), "f32[2,4,16]");
  });
  for (const char* signal :
       {"norm", "hidden", "attention", "out", "residual"}) {
    EXPECT_NE(text.find(std::string("#signal=layer0/") + signal),
              std::string::npos)
        << signal;
  }
}

// The order in which half of the shared expert is behind each exchange.
TEST(Layers, ExpertsCarryTheSignalsOfTheConfig) {
  const std::string text = written([] {
    const nn::MoE moe(nullptr, "moe", 8, 16, 4, {.groups = 2, .shared = 4});
    moe(gt::ones({2, 6, 8}));
  });
  std::string order;
  for (const std::string& line : lines_of(text)) {
    const size_t at = line.find("#signal=");
    if (at == std::string::npos) continue;
    const std::string signal = line.substr(at + 8, line.find(' ', at) - at - 8);
    if (!order.ends_with(signal + ' ')) order += signal + ' ';
  }
  EXPECT_EQ(order, "router dispatch hidden experts out combine router ");
}

TEST(Layers, ExpertsUnderMixedAreSentNarrowAndChosenWide) {
  const nn::MoE moe(nullptr, "mixedmoe", 8, 16, 4, {.top_k = 2, .shared = 4});
  const gt::Tensor x = gt::randn({12, 8}, 1);
  const nn::MoE::Result wide = moe(x);
  const nn::Mixed mixed;
  const std::string text = written([] {
    const nn::MoE other(nullptr, "moe", 8, 16, 4);
    other(gt::ones({6, 8}));
  });
  EXPECT_LT(text.find(" bf16 #signal=router"), text.find("#signal=dispatch"));
  const nn::MoE::Result narrow = moe(x);
  EXPECT_EQ(narrow.balance.item(), wide.balance.item());
  const float apart = (wide.y - narrow.y).abs().max().item();
  EXPECT_GT(apart, 0);
  EXPECT_LT(apart, 0.1);
}

TEST(Layers, MixedComputesNarrowAndKeepsItsParameters) {
  Mlp mlp("mixed");
  mlp.eval();
  const gt::Tensor x = gt::randn({16, 4}, 1);
  const gt::Tensor wide = mlp(x);
  gt::Tensor narrow;
  {
    const nn::Mixed mixed(gt::bf16);
    narrow = mlp(x);
  }
  EXPECT_EQ(narrow.dtype(), gt::bf16);
  EXPECT_EQ(mlp.up.w.dtype(), gt::f32);
  narrow.cast(gt::f32).sum().backward();
  EXPECT_EQ(mlp.up.w.grad().dtype(), gt::f32);
  EXPECT_LT((wide - narrow).abs().max().item(), 0.1);
  EXPECT_EQ(mlp(x).dtype(), gt::f32);
}

TEST(Layers, ABlockUnderMixedHasWideResidualsAndGradients) {
  const nn::TransformerBlock block(
      nullptr, "mixed", 16,
      {.attention = {.heads = 2, .bias = true}, .mlp = {.bias = true}});
  const gt::Tensor x = gt::randn({2, 4, 16}, 1);
  const gt::Tensor wide = block(x);
  const nn::Mixed mixed;
  const gt::Tensor narrow = block(x);
  EXPECT_EQ(narrow.dtype(), gt::f32);
  const float apart = (wide - narrow).abs().max().item();
  EXPECT_GT(apart, 0);
  EXPECT_LT(apart, 0.1);
  narrow.sum().backward();
  for (const gt::Tensor& w : block.parameters()) {
    EXPECT_EQ(w.grad().dtype(), gt::f32) << w.name();
  }
}

TEST(Layers, RefuseSizesThatNoTensorHas) {
  const auto told = [](const auto& make) {
    const std::string text = thrown(make);
    return text.substr(text.find(": ") + 2);
  };
  EXPECT_EQ(told([] { gt::nn::Linear(nullptr, "l", -1, 2); }),
            "Linear: in must be at least 0; found -1");
  EXPECT_EQ(told([] { gt::nn::Embedding(nullptr, "e", 3, -2); }),
            "Embedding: width must be at least 0; found -2");
  EXPECT_EQ(told([] { gt::nn::LayerNorm(nullptr, "n", -2); }),
            "LayerNorm: width must be at least 0; found -2");
  EXPECT_EQ(told([] { gt::nn::Conv2d(nullptr, "c", 1, 1, 0); }),
            "Conv2d: kernel must be at least 1; found 0");
  EXPECT_EQ(told([] { gt::nn::Conv2d(nullptr, "c", 1, 1, 3, {.groups = 0}); }),
            "Conv2d: groups must be at least 1; found 0");
  EXPECT_EQ(told([] {
              gt::nn::ConvTranspose2d(nullptr, "c", 4, 3, 3, {.groups = 2});
            }),
            "ConvTranspose2d: groups must divide the channels; found 2 of 3");
  EXPECT_EQ(told([] { gt::nn::Attention(nullptr, "a", 8, {.heads = 0}); }),
            "Attention: heads must be at least 1; found 0");
  EXPECT_EQ(told([] { gt::nn::MoE(nullptr, "m", 8, 4, 2, {.top_k = 3}); }),
            "MoE: experts must be at least 3; found 2");
  EXPECT_EQ(told([] {
              const nn::MoE moe(nullptr, "m", 8, 4, 2, {.groups = 3});
              moe(gt::ones({4, 8}));
            }),
            "MoE: expected tokens of 8 numbers for 3 equal groups; found "
            "f32[4,8]");
}

// Also where beta times a difference, or the difference's square, is out of
// range.
TEST(Losses, SmoothL1HasAnyBeta) {
  const auto loss = [](float x, double beta) {
    const gt::Tensor one = gt::tensor<float>({x}, gt::Shape{1});
    const gt::Tensor y = gt::nn::smooth_l1_loss(one, gt::zeros({1}), beta);
    return y.to_vector()[0];
  };
  EXPECT_FLOAT_EQ(loss(1e-10F, 1e-30), 1e-10F);
  EXPECT_FLOAT_EQ(loss(1e-10F, 0), 1e-10F);
  EXPECT_FLOAT_EQ(loss(4e19F, 1e20), 8e18F);
  EXPECT_NE(thrown([&] { loss(1, -1); }), "");
}

TEST(Losses, KeepTheirDigitsAtTheirEnds) {
  // The loss of a certain mistake is its logit, and of a certain hit exp(-x).
  const gt::Tensor x = gt::tensor({30.0, -50.0}).requires_grad_();
  const gt::Tensor target = gt::tensor({1.0, 0.0});
  const gt::Tensor loss = nn::bce_with_logits_loss(x, target);
  EXPECT_NEAR(loss.to_vector<double>()[0] / (std::exp(-30.0) / 2), 1, 1e-6);
  loss.backward();
  const std::vector<double> gradient = x.grad().to_vector<double>();
  EXPECT_NEAR(gradient[0] / (-std::exp(-30.0) / 2), 1, 1e-6);
  EXPECT_NEAR(gradient[1] / (std::exp(-50.0) / 2), 1, 1e-6);
  // A class of probability 0 counts nothing, also in 16 bits.
  const gt::Tensor logs = gt::tensor({-1.0, -2.0}).reshape({1, 2});
  const gt::Tensor share = gt::tensor({1.0, 0.0}).reshape({1, 2});
  EXPECT_EQ(nn::kl_div(logs.cast(gt::f16), share.cast(gt::f16))
                .cast(gt::f64)
                .to_vector<double>(),
            std::vector<double>{1});
}
