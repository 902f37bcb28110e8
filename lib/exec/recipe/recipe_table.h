// A table of recipes by op, operand types and keys. A line that differs from an
// earlier one only in names and numbers reuses its recipe, so nothing is
// prepared for it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/cache.h"
#include "exec/recipe/builder.h"

namespace gt::exec {

// Each queue has its own table, since only one thread may run a kernel. The
// table and the lines share ownership of a recipe. A task on the queue has only
// a bare pointer to it, so a line must not be deleted before its tasks have
// run.
class RecipeTable {
 public:
  // `keeps`: false to prepare every recipe anew.
  RecipeTable(const BuilderContext& context, bool keeps)
      : context_(context), known_(keeps ? kSets : 1), keeps_(keeps) {}

  // Returns the recipe of a bound call. Errors: the backend has no kernel, or
  // its library could not prepare one, for example for sizes that no machine
  // has memory for.
  Result<std::shared_ptr<Recipe>> obtain(const Call& call);
  // Returns the recipe of a program over a group's pieces
  // (build_group_recipe()).
  Result<std::shared_ptr<Recipe>> obtain_group(const Op& op,
                                               const std::vector<Type>& pieces,
                                               const GroupProgram& program);
  // Forgets all recipes, which is needed when the types are numbered anew.
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
  // Returns the recipe of key_, which `build` makes if the table has none.
  using Built = Result<std::unique_ptr<Recipe>>;
  Result<std::shared_ptr<Recipe>> obtain(const std::function<Built()>& build);

  BuilderContext context_;
  Cache<Known> known_;
  bool keeps_;
  std::string key_;
};

}  // namespace gt::exec
