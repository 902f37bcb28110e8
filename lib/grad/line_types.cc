#include "grad/line_types.h"

#include "spmd/infer.h"
#include "spmd/parts.h"

namespace gt::grad {
namespace {

Placement letters_of(const Placement& type) {
  Placement letters;
  for (const AxisType& a : type.axes) letters.set(a.axis, a.letter);
  return letters;
}

// R and I hold the same bits, and src= says which is meant. So a program
// without the notes that also say it has the same gradient.
void take_source(const Line& line, const Mesh* mesh, Placement& type) {
  const std::string_view* src = line.key("src");
  const std::string_view* over = line.key("over");
  if (src == nullptr || over == nullptr || mesh == nullptr) return;
  const auto axes = mesh->resolve(unquote(*over));
  if (!axes.ok() || (*src != "R" && *src != "I")) return;
  for (const MeshAxis* axis : axes.value()) {
    const char is = type.on(*axis);
    if (is == 'R' || is == 'I') type.set(*axis, (*src)[0]);
  }
}

Inferred inferred(const Line& line, const LineRanks& where,
                  const AxisNames& names, std::vector<ShardedValue>& values,
                  std::span<const PlacedType* const> operands,
                  const TypingMode& mode) {
  std::vector<const ShardedValue*> known;
  for (size_t o = 0; o < operands.size(); ++o) {
    known.push_back(operands[o] == nullptr ? nullptr : &values[o]);
  }
  return infer({line, &where, names, known, nullptr, mode});
}

// Infers the types from all that is known of the operands: their letters, and
// the wholes whose shards they are.
Inferred global_types(const Line& line, const LineRanks& where,
                      const AxisNames& names,
                      std::span<const PlacedType* const> operands) {
  std::vector<ShardedValue> values(operands.size());
  for (size_t o = 0; o < operands.size(); ++o) {
    if (operands[o] == nullptr) continue;
    values[o] = sharded_value(*operands[o]);
    if (o == 0) take_source(line, names.mesh(), values[o].type);
  }
  return inferred(line, where, names, values, operands, {});
}

// Infers the types from the operands' letters alone, without the wholes whose
// shards they are: for lines in which global_types() finds a fault, or which
// read a value whose whole is not known.
Inferred local_types(const Line& line, const LineRanks& where,
                     const AxisNames& names,
                     std::span<const PlacedType* const> operands) {
  std::vector<ShardedValue> values(operands.size());
  for (size_t o = 0; o < operands.size(); ++o) {
    if (operands[o] == nullptr) continue;
    values[o] = sharded_value(*operands[o]);
    values[o].state = ShardedValue::State::kTyped;
    values[o].type = operands[o]->letters;
  }
  return inferred(line, where, names, values, operands,
                  {.local = true, .passes_over = true});
}

}  // namespace

ShardedValue sharded_value(const PlacedType& type) {
  ShardedValue value;
  value.ranks = type.ranks;
  if (type.types.size() == 1) {
    value.pieces.assign(type.ranks.size(), type.types[0]);
  } else {
    value.pieces = type.types;
  }
  if (type.global.has_value()) {
    value.state = ShardedValue::State::kTyped;
    value.type = *type.global;
  }
  return value;
}

std::optional<Placement> joined_type(std::span<const ReadPart> parts,
                                     const Mesh* mesh) {
  std::vector<ShardedValue> values;
  Ranks all;
  for (const ReadPart& part : parts) {
    if (!part.type->global.has_value()) return std::nullopt;
    ShardedValue& value = values.emplace_back();
    value.state = ShardedValue::State::kTyped;
    value.ranks = *part.ranks;
    if (value.ranks != part.type->ranks) value.bound = part.type->ranks;
    value.type = *part.type->global;
    all = together(all, *part.ranks);
  }
  const auto joined = read_parts(values, all, AxisNames(mesh));
  if (!joined.has_value()) return std::nullopt;
  return joined->type;
}

Result<LineTypes> line_types(const Line& line, const LineRanks& where,
                             const AxisNames& names,
                             std::span<const PlacedType* const> operands) {
  // Ranks outside the mesh are on no axis of it.
  const bool inside = Grid::make(names.mesh(), where.ranks).ok();
  const AxisNames around = inside ? names : AxisNames();
  Inferred made = global_types(line, where, around, operands);
  std::vector<std::vector<Type>> types;
  for (const ShardedValue& value : made.results) {
    if (!value.pieces.empty()) types.push_back(value.pieces);
  }
  if (types.size() != line.results.size()) {
    const PieceType pieces = [&](size_t operand, int64_t rank) {
      return &operands[operand]->on(rank);
    };
    auto inferred = infer_placed(line, where, names.mesh(), pieces);
    if (!inferred.ok()) return inferred.error();
    types = std::move(inferred.value());
  }
  const auto is_global = [&](size_t r) {
    return !made.faults.any() &&
           made.results[r].state == ShardedValue::State::kTyped;
  };
  Inferred local;
  for (size_t r = 0; r < types.size() && local.results.empty(); ++r) {
    if (!is_global(r)) local = local_types(line, where, around, operands);
  }
  LineTypes out;
  for (size_t r = 0; r < types.size(); ++r) {
    out.summed.emplace_back();
    if (is_global(r)) {
      const Placement& type = made.results[r].type;
      out.results.push_back(
          placed_type(where.ranks, types[r], letters_of(type)));
      out.results.back().global = type;
      for (const Axis& axis : made.summed[r]) {
        if (type.on(axis) == 'P') out.summed.back().set(axis, 'P');
      }
    } else {
      out.results.push_back(placed_type(where.ranks, types[r],
                                        letters_of(local.results[r].type)));
    }
  }
  return out;
}

std::optional<StatedCut> stated_cut(const PlacedType& type, const Ranks& ranks,
                                    const Mesh* mesh) {
  if (!type.global.has_value() || !includes(type.ranks, ascending(ranks))) {
    return std::nullopt;
  }
  return stated_cut(sharded_value(type), ranks, mesh);
}

}  // namespace gt::grad
