#include "exec/queue/interpreter.h"

#include <exception>

namespace gt::exec {

Status run_kernel(Kernel& kernel, std::span<const void* const> in,
                  std::span<void* const> out) {
  try {
    return kernel.run(in, out);
  } catch (const std::exception& e) {
    return Error{e.what()};
  }
}

void Interpreter::find_operands(const Recipe& recipe, const RecipeStep& step,
                                std::span<Value* const> values) {
  in_.clear();
  out_.clear();
  for (const int32_t v : step.in) {
    const auto i = static_cast<size_t>(v);
    in_.push_back(
        v == kNoValue ? nullptr
        : i < values.size()
            ? data_[i]
            : static_cast<const void*>(&recipe.constants[i - values.size()]));
  }
  for (const int32_t v : step.out)
    out_.push_back(data_[static_cast<size_t>(v)]);
}

void Interpreter::run_ahead(const Recipe& recipe,
                            std::span<Value* const> values,
                            std::vector<Outcome>& outcomes, size_t task) {
  find_data(values);
  size_t checks = late_->checks();
  for (size_t i = 0; i < recipe.steps.size(); ++i) {
    find_operands(recipe, recipe.steps[i], values);
    Status s = run_kernel(*recipe.steps[i].kernel, in_, out_);
    if (late_->checks() > checks) {
      checks = late_->checks();
      outcomes.push_back({task, i, std::nullopt});
    } else if (!s.ok()) {
      outcomes.push_back({task, i, std::move(s)});
    }
  }
}

// True if the step reads a poisoned value: then its outputs are poisoned with
// that fault. Otherwise clears the faults of its outputs.
bool Interpreter::takes_fault(const RecipeStep& step,
                              std::span<Value* const> values) {
  for (const int32_t v : step.in) {
    const auto i = static_cast<size_t>(v);
    if (v == kNoValue || i >= values.size()) continue;
    if (const Fault fault = values[i]->fault) {
      poison_all(step, values, fault);
      return true;
    }
  }
  for (const int32_t v : step.out) clear(*values[static_cast<size_t>(v)]);
  return false;
}

void Interpreter::poison_all(const RecipeStep& step,
                             std::span<Value* const> values,
                             const Fault& fault) {
  for (const int32_t v : step.out) {
    poison(*values[static_cast<size_t>(v)], fault);
  }
}

}  // namespace gt::exec
