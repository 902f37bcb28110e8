// Makes a recipe of a bound call: the backend's kernel if it has one, else the
// op's expansion, step by step, as far down as it takes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/backend/backend.h"
#include "exec/decode/recipe.h"

namespace gt {

class Saves;

struct BuilderContext {
  Backend& backend;
  TypeTable& types;
  Saves& saves;
};

// Errors are about what the backend lacks, never about the call.
Result<std::unique_ptr<Recipe>> build_recipe(const Call& call,
                                             const BuilderContext& context);

// The recipe of what an op does between ranks, as lib/spmd writes it: lines
// over the pieces a0, a1, ... that give r0, r1, ...
Result<std::unique_ptr<Recipe>> build_group_recipe(
    const Op& op, const std::vector<Type>& pieces,
    const std::vector<std::string>& lines, size_t results,
    const BuilderContext& context);

}  // namespace gt
