// A line whose results are to be typed, in the form that all rules (rules.h)
// read: with the placements of its operands on the ranks and the mesh on which
// it reads them, and with its call, bound as far as the types are known.
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

// The options for typing lines: those of gt-check, and of grad, which needs
// types and reports no faults.
struct TypingMode {
  // Shards are not followed: only the letters R, I, V and P are checked.
  bool local = false;
  // An operand without a type on an axis is ignored there, and is no fault.
  bool permissive = false;
  // A contraction over a sharded dimension gives P only if #partial= says so.
  bool explicit_partial = false;
  // The axes on which shards are not followed, while they are followed on
  // others.
  std::vector<std::string> local_axes = {};
  // A fault leaves only what it is about untyped. Allowed only with `local`.
  bool passes_over = false;
};

// A line, and what is known where it stands in the stream.
struct LineToType {
  const Line& line;
  const LineRanks* where;  // null: the line has no ranks
  const AxisNames& names;
  // For each operand of the line, what its name holds; null for operands that
  // are no names, and for unknown names.
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
  // For each operand that is a name: the value on the ranks on which the line
  // reads it, with a placement on the axes of the current mesh.
  std::vector<std::optional<ShardedValue>> operands;
  bool is_readable = false;  // reading the operands found no fault
  bool knows_all = true;     // no operand's state is kUnknown
  // The call as the first of the line's ranks runs it: with types (is_bound),
  // or, if shapes are unknown or do not fit, as bind_form() leaves it
  // (is_formed).
  Call call;
  bool is_bound = false;
  bool is_formed = false;
  // The types of the results' pieces, by result and then by position in the
  // line's ranks; an error if shapes do not fit; nothing if those of operands
  // are unknown.
  std::optional<Result<std::vector<std::vector<Type>>>> pieces;
  std::optional<Error> misfit;  // set if the line has no ranks and its shapes
                                // do not fit

  bool is_placed() const { return in.where != nullptr; }
  const std::vector<int64_t>& ranks() const { return in.where->ranks; }
  bool has_pieces() const { return pieces.has_value() && pieces->ok(); }
  bool is_name(size_t operand) const {
    return operand < operands.size() && operands[operand].has_value();
  }
  bool is_within(const Axis& axis) const;
  // True if shards are not followed, by the mode or by the line's note #local:
  // on all axes, or on this one. is_local_by_mode() ignores the note.
  bool is_local() const { return is_local_; }
  bool is_local(const Axis& axis) const;
  bool is_local_by_mode(const Axis& axis) const;
  bool crosses() const;  // crosses_ranks() of placed.h
  // True if the line makes a value from no tensor, as creation and load do: its
  // op begins with a type or a path. The call must have an op.
  bool is_source() const;
  // True if the line is a grad, which gt-emit replaces by the gradient's lines.
  bool is_grad() const;
  Collective collective() const { return op->row->collective; }

  // Shards `type`, of a tensor with `dims` dimensions, as the line's split=
  // says; without the key it stays as it is. Returns false if split= cannot be
  // read or names no such axis or dimension, which is an error of the shapes.
  bool spec_of_split(size_t dims, Placement& type) const;
  // Shards `type` by these entries. Returns false as spec_of_split() does.
  bool shard_by(const std::vector<SplitEntry>& split, size_t dims,
                Placement& type) const;
  // Returns the letters on the axis of the call's arguments, as join() takes
  // them.
  std::vector<char> letters_on(const Axis& axis) const;
  // Returns how many ranks a group over these axes has, by operand 0.
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
  std::optional<Result<LocalPlan>> plan_;  // `call` has views into it
};

// True if the argument is a name, whose placement counts.
bool is_typed(const Argument& a);

}  // namespace gt
