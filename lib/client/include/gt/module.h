// gt::nn::Module: what has parameters, and the names that they have everywhere:
// "mlp.up.w" is the register, the key in a safetensors file, what a config's
// pattern is matched with, and what gt-log shows.
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
// A module stays where it was made: it is neither copied nor moved.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gt/data.h>
#include <gt/gt.h>

namespace gt::inline v1 {

namespace detail {
// The compiler's: <cmath> is a large header.
inline double root(double x) { return __builtin_sqrt(x); }
}  // namespace detail

namespace nn {

// How a parameter begins: one line, or three for a uniform one.
class Init {
 public:
  // Which sizes of a weight its scale follows. A matrix has in the rows it
  // multiplies and out the columns; a convolution's weight is [out,in,...].
  enum class Fan { kNone, kIn, kBoth };

  static Init constant(double value) { return {Kind::kConstant, value, value}; }
  static Init normal(double mean, double std, Fan fan = Fan::kNone) {
    return {Kind::kNormal, mean, std, fan};
  }
  static Init uniform(double low, double high, Fan fan = Fan::kNone) {
    return {Kind::kUniform, low, high, fan};
  }
  // The same numbers in every run, and beside whatever else is random.
  Init seed(int64_t value) const {
    Init out = *this;
    out.seed_ = value;
    return out;
  }

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

// PyTorch's names. gain is that of the function behind the layer.
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
  // A root. Its name begins those of all its tensors; "": they begin with the
  // names of its members.
  explicit Module(std::string name = "") : path_(std::move(name)) {}
  // A part of another one; without a parent, a root.
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

  // "mlp.up".
  const std::string& path() const { return path_; }
  const std::vector<Module*>& children() const { return children_; }

  // Its own, in the order in which they were made, then those of its parts.
  StateDict named_parameters() const { return named(true, false); }
  StateDict named_buffers() const { return named(false, true); }
  // Both: what save() writes.
  StateDict state_dict() const { return named(true, true); }
  std::vector<Tensor> parameters() const {
    std::vector<Tensor> out;
    for (auto& [name, tensor] : named_parameters()) out.push_back(tensor);
    return out;
  }
  // The number of values in them.
  int64_t size() const {
    int64_t out = 0;
    for (const Tensor& tensor : parameters()) out += tensor.elements();
    return out;
  }

  // Whether dropout drops, here and in all parts.
  void train(bool is_on = true) {
    is_training_ = is_on;
    for (Module* child : children_) child->train(is_on);
  }
  void eval() { train(false); }
  bool is_training() const { return is_training_; }
  // Whether backward() reaches its parameters.
  void requires_grad_(bool is_on = true, At at = At::here()) const {
    for (Tensor& tensor : parameters()) tensor.requires_grad_(is_on, at);
  }
  void zero_grad() const {
    for (Tensor& tensor : parameters()) tensor.zero_grad();
  }

  // A safetensors file with all parameters and buffers, "mlp.up.w" and so on.
  void save(const std::string& path, At at = At::here()) const {
    gt::save(state_dict(), path, at);
  }
  // All of them from such a file.
  void load(const std::string& path, At at = At::here()) const {
    gt::load(state_dict(), path, at);
  }

 protected:
  // A tensor that is trained, made under its name: `Tensor w = parameter("w",
  // f32(3, 4), init::normal())`. An assignment to w would make w another
  // tensor; in-place forms (w.mul_(2) within NoGrad) and load() do not.
  Tensor parameter(const std::string& name, const Type& type, const Init& init,
                   At at = At::here()) {
    Tensor out = init.make(type, path_of(name), at);
    out.requires_grad_(true, at);
    detail::append(own_, name, out);
    is_buffer_.push_back(0);
    return out;
  }
  // One that is stored with the others, and not trained.
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
  std::vector<int64_t> is_buffer_;  // of each of these
  std::vector<Module*> children_;
};

}  // namespace nn
}  // namespace gt::inline v1
