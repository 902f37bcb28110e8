#include "emit/recompute.h"

#include <algorithm>
#include <utility>

namespace gt::emit {

void Recipes::begin_line(std::optional<std::string_view> note) {
  if (!note) return note_.reset();
  if (!note_ || *note_ != *note || lines_ == kMostLines) {
    note_ = std::string(*note);
    lines_ = 0;
    ++region_;
  }
  ++lines_;
}

void Recipes::add(grad::HeldForm form, const std::vector<ValueId>& operands,
                  std::vector<ValueId> results) {
  for (const ValueId v : operands) {
    if (v == kNil) continue;
    tape_.add_read(v);
    if (is_of_other(v, region_)) ++entries_.at(v).readers;
  }
  const auto recipe = std::make_shared<Recipe>(
      Recipe{std::move(form), operands, std::move(results), region_});
  for (const ValueId v : recipe->results) {
    if (v != kNil) entries_[v].recipe = recipe;
  }
}

void Recipes::remove(ValueId value) {
  const auto at = entries_.find(value);
  if (at == entries_.end()) return;
  const std::shared_ptr<Recipe> recipe = std::move(at->second.recipe);
  entries_.erase(at);
  std::ranges::replace(recipe->results, value, kNil);
  if (recipe.use_count() > 1) return;
  for (const ValueId v : recipe->operands) {
    if (v == kNil) continue;
    if (is_of_other(v, recipe->region)) --entries_.at(v).readers;
    tape_.drop_read(v);
  }
}

// True if the value has a recipe of another region than this.
bool Recipes::is_of_other(ValueId value, uint64_t region) const {
  const Recipe* recipe = find(value);
  return recipe != nullptr && recipe->region != region;
}

const Recipe* Recipes::find(ValueId value) const {
  const auto at = entries_.find(value);
  return at == entries_.end() ? nullptr : at->second.recipe.get();
}

bool Recipes::may_drop(ValueId value) const {
  const auto at = entries_.find(value);
  return at != entries_.end() && at->second.readers == 0;
}

bool Recipes::is_dropped(ValueId value) const {
  const auto at = entries_.find(value);
  return at != entries_.end() && at->second.is_dropped;
}

}  // namespace gt::emit
