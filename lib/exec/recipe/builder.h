// Builds the recipe (recipe.h) of a bound call. The recipe is one step if the
// backend has a kernel for the op; else it has the steps of the op's expansion,
// each built in the same way.
#pragma once

#include <memory>
#include <vector>

#include "exec/backend/backend.h"
#include "exec/recipe/recipe.h"
#include "spmd/group_program.h"

namespace gt::exec {

class Saves;

// What building a recipe needs. `backend` and `saves` must outlive the recipes,
// whose kernels refer to them.
struct BuilderContext {
  Backend& backend;
  TypeIds& types;
  Saves& saves;
};

// Builds the recipe of a call. Error: the backend has no kernel for a primitive
// op. Throws the exceptions of the backend's library when it cannot prepare a
// kernel. A call that is bound is correct, so no error blames it.
Result<std::unique_ptr<Recipe>> build_recipe(const Call& call,
                                             const BuilderContext& context);

// Builds the recipe of a collective: the program that a group runs on the
// pieces of its ranks (spmd/group_program.h), whose types are `pieces`. Errors
// and exceptions are those of build_recipe().
Result<std::unique_ptr<Recipe>> build_group_recipe(
    const Op& op, const std::vector<Type>& pieces, const GroupProgram& program,
    const BuilderContext& context);

}  // namespace gt::exec
