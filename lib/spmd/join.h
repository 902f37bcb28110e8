// How the types of a line's results follow from those of its operands: the
// local rules of spmd_types 0.2 (meta-pytorch/spmd_types), as gt reads them
// (gt-stream(5)). Axes are independent; each rule runs per axis.
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

// "dp:V,tp:R", as in #type=; axes that are not typed are left out.
std::string describe(const Placement& type, const Mesh& mesh);

// The join of one axis. `letters`: of each of the call's arguments. Without a
// fault the letter is kUntyped where one of them is.
struct Joined {
  char letter = kUntyped;
  std::optional<Rule> fault = std::nullopt;
};
Joined join(const Call& call, std::span<const char> letters);

// The axes of the mesh along which these ranks differ, outermost first.
std::vector<const MeshAxis*> axes_within(const Mesh& mesh,
                                         const std::vector<int64_t>& ranks);

// The type of pieces that together are one value: on an axis that tells the
// pieces apart they are unrelated. `parts` with the ranks that each holds.
struct TypedPart {
  const Placement* type;
  const std::vector<int64_t>* ranks;
};
Placement join_parts(const Mesh* mesh, std::span<const TypedPart> parts);

// The same value on some of its ranks.
Placement restricted(const Placement& type, const std::vector<int64_t>& ranks);

}  // namespace gt
