// Small stand-ins for std::unique_ptr and std::function, by which modules own
// their parts and hold functions of a tensor. The standard <memory> and
// <functional> include streams and hash tables, and would take as long to
// compile as the rest of gt/nn.h.
#pragma once

#include <type_traits>
#include <utility>

#include <gt/tensor.h>

namespace gt::inline v1 {
namespace detail {

// Owns one object, and deletes it, as std::unique_ptr does.
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

// Holds anything that can be called with a tensor and returns one, as
// std::function<Tensor(const Tensor&)> does; a copy copies the function. It has
// no virtual functions: a program would have to compile all of those in a
// header, and not only the ones that it uses.
class TensorFunction {
 public:
  TensorFunction() = default;
  template <typename F, typename = std::enable_if_t<std::is_invocable_r_v<
                            Tensor, const F&, const Tensor&>>>
  TensorFunction(F function)  // NOLINT: implicit
      : held_(new F(std::move(function))), kind_(&kKind<F>) {}
  TensorFunction(const TensorFunction& other)
      : held_(other ? other.kind_->copy(other.held_) : nullptr),
        kind_(other.kind_) {}
  TensorFunction(TensorFunction&& other) noexcept
      : held_(std::exchange(other.held_, nullptr)), kind_(other.kind_) {}
  TensorFunction& operator=(TensorFunction other) noexcept {
    std::swap(held_, other.held_);
    std::swap(kind_, other.kind_);
    return *this;
  }
  ~TensorFunction() {
    if (held_ != nullptr) kind_->drop(held_);
  }

  explicit operator bool() const { return held_ != nullptr; }
  // Calls the function with x. There must be one.
  Tensor operator()(const Tensor& x) const { return kind_->run(held_, x); }

 private:
  // The operations on a held function, which know its type.
  struct Kind {
    Tensor (*run)(const void* held, const Tensor& x);
    void* (*copy)(const void* held);
    void (*drop)(void* held);
  };
  template <typename F>
  static Tensor run(const void* held, const Tensor& x) {
    return (*static_cast<const F*>(held))(x);
  }
  template <typename F>
  static void* copy(const void* held) {
    return new F(*static_cast<const F*>(held));
  }
  template <typename F>
  static void drop(void* held) {
    delete static_cast<F*>(held);
  }
  template <typename F>
  static constexpr Kind kKind{run<F>, copy<F>, drop<F>};

  void* held_ = nullptr;
  const Kind* kind_ = nullptr;
};

}  // namespace gt::inline v1
