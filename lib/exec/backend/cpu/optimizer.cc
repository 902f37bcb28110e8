// Optimizer steps in one pass over memory. f16 and bf16 are left to the
// expansions.
#include <cmath>

#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/element.h"
#include "exec/backend/step_number.h"

namespace gt::exec::cpu {
namespace {

// w = sgd w g lr; w v = sgd w g v lr momentum=. Arguments: w g v lr.
template <typename T>
class Sgd final : public Kernel {
 public:
  Sgd(const Call& call, const Context& context)
      : loop_(loops_for<T>(context).sgd),
        n_(call.results[0].elements()),
        rate_(call.type(3).dtype),
        momentum_(static_cast<T>(call.number("momentum"))),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const T lr = static_cast<T>(load_real(rate_, in[3], 0));
    const auto* w = static_cast<const T*>(in[0]);
    const auto* g = static_cast<const T*>(in[1]);
    const auto* v = static_cast<const T*>(in[2]);
    auto* w_out = static_cast<T*>(out[0]);
    auto* v_out = v == nullptr ? nullptr : static_cast<T*>(out[1]);
    in_parallel(threads_, n_, kWorthAThread / 16,
                [&](int64_t begin, int64_t end) {
                  loop_(w + begin, g + begin, v == nullptr ? v : v + begin,
                        w_out + begin, v == nullptr ? v_out : v_out + begin,
                        end - begin, lr, momentum_);
                });
    return ok_status();
  }

  bool in_place(size_t operand, size_t result) const override {
    return (operand == 0 && result == 0) || (operand == 2 && result == 1);
  }

 private:
  decltype(FloatLoops<T>::sgd) loop_;
  int64_t n_;
  Dtype rate_;
  T momentum_;
  int threads_;
};

// w m v = adamw w g m v t lr beta1= beta2= eps= decay=: Loshchilov and Hutter,
// Decoupled weight decay regularization, rounded as in torch.optim.AdamW. What
// depends on scalars alone is computed in double.
template <typename T>
class Adamw final : public Kernel {
 public:
  Adamw(const Call& call, const Context& context)
      : loop_(loops_for<T>(context).adamw),
        n_(call.results[0].elements()),
        step_(call.type(4).dtype),
        rate_(call.type(5).dtype),
        decay_(call.number("decay")),
        threads_(context.threads) {
    factors_.beta1 = call.number("beta1");
    factors_.beta2 = call.number("beta2");
    factors_.eps = call.number("eps");
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const double t = load_real(step_, in[4], 0);
    if (Status s = check_step_number(t); !s.ok()) return s;
    const double lr = load_real(rate_, in[5], 0);
    factors_.keep = 1 - lr * decay_;
    factors_.rate = lr / (1 - std::pow(factors_.beta1, t));
    factors_.root = std::sqrt(1 - std::pow(factors_.beta2, t));
    in_parallel(threads_, n_, kWorthAThread / 32,
                [&](int64_t begin, int64_t end) {
                  const T* from[4];
                  T* to[3];
                  for (size_t k = 0; k < 4; ++k) {
                    from[k] = static_cast<const T*>(in[k]) + begin;
                  }
                  for (size_t k = 0; k < 3; ++k) {
                    to[k] = static_cast<T*>(out[k]) + begin;
                  }
                  loop_(from, to, end - begin, factors_);
                });
    return ok_status();
  }

  // w, m and v may be overwritten; the operand g lies between w and m.
  bool in_place(size_t operand, size_t result) const override {
    return operand == (result == 0 ? 0 : result + 1);
  }

 private:
  decltype(FloatLoops<T>::adamw) loop_;
  int64_t n_;
  Dtype step_, rate_;
  double decay_;
  AdamwFactors factors_{};
  int threads_;
};

constexpr KernelRow kOptimizerKernels[] = {
    {"sgd", make_float<Sgd>},
    {"adamw", make_float<Adamw>},
};

}  // namespace

std::span<const KernelRow> optimizer_kernels() { return kOptimizerKernels; }

}  // namespace gt::exec::cpu
