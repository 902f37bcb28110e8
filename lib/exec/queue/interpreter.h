// Runs the steps of a recipe, on the thread of the compute queue or on the
// communication thread, and spreads failures. A value is poisoned when it has a
// fault: a step that reads one is left out, and what it would make is poisoned
// with the same fault. What does not depend on it is computed as ever.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "exec/memory/device.h"
#include "exec/memory/value.h"
#include "exec/recipe/recipe.h"

namespace gt::exec {

// Calls kernel.run(). An exception becomes an error, so that a kernel which
// finds no scratch memory, or whose library gives up, fails like one that finds
// bad data.
Status run_kernel(Kernel& kernel, std::span<const void* const> in,
                  std::span<void* const> out);

// Used by one thread. It counts the values that it has poisoned, so that faults
// cost nothing as long as nothing fails.
//
// Where kernels leave checks (Device::leaves_checks()) a recipe can be run in
// two ways. run() waits for each check, so that faults are known when it
// returns. run_ahead() waits for none and knows of no faults; spread() does so
// later, in the same order.
class Interpreter {
 public:
  // `device` is that of the kernels.
  explicit Interpreter(Device& device)
      : late_(device.leaves_checks() ? &device : nullptr) {}

  // How a step ended that was run ahead, of one of several tasks. Steps that
  // did well and left no check have none.
  struct Outcome {
    size_t task = 0;
    size_t step = 0;
    std::optional<Status> status;  // none: it has left a check
  };

  // `values` are the recipe's arguments and then its blocks. When a kernel
  // fails, `failed(error)` reports it and gives the fault of what it was to
  // make.
  template <typename Failed>
  void run(const Recipe& recipe, std::span<Value* const> values,
           const Failed& failed) {
    void** data = find_data(values);
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

  // Runs all steps, whatever is poisoned or fails: what they then make is never
  // seen, since spread() is to be called with the outcomes, which it adds, as
  // those of the task of that number.
  void run_ahead(const Recipe& recipe, std::span<Value* const> values,
                 std::vector<Outcome>& outcomes, size_t task = 0);
  // Poisons, and makes well, what run() would have. All outcomes are known.
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
  // The value's fault is forgotten, since it goes or is made anew.
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
  // Gives in_ and out_ the step's addresses; find_data() was called.
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
