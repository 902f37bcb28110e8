// Makes a recipe of a bound call: the backend's kernel if it has one, else the
// op's expansion, step by step, as far down as it takes.
#pragma once

#include <memory>
#include <vector>

#include "exec/backend/backend.h"
#include "exec/decode/recipe.h"
#include "spmd/group_program.h"

namespace gt::exec {

class Saves;

struct BuilderContext {
  Backend& backend;
  TypeIds& types;
  Saves& saves;
};

// Errors are about what the backend lacks, never about the call.
Result<std::unique_ptr<Recipe>> build_recipe(const Call& call,
                                             const BuilderContext& context);

// The recipe of what an op does between ranks: the group's program over these
// pieces.
Result<std::unique_ptr<Recipe>> build_group_recipe(
    const Op& op, const std::vector<Type>& pieces, const GroupProgram& program,
    const BuilderContext& context);

}  // namespace gt::exec
