// The join: which letter (R, I, V, P; placement.h) the results of a line have
// on a mesh axis, given the letters of its operands, when each rank computes by
// itself. These are the local rules of spmd_types 0.2 (meta-pytorch/spmd_types)
// as gt-stream(5) states them. They are applied to each axis separately.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ops/call.h"
#include "spmd/fault.h"
#include "spmd/placement.h"

namespace gt {

inline constexpr char kLiteralLetter = '_';  // a literal, which takes any type
inline constexpr char kNoLetter = ' ';       // no tensor, or a literal zero

// Returns the letters by axis, "dp:V,tp:R", without untyped axes. It does not
// show shards; AxisNames::type_text() does.
std::string describe(const Placement& type, const Mesh& mesh);

// Returns the letter of the results on one axis, or the rule that is broken.
// `letters` has one for each of the call's arguments. If one of them is
// kUntyped and no rule is broken, the result is kUntyped.
struct Joined {
  char letter = kUntyped;
  std::optional<Rule> fault = std::nullopt;
};
Joined join(const Call& call, std::span<const char> letters);

// Returns the axes of the mesh along which these ranks differ, outermost first.
std::vector<const MeshAxis*> axes_within(const Mesh& mesh,
                                         const std::vector<int64_t>& ranks);

// Returns the placement of a value whose parts, on disjoint ranks, were bound
// by different lines. If a group of ranks along an axis belongs to several
// parts, or the parts' letters differ, the values are unrelated on that axis
// (V), or untyped if a part is P, I or untyped there.
struct TypedPart {
  const Placement* type;
  const std::vector<int64_t>* ranks;
};
Placement join_parts(const Mesh* mesh, std::span<const TypedPart> parts);

// Returns the placement on some of a value's ranks: without the axes along
// which these do not differ.
Placement restricted(const Placement& type, const std::vector<int64_t>& ranks);

}  // namespace gt
