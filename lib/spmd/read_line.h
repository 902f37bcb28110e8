// A line that is to be typed, with its operands as it reads them and the form
// of its call: what all rules look at.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ops/call.h"
#include "spmd/axis_names.h"
#include "spmd/fault.h"
#include "spmd/placed.h"
#include "spmd/sharded_value.h"
#include "stream/line.h"

namespace gt {

// How lines are typed: gt-check's options, and what programs ask that do not
// report faults.
struct TypingMode {
  bool local = false;             // shards are not followed on any axis
  bool permissive = false;        // an operand is skipped on axes that it lacks
  bool explicit_partial = false;  // contracting a shard needs #partial=
  std::vector<std::string> local_axes = {};  // local inside global mode
  // A fault leaves untyped what it is about, and nothing else. With `local`.
  bool passes_over = false;
};

// A line and where it stands. `operands`: of names, as far as they are known;
// else null. `target`: what #grad= names, or null.
struct LineToType {
  const Line& line;
  const LineRanks* where;  // null: a line without ranks
  const AxisNames& names;
  std::span<const ShardedValue* const> operands;
  const ShardedValue* target;
  const TypingMode& mode;
};

class ReadLine {
 public:
  // Faults: operands of which only some ranks are read, or that stand on
  // axes which the mesh does not cover.
  ReadLine(const LineToType& in, TypeFaults& faults);
  ReadLine(const ReadLine&) = delete;  // its call views into it

  const LineToType& in;
  const Line& line;
  const AxisNames& names;
  const Op* const op;        // null of an unknown one
  std::vector<Axis> within;  // axes along which the line's ranks differ
  // On the ranks and on the mesh where the line reads them; of names.
  std::vector<std::optional<ShardedValue>> operands;
  bool is_readable = false;  // no operand had a fault
  bool knows_all = true;     // no operand's type is unknown
  // As the first of its ranks runs it; by form alone where shapes are not known
  // or do not fit.
  Call call;
  bool is_bound = false;   // with types
  bool is_formed = false;  // in form alone
  // Of the results, by position; an error where shapes do not fit.
  std::optional<Result<std::vector<std::vector<Type>>>> pieces;
  std::string misfit;  // why shapes do not go together

  bool is_placed() const { return in.where != nullptr; }
  const std::vector<int64_t>& ranks() const { return in.where->ranks; }
  bool has_pieces() const { return pieces.has_value() && pieces->ok(); }
  bool is_name(size_t operand) const {
    return operand < operands.size() && operands[operand].has_value();
  }
  bool is_within(const Axis& axis) const;
  // Shards are not followed on the axis: by the mode, or the note #local.
  bool is_local() const { return is_local_; }
  bool is_local(const Axis& axis) const;
  bool is_local_by_mode(const Axis& axis) const;  // the note apart
  bool crosses() const;
  // Makes a value of no tensor: its op begins with a type or a path.
  bool is_source() const;
  // The line is a grad, which gt-emit replaces by the lines of the gradient.
  bool is_grad() const;
  Collective collective() const { return op->row->collective; }

  // What split= says of a tensor of so many dimensions: whether there is such a
  // key that can be read; what cannot is told with the shapes.
  bool spec_of_split(size_t dims, Placement& type) const;
  // Cuts the type by entries on axes of the mesh. False: there is none such.
  bool shard_by(const std::vector<SplitEntry>& split, size_t dims,
                Placement& type) const;
  // Of each of the call's arguments, as join() takes them.
  std::vector<char> letters_on(const Axis& axis) const;
  // How many ranks of a group along these axes there are.
  int64_t group_size(const std::vector<Axis>& group) const;

 private:
  void read_operands(TypeFaults& faults);
  ShardedValue read(const ShardedValue& value,
                    const std::vector<int64_t>& ranks, size_t operand,
                    TypeFaults& faults) const;
  bool is_over(const Axis& axis) const;
  bool check_local_axes(TypeFaults& faults) const;
  void infer_pieces();
  void bind_call();

  bool is_local_ = false;
  std::optional<Result<LocalPlan>> plan_;  // what `call` views
};

// Whether the argument's type counts: tensors, and scalars with a name.
bool is_typed(const Argument& a);

}  // namespace gt
