// Runs the steps of recipes, on the thread of the compute queue or on the
// communication thread, and propagates failures. A value that has a fault is
// poisoned: a step that reads it is not run, and the values that the step would
// make are poisoned with the same fault. Everything else is computed as usual.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/message.h"
#include "exec/memory/device.h"
#include "exec/memory/value.h"
#include "exec/recipe/recipe.h"

namespace gt::exec {

// Calls kernel.run(). An exception becomes an error, so that a kernel that
// finds no scratch memory, or whose library gives up, fails in the same way as
// one that finds bad data.
Status run_kernel(Kernel& kernel, std::span<const void* const> in,
                  std::span<void* const> out);

// Used by one thread. It counts the values that it has poisoned, so that
// looking for faults costs nothing while nothing has failed.
//
// Where kernels leave checks (Device::leaves_checks()) a recipe can be run in
// two ways. run() waits for each check, so that faults are known when it
// returns. run_ahead() waits for no check and ignores faults; spread() sets the
// faults later, in the same order.
class Interpreter {
 public:
  // `device` is the one that the kernels run on.
  explicit Interpreter(Device& device)
      : late_(device.leaves_checks() ? &device : nullptr) {}

  // How a step ended that was run ahead, as part of the task with number
  // `task`. A step that succeeded and left no check has no outcome.
  struct Outcome {
    size_t task = 0;
    size_t step = 0;
    std::optional<Status> status;  // none: it has left a check
  };

  // Runs a recipe. `values` are the recipe's arguments and then its blocks.
  // When a kernel fails, `failed(error)` is called to report it; it returns the
  // fault for the values that the kernel would have made.
  template <typename Failed>
  void run(const Recipe& recipe, std::span<Value* const> values,
           const Failed& failed) {
    void** data = find_data(values);
    if (recipe.fused != nullptr && poisoned_ == 0) {
      const size_t n = recipe.arguments;
      GT_CHECK(
          run_checked(*recipe.fused, {data, n}, {data + n, values.size() - n})
              .ok());
      return;
    }
    if (recipe.is_simple && poisoned_ == 0) [[likely]] {
      const size_t n = recipe.arguments;
      const Status s = run_checked(*recipe.steps[0].kernel, {data, n},
                                   {data + n, values.size() - n});
      if (!s.ok()) [[unlikely]]
        poison_all(recipe.steps[0], values, failed(s.error()));
      return;
    }
    for (const RecipeStep& step : recipe.steps) {
      if (poisoned_ > 0 && takes_fault(step, values)) continue;
      find_operands(recipe, step, values);
      const Status s = run_checked(*step.kernel, in_, out_);
      if (!s.ok()) poison_all(step, values, failed(s.error()));
    }
  }

  // Runs all steps, even if values are poisoned or a step fails: what they make
  // of bad values is never seen, since spread() must be called with the
  // outcomes. The outcomes are appended to `outcomes` under the number `task`.
  void run_ahead(const Recipe& recipe, std::span<Value* const> values,
                 std::vector<Outcome>& outcomes, size_t task = 0);
  // Poisons and clears the values that run() would have. All outcomes must be
  // known, that is, have a status.
  template <typename Failed>
  void spread(const Recipe& recipe, std::span<Value* const> values,
              std::span<const Outcome> outcomes, const Failed& failed) {
    for (size_t i = 0; i < recipe.steps.size(); ++i) {
      const RecipeStep& step = recipe.steps[i];
      const bool has_outcome = !outcomes.empty() && outcomes[0].step == i;
      const bool is_poisoned = poisoned_ > 0 && takes_fault(step, values);
      if (!has_outcome) continue;
      const Status& s = *outcomes[0].status;
      outcomes = outcomes.subspan(1);
      if (!is_poisoned && !s.ok()) poison_all(step, values, failed(s.error()));
    }
  }
  bool knows_faults() const { return poisoned_ > 0; }

  void poison(Value& value, const Fault& fault) {
    if (value.fault == nullptr) ++poisoned_;
    value.fault = fault;
  }
  // Removes the value's fault, since the value is deleted or is made anew.
  void clear(Value& value) {
    if (value.fault == nullptr) return;
    value.fault = nullptr;
    --poisoned_;
  }

 private:
  void** find_data(std::span<Value* const> values) {
    const size_t n = values.size();
    if (data_.size() < n) data_.resize(n);
    void** to = data_.data();
    for (size_t i = 0; i < n; ++i) to[i] = values[i]->data;
    return to;
  }
  Status run_checked(Kernel& kernel, std::span<const void* const> in,
                     std::span<void* const> out) {
    Status s = run_kernel(kernel, in, out);
    if (late_ != nullptr && late_->checks() > 0) s = *late_->take_check(true);
    return s;
  }
  // Sets in_ and out_ to the step's addresses; find_data() must have been
  // called.
  void find_operands(const Recipe& recipe, const RecipeStep& step,
                     std::span<Value* const> values);
  bool takes_fault(const RecipeStep& step, std::span<Value* const> values);
  void poison_all(const RecipeStep& step, std::span<Value* const> values,
                  const Fault& fault);

  Device* late_;  // null if kernels leave no checks
  size_t poisoned_ = 0;
  std::vector<void*> data_;  // by value of the recipe
  std::vector<const void*> in_;
  std::vector<void*> out_;
};

}  // namespace gt::exec
