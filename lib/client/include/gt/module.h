// gt::nn::Module, the base of everything that has parameters. A parameter has
// one name everywhere: "mlp.up.w" is its register, its key in a safetensors
// file, what the patterns of a config are matched with, and what gt-log shows.
//
//   struct Mlp : gt::nn::Module {
//     using Module::Module;
//     gt::nn::Linear up{this, "up", 256, 1024};
//     gt::nn::Linear down{this, "down", 1024, 256};
//     gt::Tensor operator()(const gt::Tensor& x) const {
//       return down(gelu(up(x)));
//     }
//   };
//   Mlp mlp("mlp");
//
// A module must stay where it was made: it is neither copied nor moved.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gt/data.h>
#include <gt/gt.h>

namespace gt::inline v1 {

namespace detail {
// The square root, by the compiler's function, since <cmath> is a large header.
inline double root(double x) { return __builtin_sqrt(x); }
}  // namespace detail

namespace nn {

// The initial values of a parameter. It takes one line to make them, or three
// if they are uniform.
class Init {
 public:
  // The sizes of a weight that its scale depends on: the scale is divided by
  // the square root of the fan-in, or of the mean of fan-in and fan-out. A
  // matrix [in,out] has fan-in `in`; a convolution's weight [out,in,...] has
  // fan-in `in` times the sizes of its window.
  enum class Fan { kNone, kIn, kBoth };

  static Init constant(double value) { return {Kind::kConstant, value, value}; }
  static Init normal(double mean, double std, Fan fan = Fan::kNone) {
    return {Kind::kNormal, mean, std, fan};
  }
  static Init uniform(double low, double high, Fan fan = Fan::kNone) {
    return {Kind::kUniform, low, high, fan};
  }
  // Gives it a seed of its own: the numbers are then the same in every run,
  // whatever other random ops there are.
  Init seed(int64_t value) const {
    Init out = *this;
    out.seed_ = value;
    return out;
  }

  // Writes the lines that make a tensor of this type and name.
  Tensor make(const Type& type, const std::string& name, At at) const {
    const double scale = factor(type.shape);
    if (kind_ == Kind::kConstant) {
      const bool is_plain = a_ == 0 || a_ == 1;
      detail::Call call(is_plain ? (a_ == 0 ? "zeros" : "ones") : "full", at);
      call.add(type);
      if (!is_plain) call.add(Input(a_));
      return call.run_as(name);
    }
    const bool is_normal = kind_ == Kind::kNormal;
    detail::Call call(is_normal ? "randn" : "rand", at);
    call.add(type);
    if (seed_) call.add(Input(*seed_));
    if (is_normal) {
      call.key("scale", b_ * scale);
      return a_ == 0 ? call.run_as(name) : moved(call.run(), a_, name, at);
    }
    return moved(mul(call.run(), (b_ - a_) * scale, at), a_ * scale, name, at);
  }

 private:
  enum class Kind { kConstant, kNormal, kUniform };
  Init(Kind kind, double a, double b, Fan fan = Fan::kNone)
      : kind_(kind), a_(a), b_(b), fan_(fan) {}

  static Tensor moved(const Tensor& x, double by, const std::string& name,
                      At at) {
    detail::Call call("add", at);
    call.add(x);
    call.add(Input(by));
    return call.run_as(name);
  }
  double factor(const Shape& shape) const {
    if (fan_ == Fan::kNone) return 1;
    double in = 1, out = 1;
    if (shape.size() == 2) {
      in = static_cast<double>(shape[0]);
      out = static_cast<double>(shape[1]);
    } else if (shape.size() > 2) {
      double window = 1;
      for (size_t i = 2; i < shape.size(); ++i) {
        window *= static_cast<double>(shape[i]);
      }
      in = window * static_cast<double>(shape[1]);
      out = window * static_cast<double>(shape[0]);
    }
    return 1 / detail::root(fan_ == Fan::kIn ? in : (in + out) / 2);
  }

