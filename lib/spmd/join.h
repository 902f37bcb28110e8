// What a tensor is on each axis of its mesh, and how the types of a line's
// results follow from those of its operands: the local rules of spmd_types 0.2
// (meta-pytorch/spmd_types), as gt reads them (gt-stream(5)).
//
//   R  equal copies, each used separately      gradient P
//   I  equal copies, one computation           gradient I
//   V  unrelated values, or shards             gradient V
//   P  summands                                gradient R
//
// Axes are independent; each rule runs per axis.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/call.h"
#include "spmd/mesh.h"
#include "spmd/placed.h"
#include "stream/line.h"

namespace gt {

inline constexpr char kUntyped = '?';        // nobody knows
inline constexpr char kLiteralLetter = '_';  // a literal, which takes any type
inline constexpr char kNoLetter = ' ';       // no tensor, or a literal zero

// The type of the gradient of a value with this letter.
char dual(char letter);

// Letters by axis, outermost first. An axis is its layout, whatever its name.
// One along which a value's ranks have a single coordinate is not there.
struct LocalType {
  struct Axis {
    int64_t size;
    int64_t stride;
    char letter;
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  std::vector<Axis> axes;

  char on(const MeshAxis& axis) const;  // kUntyped when it is not there
  void set(const MeshAxis& axis, char letter);
  friend bool operator==(const LocalType&, const LocalType&) = default;
};

// "dp:V,tp:R", as in #type=; axes that are not typed are left out.
std::string describe(const LocalType& type, const Mesh& mesh);

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
using OperandTypes = std::span<const LocalType* const>;

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
LocalType infer_type(const TypedLine& line, std::vector<Finding>& findings);

// The axes of the mesh along which these ranks differ, outermost first.
std::vector<const MeshAxis*> axes_within(const Mesh& mesh,
                                         const std::vector<int64_t>& ranks);

// The type of pieces that together are one value: on an axis that tells the
// pieces apart they are unrelated. `parts` with the ranks that each holds.
struct TypedPart {
  const LocalType* type;
  const std::vector<int64_t>* ranks;
};
LocalType join_parts(const Mesh* mesh, std::span<const TypedPart> parts);

// The same value on some of its ranks.
LocalType restricted(const LocalType& type, const std::vector<int64_t>& ranks);

}  // namespace gt
