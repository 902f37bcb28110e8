// Layers: modules that call the ops of the language, with PyTorch's names.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gt/module.h>
#include <gt/owned.h>

namespace gt::inline v1 {

namespace detail {

// Casts x to the dtype of a norm's weight, which a Mixed scope does not change.
inline Tensor as_wide(const Tensor& x, const Tensor& w, At at) {
  return x.dtype(at) == w.dtype(at) ? x : cast(x, w.dtype(at), at);
}

[[noreturn, gnu::cold]] inline void refuse(const std::string& text, At at) {
  gt_set_error(GT_WRONG, text.c_str());
  fail(at);
}
// Returns a layer's size, which must be at least so much.
inline int64_t checked(const char* size, int64_t n, int64_t least, At at) {
  if (n >= least) return n;
  refuse(std::string(size) + " must be at least " + std::to_string(least) +
             "; found " + std::to_string(n),
         at);
}
// Returns how many of the channels belong to each group.
inline int64_t in_groups(const char* layer, int64_t channels, int64_t groups,
                         At at) {
  const std::string name(layer);
  checked((name + ": groups").c_str(), groups, 1, at);
  if (channels % groups == 0) return channels / groups;
  refuse(name + ": groups must divide the channels; found " +
             std::to_string(groups) + " of " + std::to_string(channels),
         at);
}
// Returns the shape of a convolution's weight for [channels, of a group] and a
// window of one size or of two.
inline Shape window_shape(const char* layer, int64_t channels, int64_t inner,
                          const List& kernel, At at) {
  const std::string name(layer);
  if (kernel.empty()) refuse(name + ": kernel must have a size", at);
  for (const int64_t n : kernel) {
    checked((name + ": kernel").c_str(), n, 1, at);
  }
  checked((name + ": channels").c_str(), channels, 1, at);
  checked((name + ": channels").c_str(), inner, 1, at);
  return {channels, inner, kernel[0], kernel.back()};
}

}  // namespace detail

namespace nn {

// Mixed precision: while a Mixed lives, this thread's linear, convolution and
// attention layers compute in its dtype. Parameters keep their dtype, and so do
// gradients and the states of optimizers. Norms and losses compute in the dtype
// of their operands.
class Mixed {
 public:
  explicit Mixed(Dtype dtype = bf16) : before_(current()) { current() = dtype; }
  Mixed(const Mixed&) = delete;
  Mixed& operator=(const Mixed&) = delete;
  ~Mixed() { current() = before_; }

  // Casts x to the dtype that layers compute in, if there is one and x is a
  // float.
  static Tensor of(const Tensor& x, At at) {
    const std::optional<Dtype>& dtype = current();
    const bool is_as_it_is =
        !dtype || x.dtype(at) == *dtype || !x.dtype(at).is_float();
    return is_as_it_is ? x : cast(x, *dtype, at);
  }

 private:
  static std::optional<Dtype>& current() {
    static thread_local std::optional<Dtype> dtype;
    return dtype;
  }
  std::optional<Dtype> before_;
};

struct LinearOptions {
  bool bias = true;
  Init init = Init::normal(0, 1, Init::Fan::kIn);  // for w; b begins as zeros
  Dtype dtype = f32;
};
// Maps x [...,in] to x w + b [...,out]. w is [in,out], b is [out].
class Linear : public Module {
 public:
  Linear(Module* parent, const std::string& name, int64_t in, int64_t out,
         const LinearOptions& options = {}, At at = At::here())
      : Module(parent, name),
        w(parameter("w",
                    {{detail::checked("Linear: in", in, 0, at),
                      detail::checked("Linear: out", out, 0, at)},
                     options.dtype},
                    options.init, at)) {
    if (options.bias) {
      b = parameter("b", {Shape{out}, options.dtype}, init::zeros(), at);
    }
  }
  Tensor operator()(const Tensor& x, At at = At::here()) const {
    const Tensor narrow = Mixed::of(x, at);
    const Tensor weight = Mixed::of(w, at);
    return b.defined() ? linear(narrow, weight, Mixed::of(b, at), {}, at)
                       : linear(narrow, weight, {}, at);
  }
  Tensor w, b;
};

struct EmbeddingOptions {
  Init init = init::normal();
  Dtype dtype = f32;
};
// Maps integers [...] to rows of w, [...,width]. w is [count,width].
class Embedding : public Module {
 public:
  Embedding(Module* parent, const std::string& name, int64_t count,
            int64_t width, const EmbeddingOptions& options = {},
            At at = At::here())
      : Module(parent, name),
        w(parameter("w",
                    {{detail::checked("Embedding: count", count, 0, at),
                      detail::checked("Embedding: width", width, 0, at)},
                     options.dtype},
                    options.init, at)) {}
  Tensor operator()(const Tensor& ids, At at = At::here()) const {
    return embedding(w, ids, at);
  }
  // Uses the same table as a last layer: maps x [...,width] to logits
  // [...,count].
  Tensor logits(const Tensor& x, At at = At::here()) const {
    return matmul(Mixed::of(x, at), Mixed::of(w, at), {.tb = true}, at);
  }
  Tensor w;
};

struct NormOptions {
  double eps = 1e-5;
  bool bias = true;  // used by LayerNorm alone
  Dtype dtype = f32;
};
// Normalizes over the last dimension, which has the given width. w and b are
// [width].
class LayerNorm : public Module {
 public:
  LayerNorm(Module* parent, const std::string& name, int64_t width,
            const NormOptions& options = {}, At at = At::here())
      : Module(parent, name),
        w(parameter("w",
                    {Shape{detail::checked("LayerNorm: width", width, 0, at)},
                     options.dtype},
                    init::ones(), at)),
        eps_(options.eps) {
    if (options.bias) {
      b = parameter("b", {Shape{width}, options.dtype}, init::zeros(), at);
    }
  }
  Tensor operator()(const Tensor& x, At at = At::here()) const {
    const Tensor wide = detail::as_wide(x, w, at);
    return b.defined() ? layer_norm(wide, w, b, {.eps = eps_}, at)
                       : layer_norm(wide, w, {.eps = eps_}, at);
  }
  Tensor w, b;

