// Makes a recipe of a bound call: the backend's kernel if it has one, else the
// op's expansion, step by step, as far down as it takes.
#pragma once

#include <memory>
#include <string_view>

#include "exec/backend.h"
#include "exec/recipe.h"

namespace gt {

class Files;

struct BuilderContext {
  Backend& backend;
  TypeTable& types;
  const Files& files;
};

// Errors are about what the backend lacks, never about the call.
Result<std::unique_ptr<Recipe>> build_recipe(const Call& call,
                                             const BuilderContext& context);

}  // namespace gt
