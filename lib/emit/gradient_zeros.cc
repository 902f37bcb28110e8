#include "emit/gradient_zeros.h"

#include <optional>

#include "grad/line_types.h"
#include "stream/ranks.h"

namespace gt::emit {
namespace {

// Makes a line for each type that the target's pieces have.
TargetZeros zeros_of_pieces(Ledger& ledger,
                            const grad::GradientTarget& target) {
  grad::PlacedType all{target.ranks, {}, {}};
  for (const int64_t rank : target.ranks) {
    for (const grad::ValueOnRanks& part : target.parts) {
      if (!includes(part.ranks, {rank})) continue;
      all.types.push_back(ledger.types.on(ledger.tape.type(part.value), rank));
    }
  }
  TargetZeros zeros{};
  for (Ranks left = target.ranks; !left.empty();) {
    const Type type = all.on(left[0]);
    Ranks same;
    for (const int64_t rank : left) {
      if (all.on(rank) == type) same.push_back(rank);
    }
    zeros.lines.emplace_back(to_string(same), "zeros " + to_string(type));
    left = without(left, same);
  }
  zeros.type = ledger.types.id(std::move(all));
  return zeros;
}

// Makes the zeros of a target whose global type is known.
std::optional<TargetZeros> typed_zeros(Ledger& ledger,
                                       const grad::GradientTarget& target,
                                       const Mesh& mesh) {
  if (target.parts.size() > 1) return std::nullopt;
  grad::PlacedType type =
      ledger.types.placed(ledger.tape.type(target.parts[0].value));
  if (!type.global || type.ranks != target.ranks) return std::nullopt;
  const auto cut = stated_cut(type, target.ranks, &mesh);
  if (!cut && (type.global->is_sharded() || type.types.size() > 1)) {
    return std::nullopt;
  }
  Placement claim;
  for (AxisType& a : type.letters.axes) {
    a.letter = dual(a.letter);
    if (a.letter == 'P' || a.letter == 'I') {
      claim.set(a.axis, a.letter);
    }
  }
  for (AxisType& a : type.global->axes) a.letter = dual(a.letter);
  const Type& piece = type.types[0];
  std::string text =
      "zeros " + to_string(cut ? Type{piece.dtype, cut->whole} : piece);
  if (cut) text += " split=" + cut->split;
  if (const std::string said = describe(claim, mesh); !said.empty()) {
    text += " #type=" + said;
  }
  return TargetZeros{ledger.types.id(std::move(type)),
                     {{to_string(target.ranks), text}}};
}

}  // namespace

TargetZeros target_zeros(Ledger& ledger, const grad::GradientTarget& target,
                         const Mesh* mesh) {
  if (target.ranks.empty()) {
    const TypeId type = ledger.tape.type(target.parts[0].value);
    return {type, {{"", "zeros " + to_string(ledger.types[type])}}};
  }
  if (mesh != nullptr) {
    if (auto zeros = typed_zeros(ledger, target, *mesh)) return *zeros;
  }
  return zeros_of_pieces(ledger, target);
}

}  // namespace gt::emit
