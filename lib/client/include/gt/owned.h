// What modules own: parts, and functions of a tensor. The standard library has
// both, but its <memory> and <functional> bring streams and hash tables with
// them, and then take as long to compile as the rest of gt/nn.h.
#pragma once

#include <type_traits>
#include <utility>

#include <gt/tensor.h>

namespace gt::inline v1 {
namespace detail {

// The only pointer to an object, which goes with it.
template <typename T>
class Owned {
 public:
  explicit Owned(T* object) : object_(object) {}
  Owned(Owned&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { delete object_; }
  T& operator*() const { return *object_; }

 private:
  T* object_;
};

}  // namespace detail

// Anything that can be called with a tensor and returns one, as
// std::function<Tensor(const Tensor&)> holds it; a copy holds a copy.
class TensorFunction {
 public:
  TensorFunction() = default;
  template <typename F, typename = std::enable_if_t<std::is_invocable_r_v<
                            Tensor, const F&, const Tensor&>>>
  TensorFunction(F function)  // NOLINT: implicit
      : held_(new Of<F>(std::move(function))) {}
  TensorFunction(const TensorFunction& other)
      : held_(other.held_ == nullptr ? nullptr : other.held_->copy()) {}
  TensorFunction(TensorFunction&& other) noexcept
      : held_(std::exchange(other.held_, nullptr)) {}
  TensorFunction& operator=(TensorFunction other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~TensorFunction() { delete held_; }

  explicit operator bool() const { return held_ != nullptr; }
  // There must be a function.
  Tensor operator()(const Tensor& x) const { return held_->run(x); }

 private:
  struct Held {
    virtual ~Held() = default;
    virtual Tensor run(const Tensor& x) const = 0;
    virtual Held* copy() const = 0;
  };
  template <typename F>
  struct Of final : Held {
    explicit Of(F made) : function(std::move(made)) {}
    Tensor run(const Tensor& x) const override { return function(x); }
    Held* copy() const override { return new Of(function); }
    F function;
  };

  Held* held_ = nullptr;
};

}  // namespace gt::inline v1
