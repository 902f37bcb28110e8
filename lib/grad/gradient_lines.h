// Appends lines to a gradient program. The types of their results are inferred
// from the op table, as for the lines of any program. Each result gets a
// handle.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "grad/line_types.h"
#include "grad/reverse.h"
#include "ops/call.h"

namespace gt::grad {

// The ranks and the mesh of a line.
struct LinePlace {
  std::vector<int64_t> ranks;  // in the order as written; none: unplaced
  MeshId mesh = 0;
};

// A gradient, or a part of one, on some ranks (ascending; none: unplaced).
struct HandleOnRanks {
  Handle handle;
  Ranks ranks;
};

// Returns the line as a program has it, with "r" and "x" for the names, which
// are not given yet. It keeps views into `line`.
Line written_line(const GradientLine& line, size_t results);

class GradientLines {
 public:
  using Keys = std::vector<std::pair<std::string, std::string>>;
  using TypeOnRank = std::function<Type(int64_t rank)>;

  GradientLines(const Tape& tape, ValueTypes& types, const MeshIds& meshes,
                GradientProgram& program)
      : tape_(tape), types_(types), meshes_(meshes), program_(program) {}

  // Make operands: text of the language, a gradient, or a value of the forward
  // program.
  static GradientOperand text(std::string t) {
    return {GradientOperand::Kind::kText, 0, std::move(t), {}};
  }
  static GradientOperand handle(Handle h) {
    return {GradientOperand::Kind::kHandle, h, {}, {}};
  }
  static GradientOperand forward(ValueId v) {
    return {GradientOperand::Kind::kForward, v, {}, {}};
  }

  // Sets the notes of the lines to come: #signal, #mb and #local of their
  // forward line.
  void set_notes(std::string notes) { notes_ = std::move(notes); }

  // Appends a line at the place, and returns its results. An operand is read on
  // the place's ranks unless it has ranks of its own. `claim` says what the
  // result, a constant, is on axes where that does not follow from the operands
  // (#type=). A line whose types do not fit together is appended all the same,
  // and fail() is called.
  std::vector<Handle> add(const Op* op, size_t results,
                          std::vector<GradientOperand> operands, Keys keys,
                          const LinePlace& place, Placement claim = {});
  Handle add(std::string_view op, std::vector<GradientOperand> operands,
             Keys keys, const LinePlace& place, Placement claim = {});
  // Appends a line of pieces_op(): one gradient on all ranks of the place, made
  // of the parts on their ranks, and of zeros of type zero(rank) on the ranks
  // `rest`.
  Handle join(const std::vector<HandleOnRanks>& parts, const Ranks& rest,
              const TypeOnRank& zero, const Placement& claim,
              const LinePlace& place);
  // Append a line of zeros: of type(rank) on each rank of the place, or cut
  // from a whole.
  Handle zeros(const TypeOnRank& type, const Placement& claim,
               const LinePlace& place);
  Handle zeros(Dtype dtype, const StatedCut& cut, const Placement& claim,
               const LinePlace& place);

  // Returns the type of a handle or a forward value.
  TypeId type_id(const GradientOperand& operand) const;
  const Type& type(const GradientOperand& operand, int64_t rank) const {
    return types_.on(type_id(operand), rank);
  }
  // Returns the letters of a type on each axis; empty for an unplaced one.
  const Placement& letters(TypeId type) const;
  // Returns how the pieces on the place's ranks are cut, as split= says it.
  std::optional<StatedCut> cut(TypeId type, const LinePlace& place) const {
    if (!ValueTypes::is_placed(type)) return std::nullopt;
    return cut(types_.placed(type), place);
  }
  std::optional<StatedCut> cut(const PlacedType& type,
                               const LinePlace& place) const {
    return stated_cut(type, place.ranks, meshes_[place.mesh]);
  }
  // Returns the type of the whole, if that is known.
  std::optional<Type> whole(TypeId type) const {
    if (!ValueTypes::is_placed(type)) return types_[type];
    const PlacedType& placed = types_.placed(type);
    if (!placed.global) return std::nullopt;
    return whole_of(sharded_value(placed));
  }
  const ValueTypes& types() const { return types_; }
  const Mesh* mesh(MeshId id) const { return meshes_[id]; }

  // If the gradient's line has #local, notes on it that the pieces are shards,
  // cut as the value is whose gradient they are. Without the note, a line with
  // #local gives unrelated values (V).
  void claim_shards(Handle handle, TypeId value);

  // Notes that a gradient is, on some axes, a sum that is still to be taken
  // (P), where its line gave unrelated values (V). If `fresh`, nothing else
  // uses the line yet, and it gets the note #partial=; otherwise a copy that
  // has the note is appended, and returned.
  Handle owe(Handle handle, const Placement& partial, bool fresh,
             const LinePlace& place);
  // line_of() returns the index of the line that makes the gradient; is_read()
  // is true if a line reads it already.
  size_t line_of(Handle handle) const { return line_of_[handle]; }
  bool is_read(Handle handle) const { return is_read_[handle]; }
  size_t count() const { return program_.lines.size(); }  // lines so far

  // Notes that the gradient cannot be written as lines: sets
  // GradientProgram::possible, unless an error is there already.
  void fail(std::string message);

 private:
  Handle new_handle(TypeId type);
  std::optional<Placement> join_global(const std::vector<HandleOnRanks>& parts,
                                       const LinePlace& place) const;
  void append(GradientLine line);
  Result<std::vector<TypeId>> infer_unplaced(const GradientLine& line,
                                             size_t results);
  bool reads_unrelated(const GradientLine& line) const;
  Result<std::vector<TypeId>> infer_on_ranks(GradientLine& line, size_t results,
                                             const LinePlace& place);

  const Tape& tape_;
  ValueTypes& types_;
  const MeshIds& meshes_;
  GradientProgram& program_;
  std::string notes_;
  std::vector<size_t> line_of_;  // by handle
  std::vector<bool> is_read_;    // by handle
};

}  // namespace gt::grad