 private:
  double eps_;
};
// Root mean square norm over the last dimension. w is [width].
class RMSNorm : public Module {
 public:
  RMSNorm(Module* parent, const std::string& name, int64_t width,
          const NormOptions& options = {}, At at = At::here())
      : Module(parent, name),
        w(parameter("w",
                    {Shape{detail::checked("RMSNorm: width", width, 0, at)},
                     options.dtype},
                    init::ones(), at)),
        eps_(options.eps) {}
  Tensor operator()(const Tensor& x, At at = At::here()) const {
    return rms_norm(detail::as_wide(x, w, at), w, {.eps = eps_}, at);
  }
  Tensor w;

 private:
  double eps_;
};

// Drops elements with probability p while the module is in training mode. Which
// ones are dropped depends on gt-emit's seed or, if a seed is given, on a
// buffer, which is stored with the parameters, so that a run continued from a
// checkpoint drops what it would have dropped.
class Dropout : public Module {
 public:
  Dropout(Module* parent, const std::string& name, double p,
          std::optional<int64_t> seed = std::nullopt, At at = At::here())
      : Module(parent, name), p_(p) {
    if (!seed) return;
    seed_ =
        buffer("seed", i64(), init::constant(static_cast<double>(*seed)), at);
  }
  Tensor operator()(const Tensor& x, At at = At::here()) const {
    if (!is_training() || p_ == 0) return x;
    if (!seed_.defined()) return dropout(x, p_, at);
    const Tensor out = dropout(x, p_, seed_, at);
    Tensor(seed_).add_(1, at);
    return out;
  }

 private:
  double p_;
  Tensor seed_;
};

struct Conv2dLayerOptions {
  List stride = 1;
  List padding = 0;
  List dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  Init init = Init::normal(0, 1, Init::Fan::kIn);
  Dtype dtype = f32;
};
// The base of the convolutions: the weight, and the bias [out] unless the
// options say that there is none.
class ConvolutionLayer : public Module {
 public:
  Tensor w, b;

 protected:
  template <typename Options>
  ConvolutionLayer(Module* parent, const std::string& name, const Shape& weight,
                   int64_t out, const Options& options, At at)
      : Module(parent, name),
        w(parameter("w", {weight, options.dtype}, options.init, at)) {
    if (options.bias) {
      b = parameter("b", {Shape{out}, options.dtype}, init::zeros(), at);
    }
  }
};

// Convolves images x [n,in,h,w]. w is [out,in/groups,kernel], b is [out].
class Conv2d : public ConvolutionLayer {
 public:
  Conv2d(Module* parent, const std::string& name, int64_t in, int64_t out,
         const List& kernel, const Conv2dLayerOptions& options = {},
         At at = At::here())
      : ConvolutionLayer(
            parent, name,
            detail::window_shape(
                "Conv2d", out,
                detail::in_groups("Conv2d", in, options.groups, at), kernel,
                at),
            out, options, at),
        options_{.stride = options.stride,
                 .padding = options.padding,
                 .dilation = options.dilation,
                 .groups = options.groups} {}
  Tensor operator()(const Tensor& x, At at = At::here()) const {
    const Tensor narrow = Mixed::of(x, at);
    const Tensor weight = Mixed::of(w, at);
    return b.defined() ? conv2d(narrow, weight, Mixed::of(b, at), options_, at)
                       : conv2d(narrow, weight, options_, at);
  }

