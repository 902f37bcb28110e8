// Makes the recipe (recipe.h) of a bound call: one step if the backend has a
// kernel for it, else the steps of the op's expansion, each in the same way.
#pragma once

#include <memory>
#include <vector>

#include "exec/backend/backend.h"
#include "exec/recipe/recipe.h"
#include "spmd/group_program.h"

namespace gt::exec {

class Saves;

struct BuilderContext {
  Backend& backend;
  TypeIds& types;
  Saves& saves;
};

// Error: the backend lacks a kernel for a primitive. Throws what the backend's
// library does when it cannot prepare one. Nothing is wrong with the call.
Result<std::unique_ptr<Recipe>> build_recipe(const Call& call,
                                             const BuilderContext& context);

// The recipe of a collective: what it computes of the pieces of a group's ranks
// (spmd/group_program.h), whose types are `pieces`. As build_recipe().
Result<std::unique_ptr<Recipe>> build_group_recipe(
    const Op& op, const std::vector<Type>& pieces, const GroupProgram& program,
    const BuilderContext& context);

}  // namespace gt::exec
