#include "emit/symbols.h"

namespace gt::emit {

std::vector<std::string_view> Symbols::names_of_users(size_t most) const {
  std::vector<std::string_view> names;
  for (SymbolId id = 0; id < size() && names.size() < most; ++id) {
    if ((*this)[id].is_live() && !is_internal_name(name_of(id))) {
      names.push_back(name_of(id));
    }
  }
  return names;
}

std::vector<std::string_view> Symbols::names_like(std::string_view name) const {
  constexpr size_t kMostNames = 2000, kMostLooks = 1000;
  std::vector<std::string_view> names;
  if (looks_ < kMostLooks) {
    ++looks_;
    names = names_of_users(kMostNames);
  }
  if (find(name) != kNoSymbol) names.push_back(name);
  for (const SymbolId id : parts(name)) names.push_back(name_of(id));
  return names;
}

bool is_internal_name(std::string_view name) {
  const size_t slash = name.rfind('/');
  const size_t first = slash == std::string_view::npos ? 0 : slash + 1;
  return first < name.size() && name[first] == '_';
}

}  // namespace gt::emit
