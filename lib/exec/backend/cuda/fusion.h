// Point-wise computations of several ops as one kernel. Values are added one by
// one, as operands or as an op's result of earlier values; a launch then
// computes the wanted values, and every value they are made of, element by
// element. Each value is rounded to its dtype, as if it had been written to
// memory, so the results have the same bits as with a kernel for each op.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/backend/cuda/fused_kernel.h"
#include "exec/backend/cuda/plan.h"

namespace gt::exec::cuda {

class Fusion {
 public:
  using Id = size_t;

  // Add a tensor in memory, or a number, of which `type` gives the weak dtype.
  // The arguments are passed by value, since adding a value moves what type()
  // and slot() of other values refer to.
  Id add_memory(Type type, Slot slot);
  Id add_number(Type type, Slot slot, std::string text);

  // Adds the result of a point-wise op, a cast, an expand or rand; `arguments`
  // are the values of the call's arguments, in order. None if it is another op.
  std::optional<Id> add(const Call& call, std::span<const Id> arguments);

  // Adds the value `of` as another dtype, or broadcast to another shape.
  Id add_cast(Id of, const Type& to);

  // Copies from `other` the value `wanted` and all values that it is computed
  // from. The leaves are not copied: `leaves` are the values of this fusion
  // that take the place of other.leaves(wanted), in the same order. Returns the
  // id that `wanted` has here.
  Id add_all(const Fusion& other, Id wanted, std::span<const Id> leaves);
  // Returns the operands, memory or numbers, that the value is computed from.
  std::vector<Id> leaves(Id id) const;

  // From now on the value is read from `slot` instead of being computed.
  void set_memory(Id id, const Slot& slot);

  const Type& type(Id id) const { return values_[id].type; }
  const Slot& slot(Id id) const { return values_[id].slot; }
  // Returns the text of a number; empty for any other value.
  const std::string& number_text(Id id) const { return values_[id].text; }
  bool is_computed(Id id) const { return values_[id].home == Home::kComputed; }
  bool is_number(Id id) const { return values_[id].home == Home::kNumber; }
  // Returns the number of ops that a launch for the value does.
  size_t ops_of(Id id) const;

  // Returns a launch that writes the values `ids`, which have one shape, to the
  // places `to`, one for each. None if there are too many values or operands,
  // or if one of several ops can meet wrong data.
  std::optional<Launch> launch(std::span<const Id> ids,
                               std::span<const Slot> to) const;
  std::optional<Launch> launch(Id id, const Slot& to) const {
    return launch({&id, 1}, {&to, 1});
  }

  // Does the same with a kernel that takes Items, so that runs over other
  // memory, of other shapes, can share one launch. None if there are too many
  // values or operands for an item, or if an operand has neither the results'
  // shape nor one element.
  std::optional<ItemLaunch> launch_item(std::span<const Id> ids,
                                        std::span<const Slot> to) const;

  // Returns the launch `first` of a plan that reduces, changed so that it
  // computes the value `reduced` instead of reading its operand. The values
  // `ids`, which have the same shape, are written to `to` on the way. None if
  // there are too many values or operands, or too much work for the threads of
  // `first`, or if an operand has neither that shape nor one element.
  std::optional<Launch> launch_reduced(Id reduced, const Reducing& reducing,
                                       const Launch& first,
                                       std::span<const Id> ids,
                                       std::span<const Slot> to) const;

 private:
  using Value = FusedValue;
  using Home = FusedValue::Home;
  using Maker = FusedValue::Maker;

  Id add_mixed(const Call& call, const char* formula, size_t integer,
               std::span<const Id> arguments);
  std::optional<Id> add_formula(const Call& call,
                                std::span<const Id> arguments);
  // Returns all values that `ids` are made of, in the order in which they are
  // computed.
  std::vector<Id> needed(std::span<const Id> ids) const;

  std::vector<Value> values_;
};

// Returns a function that says what is wrong with the data of a point-wise
// call; null if no data can be wrong.
std::function<Error(int64_t, const Peek&)> explain_of(const Call& call);

}  // namespace gt::exec::cuda
