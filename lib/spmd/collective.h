// Computes the results of a collective whose group is all in one process:
// writes one program that makes every member's result from all of the group's
// pieces, with no exchange. ExchangePlan (exchange_plan.h) is the general case.
#pragma once

#include "spmd/exchange_plan.h"

namespace gt {

// Returns a program with a result for each target, in the group's order. All
// members of the plan must have one home. Errors: those of group_types().
Result<GroupProgram> group_program(const ExchangePlan& plan);

// Returns the types of the targets' results. Errors: too many ranks for an
// exchange between all pairs; a result that is too large.
Result<std::vector<Type>> group_types(const ExchangePlan& plan);

// Returns the plan of a group all of whose ranks have this process as their
// home.
inline ExchangePlan plan_here(Crossing group) {
  ExchangeOptions options;
  options.home = one_home;
  return {std::move(group), options};
}

}  // namespace gt
