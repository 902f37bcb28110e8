#include "emit/recompute.h"

#include <utility>

namespace gt::emit {

void Recipes::begin_line(std::optional<std::string_view> note) {
  if (!note) {
    note_.reset();
  } else if (!note_ || *note_ != *note) {
    note_ = std::string(*note);
    ++region_;
  }
}

void Recipes::add(ValueId value, grad::HeldForm form,
                  const std::vector<ValueId>& operands) {
  for (const ValueId v : operands) {
    if (v == kNil) continue;
    tape_.add_read(v);
    if (is_of_other(v, region_)) ++recipes_.at(v).readers;
  }
  recipes_.emplace(value, Recipe{std::move(form), operands, region_});
}

void Recipes::remove(ValueId value) {
  const auto at = recipes_.find(value);
  if (at == recipes_.end()) return;
  const Recipe recipe = std::move(at->second);
  recipes_.erase(at);
  for (const ValueId v : recipe.operands) {
    if (v == kNil) continue;
    if (is_of_other(v, recipe.region)) --recipes_.at(v).readers;
    tape_.drop_read(v);
  }
}

// True if the value has a recipe of another region than this.
bool Recipes::is_of_other(ValueId value, uint64_t region) const {
  const Recipe* recipe = find(value);
  return recipe != nullptr && recipe->region != region;
}

const Recipe* Recipes::find(ValueId value) const {
  const auto at = recipes_.find(value);
  return at == recipes_.end() ? nullptr : &at->second;
}

bool Recipes::may_go(ValueId value) const {
  const Recipe* recipe = find(value);
  return recipe != nullptr && recipe->readers == 0;
}

bool Recipes::is_gone(ValueId value) const {
  const Recipe* recipe = find(value);
  return recipe != nullptr && recipe->is_gone;
}

}  // namespace gt::emit