 private:
  Conv2dOptions options_;
};

struct ConvTranspose2dLayerOptions {
  List stride = 1;
  List padding = 0;
  List output_padding = 0;
  List dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  Init init = Init::normal(0, 1, Init::Fan::kIn);
  Dtype dtype = f32;
};
// Transposed convolution of images x [n,in,h,w]. w is [in,out/groups,kernel], b
// is [out].
class ConvTranspose2d : public ConvolutionLayer {
 public:
  ConvTranspose2d(Module* parent, const std::string& name, int64_t in,
                  int64_t out, const List& kernel,
                  const ConvTranspose2dLayerOptions& options = {},
                  At at = At::here())
      : ConvolutionLayer(
            parent, name,
            detail::window_shape(
                "ConvTranspose2d", in,
                detail::in_groups("ConvTranspose2d", out, options.groups, at),
                kernel, at),
            out, options, at),
        options_{.stride = options.stride,
                 .padding = options.padding,
                 .output_padding = options.output_padding,
                 .dilation = options.dilation,
                 .groups = options.groups} {}
  Tensor operator()(const Tensor& x, At at = At::here()) const {
    const Tensor narrow = Mixed::of(x, at);
    const Tensor weight = Mixed::of(w, at);
    return b.defined() ? conv_transpose2d(narrow, weight, Mixed::of(b, at),
                                          options_, at)
                       : conv_transpose2d(narrow, weight, options_, at);
  }

 private:
  ConvTranspose2dOptions options_;
};

// Functions without parameters, as layers for Sequential.
struct ReLU {
  Tensor operator()(const Tensor& x) const { return relu(x); }
};
struct GELU {
  Tensor operator()(const Tensor& x) const { return gelu(x); }
};
struct SiLU {
  Tensor operator()(const Tensor& x) const { return silu(x); }
};
struct Tanh {
  Tensor operator()(const Tensor& x) const { return tanh(x); }
};
struct Sigmoid {
  Tensor operator()(const Tensor& x) const { return sigmoid(x); }
};
struct MaxPool2d {
  List kernel;
  MaxPool2dOptions options{};
  Tensor operator()(const Tensor& x) const {
    return max_pool2d(x, kernel, options);
  }
};
struct AvgPool2d {
  List kernel;
  AvgPool2dOptions options{};
  Tensor operator()(const Tensor& x) const {
    return avg_pool2d(x, kernel, options);
  }
};
// Maps [n,...] to [n,m], where m is the product of the other sizes.
struct Flatten {
  Tensor operator()(const Tensor& x) const {
    return reshape(x, {x.size(0), -1});
  }
};

// Owns modules of one type, called "0", "1" and so on.
template <typename M>
class ModuleList : public Module {
 public:
  using Module::Module;
  // Makes and adds the next module: M(this, "0", arguments...).
  template <typename... Arguments>
  M& add(Arguments&&... arguments) {
    items_.emplace_back(new M(this, std::to_string(items_.size()),
                              std::forward<Arguments>(arguments)...));
    return *items_.back();
  }
  size_t size() const { return items_.size(); }
  M& operator[](size_t i) const { return *items_[i]; }

 private:
  std::vector<detail::Owned<M>> items_;
};

// Calls layers one after the other: Sequential net("net"); net.add<Linear>(64,
// 128).add(ReLU()).add<Linear>(128, 10). The parameters are then net.0.w,
// net.2.w and so on.
class Sequential : public Module {
 public:
  using Module::Module;
  // Makes and adds a module of type M: M(this, "0", arguments...).
  template <typename M, typename... Arguments>
  Sequential& add(Arguments&&... arguments) {
    auto* const layer = new M(this, std::to_string(layers_.size()),
                              std::forward<Arguments>(arguments)...);
    owned_.emplace_back(layer);
    layers_.emplace_back([layer](const Tensor& x) { return (*layer)(x); });
    return *this;
  }
  // Adds a function of a tensor.
  Sequential& add(TensorFunction layer) {
    layers_.push_back(std::move(layer));
    return *this;
  }
  Tensor operator()(Tensor x) const {
    for (const auto& layer : layers_) x = layer(x);
    return x;
  }

 private:
  std::vector<TensorFunction> layers_;
  std::vector<detail::Owned<Module>> owned_;
};

}  // namespace nn
}  // namespace gt::inline v1
