// What the collectives and conversions compute: the program that one process
// runs which holds all pieces of a group. It is the meaning of the op;
// communicators must give the same bits.
//
// The order of sums is first half plus second half, recursively.
#pragma once

#include <vector>

#include "spmd/group_program.h"

namespace gt {

// Of as many results as the line has in the group, in the group's order as the
// pieces are. Error: too many ranks for an exchange between all pairs.
Result<GroupProgram> group_program(const GroupForm& form,
                                   const std::vector<Type>& pieces,
                                   size_t results);

}  // namespace gt
