// Scalars that are copied if they are what they must be: the step number of an
// optimizer, and the probability of a dropout.
#include "exec/backend/element.h"
#include "exec/backend/probability.h"
#include "exec/backend/ref/ref.h"
#include "exec/backend/step_number.h"

namespace gt::exec::ref {
namespace {

// y = step_number t, y = probability p: copies the scalar if `check` has no
// objection.
class Checked final : public Kernel {
 public:
  using Check = Status (*)(double);
  Checked(const Call& call, Check check)
      : dtype_(call.type(0).dtype), check_(check) {}
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const double value = load_real(dtype_, in[0], 0);
    store_real(dtype_, out[0], 0, value);
    return check_(value);
  }

 private:
  Dtype dtype_;
  Check check_;
};

template <Checked::Check check>
std::unique_ptr<Kernel> make_checked(const Call& call) {
  return std::make_unique<Checked>(call, check);
}

constexpr KernelRow kOptimizerKernels[] = {
    {"step_number", make_checked<check_step_number>},
    {"probability", make_checked<check_probability>},
};

}  // namespace

std::span<const KernelRow> optimizer_kernels() { return kOptimizerKernels; }

}  // namespace gt::exec::ref
