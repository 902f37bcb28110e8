#include "grad/gradient_lines.h"

#include <algorithm>

#include "ops/table.h"
#include "stream/ranks.h"

namespace gt::grad {
namespace {

using Kind = GradientOperand::Kind;

}  // namespace

Line written_line(const GradientLine& line, size_t results) {
  Line out;
  out.kind = Line::Kind::kInstruction;
  out.op = line.op->name;
  out.results.assign(results, Name{"r", line.ranks});
  for (const GradientOperand& o : line.operands) {
    if (o.kind == Kind::kText) {
      out.operands.push_back({kind_of_word(o.text), 0, o.text, {}});
    } else {
      const std::string& ranks = o.ranks.empty() ? line.ranks : o.ranks;
      out.operands.push_back({Operand::Kind::kName, 0, "x", ranks});
    }
  }
  for (const auto& [key, value] : line.keys) out.keys.push_back({key, value});
  if (line.is_local()) out.notes.push_back({"local", {}});
  return out;
}

void GradientLines::fail(std::string message) {
  if (program_.possible.ok()) program_.possible = Error{std::move(message)};
}

Handle GradientLines::new_handle(TypeId type) {
  program_.handle_types.push_back(type);
  line_of_.push_back(program_.lines.size());
  is_read_.push_back(false);
  return static_cast<Handle>(program_.handle_types.size() - 1);
}

void GradientLines::append(GradientLine line) {
  for (const GradientOperand& o : line.operands) {
    if (o.kind == Kind::kHandle) is_read_[o.id] = true;
  }
  program_.lines.push_back(std::move(line));
}

TypeId GradientLines::type_id(const GradientOperand& operand) const {
  return operand.kind == Kind::kHandle ? program_.handle_types[operand.id]
                                       : tape_.type(operand.id);
}

const Placement& GradientLines::letters(TypeId type) const {
  static const Placement kNone;
  return ValueTypes::is_placed(type) ? types_.placed(type).letters : kNone;
}

Result<std::vector<TypeId>> GradientLines::infer_unplaced(
    const GradientLine& line, size_t results) {
  std::vector<const Type*> types;
  for (const GradientOperand& o : line.operands) {
    types.push_back(o.kind == Kind::kText ? nullptr : &types_[type_id(o)]);
  }
  const Line written = written_line(line, results);
  Call call;
  if (Status s = gt::bind(written, types, call); !s.ok()) return s.error();
  std::vector<TypeId> made;
  for (const Type& type : call.results) made.push_back(types_.id(type));
  return made;
}

// True if an operand's pieces are neither copies, summands nor shards, such as
// the largest value of each rank's part before the largest of all is known.
bool GradientLines::reads_unrelated(const GradientLine& line) const {
  return std::any_of(
      line.operands.begin(), line.operands.end(), [this](const auto& o) {
        if (o.kind == Kind::kText) return false;
        const PlacedType& type = types_.placed(type_id(o));
        if (!type.global) return false;
        const auto& axes = type.global->axes;
        return std::any_of(axes.begin(), axes.end(), [&](const AxisType& a) {
          return a.letter == 'V' && type.global->dim_of(a.axis) < 0;
        });
      });
}

namespace {

// Notes which results are sums. #partial= applies to all results alike; if only
// some are sums, #type= states what each result is.
void note_sums(const LineTypes& types, GradientLine& line, const Mesh* mesh) {
  const auto& summed = types.summed;
  if (summed.empty()) return;
  const bool alike =
      std::all_of(summed.begin(), summed.end(),
                  [&](const Placement& s) { return s.axes == summed[0].axes; });
  if (alike || mesh == nullptr) {
    line.partial = summed[0];
    return;
  }
  for (const PlacedType& type : types.results) {
    line.type +=
        (line.type.empty() ? " #type=" : ";") + describe(type.letters, *mesh);
  }
}

}  // namespace

Result<std::vector<TypeId>> GradientLines::infer_on_ranks(
    GradientLine& line, size_t results, const LinePlace& place) {
  if (!line.is_local() && reads_unrelated(line)) line.notes += " #local";
  const Line written = written_line(line, results);
  const auto where = line_ranks(written);
  if (!where.ok()) return where.error();
  std::vector<const PlacedType*> operands;
  for (const GradientOperand& o : line.operands) {
    operands.push_back(o.kind == Kind::kText ? nullptr
                                             : &types_.placed(type_id(o)));
  }
  auto types = line_types(written, where.value(),
                          AxisNames(meshes_[place.mesh]), operands);
  if (!types.ok()) return types.error();
  note_sums(types.value(), line, meshes_[place.mesh]);
  std::vector<TypeId> made;
  for (PlacedType& type : types.value().results) {
    for (const AxisType& a : line.claim.axes) {
      type.letters.set(a.axis, a.letter);
      if (type.global) type.global->set(a.axis, a.letter);
    }
    made.push_back(types_.id(std::move(type)));
  }
  return made;
}

std::vector<Handle> GradientLines::add(const Op* op, size_t results,
                                       std::vector<GradientOperand> operands,
                                       Keys keys, const LinePlace& place,
                                       Placement claim) {
  GradientLine line{op,
                    {},
                    std::move(operands),
                    std::move(keys),
                    notes_,
                    to_string(place.ranks),
                    place.mesh,
                    std::move(claim),
                    {},
                    {}};
  auto made = place.ranks.empty() ? infer_unplaced(line, results)
                                  : infer_on_ranks(line, results, place);
  if (!made.ok()) {
    // An intermediate value may be too large for any type.
    fail(made.error().message);
    const TypeId any =
        place.ranks.empty()
            ? types_.id(Type{})
            : types_.id(PlacedType{ascending(place.ranks), {Type{}}, {}});
    made = std::vector<TypeId>(results, any);
  }
  for (const TypeId type : made.value()) {
    line.results.push_back(new_handle(type));
  }
  append(std::move(line));
  return program_.lines.back().results;
}

Handle GradientLines::add(std::string_view op,
                          std::vector<GradientOperand> operands, Keys keys,
                          const LinePlace& place, Placement claim) {
  return add(find_op(op), 1, std::move(operands), std::move(keys), place,
             std::move(claim))[0];
}

std::optional<Placement> GradientLines::join_global(
    const std::vector<HandleOnRanks>& parts, const LinePlace& place) const {
  std::vector<ReadPart> read;
  for (const HandleOnRanks& part : parts) {
    read.push_back(
        {&types_.placed(program_.handle_types[part.handle]), &part.ranks});
  }
  return joined_type(read, meshes_[place.mesh]);
}

Handle GradientLines::join(const std::vector<HandleOnRanks>& parts,
                           const Ranks& rest, const TypeOnRank& zero,
                           const Placement& claim, const LinePlace& place) {
  std::vector<int64_t> ranks;
  std::vector<Type> types;
  GradientLine line{&pieces_op(),           {},         {},    {}, notes_,
                    to_string(place.ranks), place.mesh, claim, {}, {}};
  std::vector<TypedPart> typed;
  for (const HandleOnRanks& part : parts) {
    GradientOperand operand = handle(part.handle);
    operand.ranks = to_string(part.ranks);
    for (const int64_t rank : part.ranks) {
      ranks.push_back(rank);
      types.push_back(type(operand, rank));
    }
    typed.push_back({&letters(type_id(operand)), &part.ranks});
    line.operands.push_back(std::move(operand));
  }
  if (!rest.empty()) typed.push_back({&claim, &rest});
  for (Ranks left = rest; !left.empty();) {
    const Type first = zero(left[0]);
    Ranks same;
    for (const int64_t rank : left) {
      if (zero(rank) == first) same.push_back(rank);
    }
    ranks.insert(ranks.end(), same.begin(), same.end());
    types.insert(types.end(), same.size(), first);
    GradientOperand operand = text("zeros " + to_string(first));
    operand.ranks = to_string(same);
    line.operands.push_back(std::move(operand));
    left = without(left, same);
  }
  PlacedType made =
      placed_type(ranks, types, join_parts(meshes_[place.mesh], typed));
  if (rest.empty()) made.global = join_global(parts, place);
  const Handle h = new_handle(types_.id(std::move(made)));
  line.results = {h};
  append(std::move(line));
  return h;
}

Handle GradientLines::zeros(const TypeOnRank& type, const Placement& claim,
                            const LinePlace& place) {
  const Ranks ranks = ascending(place.ranks);
  const bool alike = std::all_of(ranks.begin(), ranks.end(), [&](int64_t rank) {
    return type(rank) == type(ranks[0]);
  });
  if (!alike) return join({}, ranks, type, claim, place);
  const Type only = type(ranks.empty() ? 0 : ranks[0]);
  return add("zeros", {text(to_string(only))}, {}, place, claim);
}

Handle GradientLines::zeros(Dtype dtype, const StatedCut& cut,
                            const Placement& claim, const LinePlace& place) {
  return add("zeros", {text(to_string(Type{dtype, cut.whole}))},
             {{"split", cut.split}}, place, claim);
}

void GradientLines::claim_shards(Handle h, TypeId value) {
  PlacedType type = types_.placed(program_.handle_types[h]);
  const PlacedType& cut = types_.placed(value);
  GradientLine& line = program_.lines[line_of_[h]];
  if (!line.is_local() || line.results.size() > 1 || !type.global ||
      !cut.global) {
    return;
  }
  bool claims = false;
  const size_t dims =
      std::min(type.types[0].shape.size(), cut.global->spec.size());
  for (size_t d = 0; d < dims; ++d) {
    for (const Axis& axis : cut.global->spec[d]) {
      if (type.global->on(axis) != 'V') continue;
      if (type.global->dim_of(axis) >= 0) continue;
      type.global->shard(axis, d, dims);
      claims = true;
    }
  }
  if (!claims) return;
  const AxisNames names(meshes_[line.mesh]);
  const std::string spec = names.spec_text(*type.global);
  line.type = " #type=" + names.type_text(*type.global) +
              (spec.empty() ? "" : " #spec=" + spec);
  program_.handle_types[h] = types_.id(std::move(type));
}

Handle GradientLines::owe(Handle h, const Placement& partial, bool fresh,
                          const LinePlace& place) {
  const GradientLine& line = program_.lines[line_of_[h]];
  if (!fresh || line.op == &pieces_op() || line.results.size() > 1) {
    h = add("copy", {handle(h)}, {}, place);
  }
  Placement& said = program_.lines[line_of_[h]].partial;
  PlacedType type = types_.placed(program_.handle_types[h]);
  for (const AxisType& a : partial.axes) {
    said.set(a.axis, 'P');
    type.letters.set(a.axis, 'P');
    if (type.global) type.global->set(a.axis, 'P');
  }
  program_.handle_types[h] = types_.id(std::move(type));
  return h;
}

}  // namespace gt::grad
