// A table of the values that the names in a call's steps (text.h) stand for,
// for code that walks the steps. A value may be a type, an id or a buffer.
#pragma once

#include <array>
#include <vector>

#include "ops/op.h"

namespace gt {

// Holds a value for each Ref, or `unset` for one that was not set.
template <typename T>
class StepValues {
 public:
  // `operands`: the values of the call's arguments, in their order.
  explicit StepValues(std::vector<T> operands, T unset = {}) : unset_(unset) {
    of(Ref::Kind::kOperand) = std::move(operands);
  }

  void set(const Ref& ref, T value) {
    std::vector<T>& values = of(ref.kind);
    if (ref.index >= values.size()) values.resize(ref.index + 1, unset_);
    values[ref.index] = std::move(value);
  }
  // The reference is valid until the next set().
  const T& operator[](const Ref& ref) const {
    const std::vector<T>& values = values_[static_cast<size_t>(ref.kind)];
    return ref.index < values.size() ? values[ref.index] : unset_;
  }

 private:
  std::vector<T>& of(Ref::Kind kind) {
    return values_[static_cast<size_t>(kind)];
  }

  T unset_;
  std::array<std::vector<T>, 5> values_;  // by kind of ref
};

}  // namespace gt
