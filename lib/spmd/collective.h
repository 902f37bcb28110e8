// What the collectives and conversions compute, as text: the lines that one
// process runs which holds all pieces of a group. They are the meaning of the
// op; communicators must give the same bits.
//
// Sources: spmd_types 0.2 (meta-pytorch/spmd_types), the table of collectives
// and conversions; the order of sums is gt's own (first half plus second half,
// recursively).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ops/call.h"

namespace gt {

// "R", "I", "V", "P", "S0", "S-1".
struct End {
  char letter = 'R';
  int64_t dim = 0;  // of S
};
Result<End> parse_end(std::string_view text);

// Lines over the pieces a0, a1, ... of the operand, which give the results r0,
// r1, ...; both in the group's order.
struct GroupProgram {
  std::vector<std::string> lines;
  size_t results = 0;
};

// A group of a collective: the types of its pieces and, where the line's
// split= and shape= say so, the sizes that each member's result (of all_gather
// its operand) must have.
struct GroupShapes {
  std::vector<Type> pieces;
  std::vector<Shape> stated;  // empty: nothing stated
};

// `call` is bound as far as bind_form() does. Errors: ends that the op does
// not connect, pieces that do not fit together.
Result<GroupProgram> collective_program(const Call& call,
                                        const GroupShapes& group);

// Types of the results, by the op table's rules for the lines.
Result<std::vector<Type>> program_types(const GroupProgram& program,
                                        const std::vector<Type>& arguments);

}  // namespace gt
