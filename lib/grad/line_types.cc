#include "grad/line_types.h"

#include "check/judgement.h"
#include "spmd/parts.h"

namespace gt {
namespace {

Placement letters_of(const Placement& type) {
  Placement letters;
  for (const AxisType& a : type.axes) {
    letters.set(a.axis, a.letter);
  }
  return letters;
}

// By the local rules, which know no shards.
Placement local_letters(const Line& line, const LineRanks& where,
                        const Mesh* mesh,
                        std::span<const PlacedType* const> operands,
                        const PieceType& pieces) {
  std::vector<Placement> letters;
  for (size_t o = 0; o < operands.size(); ++o) {
    letters.emplace_back();
    if (operands[o] == nullptr) continue;
    letters.back() =
        restricted(operands[o]->letters, ranks_read(line, where, o));
  }
  std::vector<const Placement*> known;
  for (size_t o = 0; o < operands.size(); ++o) {
    known.push_back(operands[o] == nullptr ? nullptr : &letters[o]);
  }
  std::vector<Finding> findings;  // gt-check says them
  return infer_type({line, where, mesh, known, pieces}, findings);
}

// Where the shards give a sum, and the letters alone unrelated values.
Placement summed_on(const Placement& local, const Placement& global) {
  Placement summed;
  for (const AxisType& a : global.axes) {
    const Axis& axis = a.axis;
    if (a.letter == 'P' && local.on(axis) == 'V') summed.set(axis, 'P');
  }
  return summed;
}

// R and I hold the same bits, and src= says which is meant: without the notes
// that say so as well a program has the same gradient.
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

Judgement judged(const Line& line, const LineRanks& where,
                 const AxisNames& names,
                 std::span<const PlacedType* const> operands) {
  std::vector<ShardedValue> values(operands.size());
  std::vector<const ShardedValue*> known(operands.size(), nullptr);
  for (size_t o = 0; o < operands.size(); ++o) {
    if (operands[o] == nullptr) continue;
    values[o] = sharded_value(*operands[o]);
    if (o == 0) take_source(line, names.mesh(), values[o].type);
    known[o] = &values[o];
  }
  const CheckOptions options;
  return judge({line, &where, names, known, nullptr, options});
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

AxisNames names_of(const Mesh* mesh) {
  if (mesh == nullptr) return {};
  return AxisNames(std::vector<const Mesh*>{mesh});
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
  const auto joined = read_parts(values, all, names_of(mesh));
  if (!joined.has_value()) return std::nullopt;
  return joined->type;
}

Result<LineTypes> line_types(const Line& line, const LineRanks& where,
                             const AxisNames& names,
                             std::span<const PlacedType* const> operands) {
  const Mesh* mesh = names.mesh();
  // Ranks outside the mesh are on no axis of it.
  const bool inside = Grid::make(mesh, where.ranks).ok();
  Judgement made = judged(line, where, inside ? names : AxisNames(), operands);
  const PieceType pieces = [&](size_t operand, int64_t rank) {
    return &operands[operand]->on(rank);
  };
  std::vector<std::vector<Type>> types;
  for (ShardedValue& value : made.results) {
    if (!value.pieces.empty()) types.push_back(std::move(value.pieces));
  }
  if (types.size() != line.results.size()) {
    auto inferred = infer_placed(line, where, mesh, pieces);
    if (!inferred.ok()) return inferred.error();
    types = std::move(inferred.value());
  }
  const Placement local = local_letters(line, where, mesh, operands, pieces);
  LineTypes out;
  for (size_t r = 0; r < types.size(); ++r) {
    PlacedType type = placed_type(where.ranks, types[r], local);
    out.summed.emplace_back();
    if (r < made.results.size() && made.problems.empty() &&
        made.results[r].state == ShardedValue::State::kTyped) {
      type.global = std::move(made.results[r].type);
      type.letters = letters_of(*type.global);
      out.summed.back() = summed_on(local, type.letters);
    }
    out.results.push_back(std::move(type));
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

}  // namespace gt
