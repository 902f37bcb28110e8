// How the types of a line's results follow from those of its operands: the
// local rules of spmd_types 0.2 (meta-pytorch/spmd_types), as gt reads them
// (gt-stream(5)). Axes are independent; each rule runs per axis.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/call.h"
#include "spmd/placed.h"
#include "spmd/placement.h"
#include "stream/line.h"

namespace gt {

inline constexpr char kLiteralLetter = '_';  // a literal, which takes any type
inline constexpr char kNoLetter = ' ';       // no tensor, or a literal zero

// "dp:V,tp:R", as in #type=; axes that are not typed are left out.
std::string describe(const Placement& type, const Mesh& mesh);

// A rule that a line breaks on one axis.
struct Finding {
  std::string kind;     // "inv-mix"
  std::string axis;     // its name in the mesh
  std::string message;  // "every summand must be P, found P and R"
};

// The join of one axis. `letters`: of each of the call's arguments. The kind is
// null when there is a type, else the letter is kUntyped.
struct Joined {
  char letter = kUntyped;
  const char* kind = nullptr;
};
Joined join(const Call& call, std::span<const char> letters);

// The types of the operands of a line (of names; else null).
using OperandTypes = std::span<const Placement* const>;

// A line, its place and what it reads.
struct TypedLine {
  const Line& line;
  const LineRanks& where;
  const Mesh* mesh;
  OperandTypes operands;
  PieceType pieces;  // shapes, for ops that are typed by their expansion
};

// The type of all results of a placed line that its op and shapes allow: by the
// join, or what a source, a collective or a claim (#type=, #partial=) says.
// Without a mesh there are no axes.
Placement infer_type(const TypedLine& line, std::vector<Finding>& findings);

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
