// Optimizers: gt::optim. A step is some lines of the stream, one for each
// parameter if the language has an op for the optimizer. The state that an
// optimizer has for parameter w is in registers named after it, m.w and v.w.
// The number of the step is a register as well, from which the stream computes
// a learning rate that changes: so the lines of a step are the same text each
// time. AdamW also counts the steps of each parameter, t.w, since one that gets
// its first gradient later is corrected by its own count.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gt/data.h>
#include <gt/gt.h>
#include <gt/owned.h>

namespace gt::inline v1 {
namespace optim {

// ---- learning rates ---------------------------------------------------------

// The learning rate as a function of the step.
class Schedule {
 public:
  // Maps the number of steps done so far to a factor of the rate.
  using Factor = TensorFunction;

  Schedule(double rate) : rate_(rate) {}  // NOLINT: implicit
  Schedule(double rate, Factor factor)
      : rate_(rate), factor_(std::move(factor)) {}
  // Returns a schedule that first rises linearly from 0 for this many steps;
  // the old schedule begins after them.
  Schedule warmup(int64_t steps) const {
    Schedule out = *this;
    out.warmup_ = steps;
    return out;
  }

  bool is_constant() const { return !factor_ && warmup_ == 0; }
  double rate() const { return rate_; }
  // Writes the lines that compute the rate of step t, a scalar tensor that
  // counts from 1.
  Tensor of(const Tensor& t, At at = At::here()) const {
    if (warmup_ == 0) {
      return mul(factor_ ? factor_(sub(t, 1, at)) : ones({}, at), rate_, at);
    }
    Tensor up = div(t, warmup_, at);
    up = minimum(up, 1, at);
    if (factor_) {
      Tensor after = sub(t, warmup_, at);
      after = maximum(after, 0, at);
      up = mul(up, factor_(after), at);
    }
    return mul(up, rate_, at);
  }

 private:
  double rate_;
  int64_t warmup_ = 0;
  Factor factor_;
};

inline Schedule constant(double rate) { return rate; }
// Multiplies the rate by `factor` after every `every` steps; PyTorch's StepLR.
inline Schedule step(double rate, int64_t every, double factor = 0.1,
                     At at = At::here()) {
  return {rate, [=](const Tensor& done) {
            return pow(factor, floordiv(done, every, at), at);
          }};
}
// Falls from the rate to `last` times the rate in `steps` steps, along half a
// cosine; PyTorch's CosineAnnealingLR.
inline Schedule cosine(double rate, int64_t steps, double last = 0,
                       At at = At::here()) {
  constexpr double kPi = 3.14159265358979323846;
  return {rate, [=](const Tensor& done) {
            Tensor x = mul(done, kPi / static_cast<double>(steps), at);
            x = cos(x, at);
            x = mul(x, (1 - last) / 2, at);
            return add(x, (1 + last) / 2, at);
          }};
}
// Falls linearly from the rate to `last` times the rate in `steps` steps.
inline Schedule linear(double rate, int64_t steps, double last = 0,
                       At at = At::here()) {
  return {rate, [=](const Tensor& done) {
            Tensor x = minimum(div(done, steps, at), 1, at);
            return add(mul(x, last - 1, at), 1, at);
          }};
}

// ---- gradients --------------------------------------------------------------

// Scales the gradients of the parameters down, all by one factor, so that their
// joint 2-norm is at most max. It is one line. Parameters without a gradient
// are left out.
inline void clip_grad_norm(const std::vector<Tensor>& parameters, double max,
                           At at = At::here()) {
  detail::Call call("clip", at);
  std::vector<gt_value*> gradients;
  for (const Tensor& parameter : parameters) {
    gt_value* const gradient = gt_gradient(parameter.raw());
    if (gradient == nullptr) continue;
    call.add(parameter.grad());
    gradients.push_back(gradient);
  }
  if (gradients.empty()) return;
  call.add(Input(max));
  call.bind(gradients.data(), gradients.size());
}

// ---- optimizers -------------------------------------------------------------

// The base of the optimizers: the parameters, the rate and the state.
class Optimizer {
 public:
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  // Changes each parameter that has a gradient.
  void step(At at = At::here()) {
    Tensor rate;
    if (t_.defined()) t_.add_(1, at);
    if (!schedule_.is_constant()) rate = schedule_.of(t_, at);
    const Input lr = rate.defined() ? Input(rate) : Input(schedule_.rate());
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Tensor gradient = parameters_[i].grad();
      if (gradient.defined()) change(i, gradient, lr, at);
    }
  }
  void zero_grad() {
    for (Tensor& parameter : parameters_) parameter.zero_grad();
  }
  // Sets a constant rate from now on. It is a number in the lines, and so they
  // change with it; those of a schedule stay the same.
  void set_rate(double rate) { schedule_ = rate; }
  void clip_grad_norm(double max, At at = At::here()) const {
    optim::clip_grad_norm(parameters_, max, at);
  }

  // Returns the optimizer's state. A run that loads it, the parameters and the
  // position in the data continues bit for bit as if it had not been
  // interrupted.
  StateDict state_dict() const {
    StateDict out;
    if (t_.defined()) detail::append(out, t_.name(), t_);
    for (const Tensor& state : state_) {
      detail::append(out, state.name(), state);
    }
    return out;
  }
  void save(const std::string& path, At at = At::here()) const {
    gt::save(state_dict(), path, at);
  }
  void load(const std::string& path, At at = At::here()) const {
    gt::load(state_dict(), path, at);
  }

