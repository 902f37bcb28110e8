// What the collectives and conversions compute, as text: the lines that one
// process runs which holds all pieces of a group. They are the meaning of the
// op; communicators must give the same bits.
//
// The order of sums is first half plus second half, recursively.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "stream/type.h"

namespace gt {

// Lines over the pieces a0, a1, ... of the operand, which give the results r0,
// r1, ...; both in the group's order.
struct GroupProgram {
  std::vector<std::string> lines;
  size_t results = 0;
};

// Of as many results as the line has in the group. Error: too many ranks for
// an exchange between all pairs.
struct GroupForm;
Result<GroupProgram> group_program(const GroupForm& form,
                                   const std::vector<Type>& pieces,
                                   size_t results);

// Types of the results, by the op table's rules for the lines.
Result<std::vector<Type>> program_types(const GroupProgram& program,
                                        const std::vector<Type>& arguments);

}  // namespace gt
