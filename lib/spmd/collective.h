// The program of a group that one process runs, which holds all of its pieces:
// what the members do by themselves, one after the other.
#pragma once

#include "spmd/exchange_plan.h"

namespace gt {

// Gives a result for each target, in the group's order. All members of the
// plan have one home. Errors: those of group_types().
Result<GroupProgram> group_program(const ExchangePlan& plan);

// Types of its results. Errors: too many ranks for an exchange between all
// pairs, a result that is too large.
Result<std::vector<Type>> group_types(const ExchangePlan& plan);

// The plan of a group whose ranks are all in this process.
inline ExchangePlan plan_here(Crossing group) {
  ExchangeOptions options;
  options.home = one_home;
  return {std::move(group), options};
}

}  // namespace gt