 protected:
  Optimizer(Schedule schedule, const std::string& name, At at)
      : schedule_(std::move(schedule)) {
    if (!schedule_.is_constant()) t_ = zero(name + ".t", at);
  }
  // Writes the lines that change parameter i.
  virtual void change(size_t i, const Tensor& gradient, const Input& lr,
                      At at) = 0;
  // Makes a state tensor: zeros of the parameter's type, placed where the
  // parameter is, and named after it, KIND.NAME such as m.w.
  Tensor zeros_like(const Tensor& parameter, const char* kind, At at) {
    detail::Call call("mul", at);
    call.add(parameter);
    call.add(Input(0));
    state_.push_back(call.run_as(detail::joined(kind, '.', parameter.name())));
    return state_.back();
  }
  // Throws if a call of an optimizer would change nothing, or not as it says.
  static void check(const std::vector<Tensor>& parameters, bool is_right,
                    const char* wrong, At at) {
    if (parameters.empty()) {
      is_right = false;
      wrong = "there are no parameters, and no step would change anything";
    }
    if (is_right) return;
    gt_set_error(GT_WRONG, "optimizer: %s", wrong);
    detail::fail(at);
  }
  // Makes a count of the parameter's steps, a state tensor.
  Tensor count(const Tensor& parameter, At at) {
    state_.push_back(zero(detail::joined("t", '.', parameter.name()), at));
    return state_.back();
  }

  std::vector<Tensor> parameters_;

 private:
  static Tensor zero(const std::string& name, At at) {
    const int64_t none = 0;
    return from_blob(&none, i64(), name, at);
  }

  Schedule schedule_;
  Tensor t_;  // the steps that the optimizer has done; only for a schedule
  std::vector<Tensor> state_;
};

struct SGDOptions {
  double momentum = 0;
  bool nesterov = false;
  double decay = 0;  // PyTorch's weight_decay: added to the gradient
};
// The same as torch.optim.SGD.
class SGD : public Optimizer {
 public:
  SGD(const std::vector<Tensor>& parameters, const Schedule& rate,
      const SGDOptions& options = {}, const std::string& name = "sgd",
      At at = At::here())
      : Optimizer(rate, name, at) {
    add(parameters, options, at);
  }
  // Adds parameters that have options of their own.
  void add(const std::vector<Tensor>& parameters, const SGDOptions& options,
           At at = At::here()) {
    check(parameters, !options.nesterov || options.momentum > 0,
          "nesterov takes a momentum above 0", at);
    for (const Tensor& parameter : parameters) {
      parameters_.push_back(parameter);
      options_.push_back(options);
      v_.push_back(options.momentum == 0 ? Tensor()
                                         : zeros_like(parameter, "v", at));
    }
  }

 private:
  void change(size_t i, const Tensor& gradient, const Input& lr,
              At at) override {
    Tensor& w = parameters_[i];
    const SGDOptions& options = options_[i];
    Tensor& v = v_[i];
    Tensor g = gradient;
    if (options.decay != 0) g = gt::add(g, mul(w, options.decay, at), at);
    g = detach(g, at);
    if (!v.defined()) {
      sgd_(w, g, lr, {}, at);
    } else if (!options.nesterov) {
      sgd_(w, g, v, lr, {.momentum = options.momentum}, at);
    } else {
      const NoGrad no_grad;
      v.mul_(options.momentum, at);
      v.add_(g, at);
      g = gt::add(g, mul(v, options.momentum, at), at);
      sgd_(w, g, lr, {}, at);
    }
  }
  std::vector<SGDOptions> options_;  // for each parameter, as v_
  std::vector<Tensor> v_;
};

using AdamWOptions = AdamwOptions;  // the options of the op adamw
// The same as torch.optim.AdamW; with decay 0, as Adam.
class AdamW : public Optimizer {
 public:
  AdamW(const std::vector<Tensor>& parameters, const Schedule& rate,
        const AdamWOptions& options = {}, const std::string& name = "adamw",
        At at = At::here())
      : Optimizer(rate, name, at) {
    add(parameters, options, at);
  }
  // Adds parameters that have options of their own.
  void add(const std::vector<Tensor>& parameters, const AdamWOptions& options,
           At at = At::here()) {
    check(parameters,
          options.beta1 >= 0 && options.beta1 < 1 && options.beta2 >= 0 &&
              options.beta2 < 1,
          "beta1 and beta2 are from 0 to below 1", at);
    for (const Tensor& parameter : parameters) {
      parameters_.push_back(parameter);
      options_.push_back(options);
      t_.push_back(count(parameter, at));
      m_.push_back(zeros_like(parameter, "m", at));
      v_.push_back(zeros_like(parameter, "v", at));
    }
  }

 private:
  void change(size_t i, const Tensor& gradient, const Input& lr,
              At at) override {
    t_[i].add_(1, at);
    adamw_(parameters_[i], gradient, m_[i], v_[i], t_[i], lr, options_[i], at);
  }
  std::vector<AdamWOptions> options_;  // for each parameter, as the others
  std::vector<Tensor> t_, m_, v_;
};

}  // namespace optim
}  // namespace gt::inline v1
