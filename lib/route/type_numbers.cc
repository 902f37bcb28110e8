#include "route/type_numbers.h"

#include <algorithm>

namespace gt {
namespace {

std::string bytes_of(const std::vector<TypeNumbers::Id>& ids) {
  return {reinterpret_cast<const char*>(ids.data()),
          ids.size() * sizeof ids[0]};
}

}  // namespace

TypeNumbers::Id TypeNumbers::intern(const Type& type) {
  const auto [it, fresh] =
      ids_.try_emplace(type, static_cast<Id>(types_.size()));
  if (fresh) types_.push_back(type);
  return it->second;
}

TypeNumbers::Id TypeNumbers::intern(const std::vector<Id>& pieces) {
  if (std::all_of(pieces.begin(), pieces.end(),
                  [&](Id id) { return id == pieces[0]; })) {
    return pieces[0];
  }
  const auto [it, fresh] = list_ids_.try_emplace(
      bytes_of(pieces), static_cast<Id>(lists_.size()) | kList);
  if (fresh) lists_.push_back(pieces);
  return it->second;
}

void TypeNumbers::clear() {
  ids_.clear();
  types_.clear();
  types_.resize(2);  // kNone and kFailed
  list_ids_.clear();
  lists_.clear();
}

}  // namespace gt
