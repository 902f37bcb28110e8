// What the refs of a call's steps stand for while the steps are walked.
#pragma once

#include <array>
#include <vector>

#include "ops/op.h"

namespace gt {

// A value of type T for each ref; `unset` where none was set.
template <typename T>
class StepValues {
 public:
  // `operands`: of the refs to operands, by index.
  explicit StepValues(std::vector<T> operands, T unset = {}) : unset_(unset) {
    of(Ref::Kind::kOperand) = std::move(operands);
  }

  void set(const Ref& ref, T value) {
    std::vector<T>& values = of(ref.kind);
    if (ref.index >= values.size()) values.resize(ref.index + 1, unset_);
    values[ref.index] = std::move(value);
  }
  // Stays where it is until set() is called.
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
