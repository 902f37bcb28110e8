// Recipes by op, operand types and keys, so that lines which differ in names
// and numbers alone prepare nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/cache.h"
#include "exec/recipe/builder.h"

namespace gt::exec {

// Each queue has a table of its own, since only one thread may run a kernel.
// The table and the lines share a recipe. A task on the queue has a bare
// pointer to it, so a line must not be deleted before its tasks have run.
class RecipeTable {
 public:
  // `keeps`: false to prepare every recipe anew.
  RecipeTable(const BuilderContext& context, bool keeps)
      : context_(context), known_(keeps ? kSets : 1), keeps_(keeps) {}

  // The recipe of a bound call. Errors: what the backend lacks, and what its
  // library says to sizes that no machine has room for.
  Result<std::shared_ptr<Recipe>> obtain(const Call& call);
  // The same of a program over a group's pieces (builder.h).
  Result<std::shared_ptr<Recipe>> obtain_group(const Op& op,
                                               const std::vector<Type>& pieces,
                                               const GroupProgram& program);
  // Forgets all recipes: types have other numbers now.
  void clear() { known_.clear(); }

 private:
  static constexpr size_t kSets = 1024;
  static constexpr size_t kMaxKey = 4096;

  struct Known {
    std::string text;
    std::shared_ptr<Recipe> recipe;
  };
  void write_key(const Call& call);
  void write_key(const Op& op, const std::vector<Type>& pieces,
                 const GroupProgram& program);
  // `build` makes the recipe of key_ if the table has none.
  using Built = Result<std::unique_ptr<Recipe>>;
  Result<std::shared_ptr<Recipe>> obtain(const std::function<Built()>& build);

  BuilderContext context_;
  Cache<Known> known_;
  bool keeps_;
  std::string key_;
};

}  // namespace gt::exec
