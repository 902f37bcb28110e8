// Point-wise computations of several ops as one kernel. Values are added one by
// one, as operands or as what an op makes of others; a launch then computes
// those that are wanted, and whatever they are made of, element by element. A
// value is rounded to its dtype where it would have been written, so results
// have the bits that a kernel for each op gives.
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

  // A tensor in memory, or a number: `type` then says its category. By value,
  // since type() and slot() of another value move when one is added.
  Id add_memory(Type type, Slot slot);
  Id add_number(Type type, Slot slot, std::string text);

  // What a point-wise op, a cast, an expand or rand makes of values, which are
  // the call's arguments in order; none if it is another op, or one that can
  // meet wrong data and is not the only one here.
  std::optional<Id> add(const Call& call, std::span<const Id> arguments);

  // The value as another dtype, or broadcast to another shape.
  Id add_cast(Id of, const Type& to);

  // Copies from `other` the value `wanted` and all that it is computed from.
  // The leaves are not copied: `leaves` are the values of this fusion that take
  // the place of other.leaves(wanted), in the same order. Returns the id that
  // `wanted` has here.
  Id add_all(const Fusion& other, Id wanted, std::span<const Id> leaves);
  // The operands, which are memory or numbers, that the value is computed from.
  std::vector<Id> leaves(Id id) const;

  // From now on the value is read from there.
  void set_memory(Id id, const Slot& slot);

  const Type& type(Id id) const { return values_[id].type; }
  const Slot& slot(Id id) const { return values_[id].slot; }
  // The text of a number, else empty.
  const std::string& number_text(Id id) const { return values_[id].text; }
  bool is_computed(Id id) const { return values_[id].home == Home::kComputed; }
  bool is_number(Id id) const { return values_[id].home == Home::kNumber; }
  // How many ops a launch for the value takes together.
  size_t ops_of(Id id) const;

  // A launch that writes the values, which are of one shape, to as many places;
  // none if they are too many, or their operands.
  std::optional<Launch> launch(std::span<const Id> ids,
                               std::span<const Slot> to) const;
  std::optional<Launch> launch(Id id, const Slot& to) const {
    return launch({&id, 1}, {&to, 1});
  }

  // The same as a kernel that takes Items, so that runs over other memory, of
  // other shapes, can be one launch. None if they are too many for an item, or
  // if an operand is neither of the results' shape nor of one element.
  std::optional<ItemLaunch> launch_item(std::span<const Id> ids,
                                        std::span<const Slot> to) const;

  // The launch `first` of a plan that reduces, of a value that is computed in
  // the place of its operand. The values `ids`, which have the same shape, are
  // written on the way. None if they are too many, or their operands, or if an
  // operand is neither of that shape nor of one element.
  std::optional<Launch> launch_reduced(Id reduced, const Reducing& reducing,
                                       const Launch& first,
                                       std::span<const Id> ids,
                                       std::span<const Slot> to) const;

 private:
  using Value = FusedValue;
  using Home = FusedValue::Home;
  using Maker = FusedValue::Maker;

  std::optional<Id> add_formula(const Call& call,
                                std::span<const Id> arguments);
  // In the order they are computed in.
  std::vector<Id> needed(std::span<const Id> ids) const;

  std::vector<Value> values_;
};

// What is wrong with the data of a call of a point-wise op, if anything can be.
std::function<Error(int64_t, const Peek&)> explain_of(const Call& call);

}  // namespace gt::exec::cuda
