// The parts of a transformer. Their lines carry the signals norm, hidden,
// attention, out and residual, by which the configs of gt shard such a model
// over ranks (configs/tensor-parallel.yaml and others).
#pragma once

#include <gt/layers.h>

namespace gt::inline v1 {
namespace nn {

struct AttentionLayerOptions {
  int64_t heads = 1;
  // Heads of k and v, which the heads of q share; 0: as many as q has.
  int64_t kv_heads = 0;
  bool causal = true;
  bool rope = true;  // rotary position embedding of q and k
  double rope_base = 10000;
  // One matrix for q, k and v; three separate ones can be sharded by heads.
  bool fused = false;
  bool bias = false;
  Init init = Init::normal(0, 1, Init::Fan::kIn);
  Init out_init = Init::normal(0, 1, Init::Fan::kIn);
};
// Self-attention: maps x [...,rows,width] to the same shape. Its parts are the
// Linear layers "q", "k" and "v", or "qkv" if fused, and "out". Errors: heads
// does not divide width, or kv_heads does not divide heads.
class Attention : public Module {
 public:
  Attention(Module* parent, const std::string& name, int64_t width,
            const AttentionLayerOptions& options = {}, At at = At::here())
      : Module(parent, name), options_(options) {
    detail::checked("Attention: width", width, 0, at);
    detail::checked("Attention: heads", options_.heads, 1, at);
    detail::checked("Attention: kv_heads", options_.kv_heads, 0, at);
    if (options_.kv_heads == 0) options_.kv_heads = options_.heads;
    if (width % options_.heads != 0 ||
        options_.heads % options_.kv_heads != 0) {
      detail::refuse(
          "Attention: heads must divide the width, and kv_heads heads", at);
    }
    const int64_t kv = width / options_.heads * options_.kv_heads;
    const LinearOptions made{.bias = options_.bias, .init = options_.init};
    if (options_.fused) {
      sizes_ = {width, kv, kv};
      parts_.emplace_back(
          new Linear(this, "qkv", width, width + 2 * kv, made, at));
    } else {
      for (const char* part : {"q", "k", "v"}) {
        parts_.emplace_back(
            new Linear(this, part, width, *part == 'q' ? width : kv, made, at));
      }
    }
    parts_.emplace_back(new Linear(
        this, "out", width, width,
        LinearOptions{.bias = options_.bias, .init = options_.out_init}, at));
  }

  Tensor operator()(const Tensor& x, At at = At::here()) const {
    std::vector<Tensor> qkv = projected(x, at);
    Tensor o = attended(qkv, at);
    qkv.clear();
    const Signal signal("out");
    return (*parts_.back())(o, at);
  }

 private:
  std::vector<Tensor> projected(const Tensor& x, At at) const {
    if (options_.fused) {
      const Signal signal("qkv");
      const Tensor h = (*parts_[0])(x, at);
      SplitOptions how{.axis = h.rank() - 1};
      if (sizes_[0] != sizes_[1]) how.sizes = sizes_;
      return split(h, 3, how, at);
    }
    const Signal signal("hidden");
    std::vector<Tensor> out;
    for (size_t i = 0; i < 3; ++i) out.push_back((*parts_[i])(x, at));
    return out;
  }
  Tensor attended(std::vector<Tensor>& qkv, At at) const {
    const Signal signal("attention");
    if (options_.rope) {
      const RopeOptions how{.base = options_.rope_base,
                            .heads = options_.heads};
      qkv[0] = rope(qkv[0], how, at);
      RopeOptions fewer = how;
      fewer.heads = options_.kv_heads;
      qkv[1] = rope(qkv[1], fewer, at);
    }
    return attention(qkv[0], qkv[1], qkv[2],
                     {.causal = options_.causal,
                      .enable_gqa = options_.kv_heads != options_.heads,
                      .heads = options_.heads},
                     at);
  }

  AttentionLayerOptions options_;
  List sizes_;
  std::vector<detail::Owned<Linear>> parts_;
};

struct MLPOptions {
  bool bias = false;
  Init init = Init::normal(0, 1, Init::Fan::kIn);
  Init out_init = Init::normal(0, 1, Init::Fan::kIn);
};
// Computes down(gelu(up(x))), with the tanh form of gelu.
class MLP : public Module {
 public:
  MLP(Module* parent, const std::string& name, int64_t width, int64_t hidden,
      const MLPOptions& options = {}, At at = At::here())
      : Module(parent, name),
        up(this, "up", width, hidden,
           {.bias = options.bias, .init = options.init}, at),
        down(this, "down", hidden, width,
             {.bias = options.bias, .init = options.out_init}, at) {}
  Tensor operator()(const Tensor& x, At at = At::here()) const {
    Tensor h;
    {
      const Signal signal("hidden");
      h = gelu(up(x, at), {.approximate = "tanh"}, at);
    }
    const Signal signal("out");
    return down(h, at);
  }
  Linear up, down;
};

struct TransformerBlockOptions {
  AttentionLayerOptions attention{};
  // Width of the MLP's inner layer; 0: four times the width.
  int64_t hidden = 0;
  double dropout = 0;
  MLPOptions mlp{};
};
// Computes h = x + attention(norm1(x)), and returns h + mlp(norm2(h)), with
// dropout on what is added.
class TransformerBlock : public Module {
 public:
  TransformerBlock(Module* parent, const std::string& name, int64_t width,
                   const TransformerBlockOptions& options = {},
                   At at = At::here())
      : Module(parent, name),
        norm1(this, "norm1", width, {}, at),
        attention(this, "attention", width, options.attention, at),
        norm2(this, "norm2", width, {}, at),
        mlp(this, "mlp", width,
            options.hidden == 0 ? 4 * width : options.hidden, options.mlp, at),
        drop(this, "drop", options.dropout, std::nullopt, at) {}

  Tensor operator()(Tensor x, At at = At::here()) const {
    x = residual(x, attention(normed(norm1, x, at), at), at);
    return residual(x, mlp(normed(norm2, x, at), at), at);
  }
  RMSNorm norm1;
  Attention attention;
  RMSNorm norm2;
  MLP mlp;
  Dropout drop;

 private:
  static Tensor normed(const RMSNorm& norm, const Tensor& x, At at) {
    const Signal signal("norm");
    return norm(x, at);
  }
  Tensor residual(const Tensor& x, const Tensor& h, At at) const {
    const Signal signal("residual");
    return add(x, drop(h, at), at);
  }
};

}  // namespace nn
}  // namespace gt::inline v1