  Kind kind_;
  double a_, b_;
  Fan fan_;
  std::optional<int64_t> seed_;
};

// Initial values with PyTorch's names. `gain` is the gain of the function that
// follows the layer.
namespace init {

inline Init constant(double value) { return Init::constant(value); }
inline Init zeros() { return constant(0); }
inline Init ones() { return constant(1); }
inline Init normal(double std = 1, double mean = 0) {
  return Init::normal(mean, std);
}
inline Init uniform(double low = 0, double high = 1) {
  return Init::uniform(low, high);
}
inline Init xavier_normal(double gain = 1) {
  return Init::normal(0, gain, Init::Fan::kBoth);
}
inline Init xavier_uniform(double gain = 1) {
  return Init::uniform(-gain * detail::root(3), gain * detail::root(3),
                       Init::Fan::kBoth);
}
inline Init kaiming_normal(double gain = detail::root(2)) {
  return Init::normal(0, gain, Init::Fan::kIn);
}
inline Init kaiming_uniform(double gain = detail::root(2)) {
  return Init::uniform(-gain * detail::root(3), gain * detail::root(3),
                       Init::Fan::kIn);
}

}  // namespace init

class Module {
 public:
  // Makes a root. Its name begins the names of all its tensors; if it is "",
  // they begin with the names of its members.
  explicit Module(std::string name = "") : path_(std::move(name)) {}
  // Makes a part of `parent`; if that is null, a root.
  Module(Module* parent, const std::string& name)
      : parent_(parent), path_(name) {
    if (parent == nullptr) return;
    path_ = parent->path_of(name);
    is_training_ = parent->is_training_;
    parent->children_.push_back(this);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() {
    for (Module* child : children_) child->parent_ = nullptr;
    if (parent_ != nullptr) parent_->forget(this);
  }

  // Returns the path from the root: "mlp.up".
  const std::string& path() const { return path_; }
  const std::vector<Module*>& children() const { return children_; }

  // Return the module's own tensors, in the order in which they were made, and
  // then those of its parts.
  StateDict named_parameters() const { return named(true, false); }
  StateDict named_buffers() const { return named(false, true); }
  // Returns the parameters and the buffers: what save() writes.
  StateDict state_dict() const { return named(true, true); }
  std::vector<Tensor> parameters() const {
    std::vector<Tensor> out;
    for (auto& [name, tensor] : named_parameters()) out.push_back(tensor);
    return out;
  }
  // Returns the number of elements of all parameters.
  int64_t size() const {
    int64_t out = 0;
    for (const Tensor& tensor : parameters()) out += tensor.elements();
    return out;
  }

  // Says whether this module and its parts are in training mode, in which
  // dropout drops.
  void train(bool is_on = true) {
    is_training_ = is_on;
    for (Module* child : children_) child->train(is_on);
  }
  void eval() { train(false); }
  bool is_training() const { return is_training_; }
  // Says whether backward() computes gradients by the parameters.
  void requires_grad_(bool is_on = true, At at = At::here()) const {
    for (Tensor& tensor : parameters()) tensor.requires_grad_(is_on, at);
  }
  void zero_grad() const {
    for (Tensor& tensor : parameters()) tensor.zero_grad();
  }

  // Saves all parameters and buffers in a safetensors file, under their names,
  // such as "mlp.up.w".
  void save(const std::string& path, At at = At::here()) const {
    gt::save(state_dict(), path, at);
  }
  // Loads all of them from such a file.
  void load(const std::string& path, At at = At::here()) const {
    gt::load(state_dict(), path, at);
  }

 protected:
  // Makes a trained tensor with this name in the module: `Tensor w =
  // parameter("w", f32(3, 4), init::normal())`. Assigning to w would make w a
  // handle of another tensor, which is not the parameter; the in-place ops
  // (w.mul_(2) within NoGrad) and load() change the parameter.
  Tensor parameter(const std::string& name, const Type& type, const Init& init,
                   At at = At::here()) {
    Tensor out = init.make(type, path_of(name), at);
    out.requires_grad_(true, at);
    detail::append(own_, name, out);
    is_buffer_.push_back(0);
    return out;
  }
  // Makes a tensor that is stored with the parameters but not trained.
  Tensor buffer(const std::string& name, const Type& type, const Init& init,
                At at = At::here()) {
    Tensor out = init.make(type, path_of(name), at);
    detail::append(own_, name, out);
    is_buffer_.push_back(1);
    return out;
  }

 private:
  std::string path_of(const std::string& name) const {
    return path_.empty() ? name : detail::joined(path_, '.', name);
  }
  StateDict named(bool parameters, bool buffers) const {
    StateDict out;
    collect(parameters, buffers, out);
    return out;
  }
  void forget(const Module* child) {
    for (size_t i = 0; i < children_.size(); ++i) {
      if (children_[i] == child) {
        children_.erase(children_.begin() + static_cast<ptrdiff_t>(i));
        return;
      }
    }
  }
  void collect(bool parameters, bool buffers, StateDict& out) const {
    for (size_t i = 0; i < own_.size(); ++i) {
      if (is_buffer_[i] ? buffers : parameters) {
        detail::append(out, path_of(own_[i].first), own_[i].second);
      }
    }
    for (const Module* child : children_) {
      child->collect(parameters, buffers, out);
    }
  }

  Module* parent_ = nullptr;
  std::string path_;
  bool is_training_ = true;
  StateDict own_;
  std::vector<int64_t> is_buffer_;  // for each tensor of own_
  std::vector<Module*> children_;
};

}  // namespace nn
}  // namespace gt::inline v1
