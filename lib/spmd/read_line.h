// A line that is to be typed, as all rules (rules.h) look at it: with the
// placements of its operands on the ranks and the mesh on which it reads them,
// and with its call, bound as far as its types are known.
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

// How lines are typed: the options of gt-check, and of grad, which wants types
// and reports no faults.
struct TypingMode {
  // Shards are not followed: only the letters R, I, V and P are checked.
  bool local = false;
  // An operand without a type on an axis is passed over there, and no fault.
  bool permissive = false;
  // A contraction over a sharded dimension gives P only where #partial= says
  // so.
  bool explicit_partial = false;
  // The axes on which shards are not followed, when they are on others.
  std::vector<std::string> local_axes = {};
  // A fault leaves untyped what it is about, and nothing else. Only with
  // `local`.
  bool passes_over = false;
};

// A line, and what is known where it stands.
struct LineToType {
  const Line& line;
  const LineRanks* where;  // null: the line has no ranks
  const AxisNames& names;
  // By operand of the line: what a name holds; null of other operands, and of
  // unknown names.
  std::span<const ShardedValue* const> operands;
  const ShardedValue* target;  // what #grad= names, or null
  const TypingMode& mode;
};

class ReadLine {
 public:
  // Adds faults: an operand is read on some of its ranks where all are needed,
  // or its placement is on axes that do not fit the current mesh.
  ReadLine(const LineToType& in, TypeFaults& faults);
  ReadLine(const ReadLine&) = delete;  // its call views into it

  const LineToType& in;
  const Line& line;
  const AxisNames& names;
  const Op* const op;        // null if it is unknown
  std::vector<Axis> within;  // the axes along which the line's ranks differ
  // By operand, of names: the value on the ranks on which the line reads it,
  // with a placement on the axes of the current mesh.
  std::vector<std::optional<ShardedValue>> operands;
  bool is_readable = false;  // reading the operands found no fault
  bool knows_all = true;     // no operand's state is kUnknown
  // The call as the first of the line's ranks runs it: with types (is_bound),
  // or, where shapes are unknown or do not fit, as bind_form() leaves it
  // (is_formed).
  Call call;
  bool is_bound = false;
  bool is_formed = false;
  // The types of the results' pieces, by result and then by position in the
  // line's ranks; an error if shapes do not fit; nothing if operands' are
  // unknown.
  std::optional<Result<std::vector<std::vector<Type>>>> pieces;
  std::optional<Error> misfit;  // of a line without ranks whose shapes do not
                                // fit

  bool is_placed() const { return in.where != nullptr; }
  const std::vector<int64_t>& ranks() const { return in.where->ranks; }
  bool has_pieces() const { return pieces.has_value() && pieces->ok(); }
  bool is_name(size_t operand) const {
    return operand < operands.size() && operands[operand].has_value();
  }
  bool is_within(const Axis& axis) const;
  // Whether shards are not followed: on all axes, or on this one; by the mode
  // or by the line's note #local. is_local_by_mode() leaves the note out.
  bool is_local() const { return is_local_; }
  bool is_local(const Axis& axis) const;
  bool is_local_by_mode(const Axis& axis) const;
  bool crosses() const;  // crosses_ranks() of placed.h
  // Whether the line makes a value of no tensor, as creation and load do: its
  // op begins with a type or a path. Only of a line whose call has an op.
  bool is_source() const;
  // Whether the line is a grad, which gt-emit replaces by the gradient's lines.
  bool is_grad() const;
  Collective collective() const { return op->row->collective; }

  // Shards `type`, of a tensor with so many dimensions, as the line's split=
  // says; without the key it stays as it is. False if split= cannot be read or
  // names no such axis or dimension, which is an error of the shapes.
  bool spec_of_split(size_t dims, Placement& type) const;
  // Shards `type` by these entries. False as above.
  bool shard_by(const std::vector<SplitEntry>& split, size_t dims,
                Placement& type) const;
  // The letters on the axis of the call's arguments, as join() takes them.
  std::vector<char> letters_on(const Axis& axis) const;
  // How many ranks a group over these axes has, by operand 0.
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

// Whether the argument is a name, whose placement counts.
bool is_typed(const Argument& a);

}  // namespace gt
