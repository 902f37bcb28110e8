// The op that optimizers apply to their step number.
#include "exec/backend/element.h"
#include "exec/backend/ref/ref.h"
#include "exec/backend/step_number.h"

namespace gt::exec::ref {
namespace {

// y = step_number t: copies t, which must be the number of a step, from 1.
class StepNumber final : public Kernel {
 public:
  explicit StepNumber(const Call& call) : dtype_(call.type(0).dtype) {}
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const double t = load_real(dtype_, in[0], 0);
    store_real(dtype_, out[0], 0, t);
    return check_step_number(t);
  }

 private:
  Dtype dtype_;
};

std::unique_ptr<Kernel> make_step_number(const Call& call) {
  return std::make_unique<StepNumber>(call);
}

constexpr KernelRow kRows[] = {{"step_number", make_step_number}};

}  // namespace

std::span<const KernelRow> optimizer_kernels() { return kRows; }

}  // namespace gt::exec::ref
