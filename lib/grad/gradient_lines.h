// The lines of a gradient program as they are made: what each gives follows
// from the op table, as for any line of a program.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "grad/line_types.h"
#include "grad/reverse.h"
#include "ops/call.h"

namespace gt::grad {

// Where lines run.
struct LinePlace {
  std::vector<int64_t> ranks;  // in their order; none: unplaced
  MeshId mesh = 0;
};

// A gradient, or a part of one, on some ranks (ascending; none: unplaced).
struct HandleOnRanks {
  Handle handle;
  Ranks ranks;
};

// The line with "r" and "x" for its names, as views into it.
Line written_line(const GradientLine& line, size_t results);

class GradientLines {
 public:
  using Keys = std::vector<std::pair<std::string, std::string>>;
  using TypeOnRank = std::function<Type(int64_t rank)>;

  GradientLines(const Tape& tape, ValueTypes& types, const MeshIds& meshes,
                GradientProgram& program)
      : tape_(tape), types_(types), meshes_(meshes), program_(program) {}

  static GradientOperand text(std::string t) {
    return {GradientOperand::Kind::kText, 0, std::move(t), {}};
  }
  static GradientOperand handle(Handle h) {
    return {GradientOperand::Kind::kHandle, h, {}, {}};
  }
  static GradientOperand forward(ValueId v) {
    return {GradientOperand::Kind::kForward, v, {}, {}};
  }

  // #signal and #mb of the lines to come.
  void set_notes(std::string notes) { notes_ = std::move(notes); }

  // Appends a line. An operand's own ranks, if it has any, are kept.
  std::vector<Handle> add(const Op* op, size_t results,
                          std::vector<GradientOperand> operands, Keys keys,
                          const LinePlace& place, Placement claim = {});
  Handle add(std::string_view op, std::vector<GradientOperand> operands,
             Keys keys, const LinePlace& place, Placement claim = {});
  // One gradient of those on their ranks, and zeros on the `rest`.
  Handle join(const std::vector<HandleOnRanks>& parts, const Ranks& rest,
              const TypeOnRank& zero, const Placement& claim,
              const LinePlace& place);
  Handle zeros(const TypeOnRank& type, const Placement& claim,
               const LinePlace& place);
  Handle zeros(Dtype dtype, const StatedCut& cut, const Placement& claim,
               const LinePlace& place);

  TypeId type_id(const GradientOperand& operand) const;
  const Type& type(const GradientOperand& operand, int64_t rank) const {
    return types_.on(type_id(operand), rank);
  }
  const Placement& letters(TypeId type) const;
  // How its pieces on the place's ranks are cut, as split= says it.
  std::optional<StatedCut> cut(TypeId type, const LinePlace& place) const {
    if (!ValueTypes::is_placed(type)) return std::nullopt;
    return cut(types_.placed(type), place);
  }
  std::optional<StatedCut> cut(const PlacedType& type,
                               const LinePlace& place) const {
    return stated_cut(type, place.ranks, meshes_[place.mesh]);
  }
  // Its whole, if that is known.
  std::optional<Type> whole(TypeId type) const {
    if (!ValueTypes::is_placed(type)) return types_[type];
    const PlacedType& placed = types_.placed(type);
    if (!placed.global) return std::nullopt;
    return whole_of(sharded_value(placed));
  }
  const ValueTypes& types() const { return types_; }
  const Mesh* mesh(MeshId id) const { return meshes_[id]; }

  // Says that a gradient whose line is in local mode is cut like the value that
  // it belongs to; the line by itself gives unrelated values.
  void claim_shards(Handle handle, TypeId value);

  // Says that a gradient is a sum that is owed on some axes. Its line says so,
  // or, unless that is fresh and read by nobody else, a line of its own.
  Handle owe(Handle handle, const Placement& partial, bool fresh,
             const LinePlace& place);
  size_t line_of(Handle handle) const { return line_of_[handle]; }
  bool is_read(Handle handle) const { return is_read_[handle]; }
  size_t count() const { return program_.lines.size(); }

  // Something that cannot be said in lines; the first such thing counts.
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
