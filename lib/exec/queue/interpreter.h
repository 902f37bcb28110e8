// Runs the steps of a recipe, on the thread of the compute queue or on the
// communication thread, and spreads failures. A value is poisoned when it has a
// fault: a step that reads one is left out, and what it would make is poisoned
// with the same fault. What does not depend on it is computed as ever.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

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
class Interpreter {
 public:
  // `values` are the recipe's arguments and then its blocks. When a kernel
  // fails, `failed(error)` reports it and gives the fault of what it was to
  // make.
  template <typename Failed>
  void run(const Recipe& recipe, std::span<Value* const> values,
           const Failed& failed) {
    void** data = find_data(values);
    if (recipe.is_simple && poisoned_ == 0) [[likely]] {
      const size_t n = recipe.arguments;
      const Status s = run_kernel(*recipe.steps[0].kernel, {data, n},
                                  {data + n, values.size() - n});
      if (!s.ok()) [[unlikely]]
        poison_all(recipe.steps[0], values, failed(s.error()));
      return;
    }
    for (const RecipeStep& step : recipe.steps) {
      if (!prepare(recipe, step, values)) continue;
      const Status s = run_kernel(*step.kernel, in_, out_);
      if (!s.ok()) poison_all(step, values, failed(s.error()));
    }
  }

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
  // False when the step reads what is poisoned.
  bool prepare(const Recipe& recipe, const RecipeStep& step,
               std::span<Value* const> values);
  bool takes_fault(const RecipeStep& step, std::span<Value* const> values);
  void poison_all(const RecipeStep& step, std::span<Value* const> values,
                  const Fault& fault);

  size_t poisoned_ = 0;
  std::vector<void*> data_;  // by value of the recipe
  std::vector<const void*> in_;
  std::vector<void*> out_;
};

}  // namespace gt::exec
