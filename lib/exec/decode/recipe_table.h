// Recipes by op, operand types and keys, so that lines which differ in names
// and numbers alone prepare nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/cache.h"
#include "exec/decode/builder.h"

namespace gt {

class RecipeTable {
 public:
  RecipeTable(const BuilderContext& context, bool keeps)
      : context_(context), recipes_(keeps ? kSets : 1), keeps_(keeps) {}

  // The recipe of a bound call, with a reference for the caller. What had to
  // make room for it is left in `evicted`, if nothing refers to it any more.
  Result<Recipe*> obtain(const Call& call, std::unique_ptr<Recipe>& evicted);

  // The same of lines over a group's pieces (builder.h).
  Result<Recipe*> obtain_group(const Op& op, const std::vector<Type>& pieces,
                               const std::vector<std::string>& lines,
                               size_t results,
                               std::unique_ptr<Recipe>& evicted);

  // Ends the caller's reference; returns the recipe if it was the last.
  static std::unique_ptr<Recipe> release(Recipe* recipe);

  // Forgets all recipes, when nothing refers to any and the queue is drained.
  void clear();

 private:
  static constexpr size_t kSets = 1024;
  static constexpr size_t kMaxKey = 4096;

  void write_key(const Call& call);
  using Built = Result<std::unique_ptr<Recipe>>;
  // `build` makes the recipe of key_ if the table has none.
  Result<Recipe*> obtain_keyed(const std::function<Built()>& build,
                               std::unique_ptr<Recipe>& evicted);

  BuilderContext context_;
  Cache<Recipe> recipes_;
  bool keeps_;
  std::string key_;
};

}  // namespace gt
