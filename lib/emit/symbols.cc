#include "emit/symbols.h"

namespace gt::emit {

std::vector<std::string_view> Symbols::names_of_users() const {
  std::vector<std::string_view> names;
  for (SymbolId id = 0; id < size(); ++id) {
    if ((*this)[id].is_live() && !is_internal_name(name_of(id))) {
      names.push_back(name_of(id));
    }
  }
  return names;
}

bool is_internal_name(std::string_view name) {
  const size_t slash = name.rfind('/');
  const size_t first = slash == std::string_view::npos ? 0 : slash + 1;
  return first < name.size() && name[first] == '_';
}

}  // namespace gt::emit
