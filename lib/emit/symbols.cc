#include "emit/symbols.h"

#include <algorithm>
#include <functional>

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

uint32_t Numbers::take() {
  if (free_.empty()) return next_++;
  std::pop_heap(free_.begin(), free_.end(), std::greater<>());
  const uint32_t number = free_.back();
  free_.pop_back();
  return number;
}

void Numbers::give_back(uint32_t number) {
  free_.push_back(number);
  std::push_heap(free_.begin(), free_.end(), std::greater<>());
}

}  // namespace gt::emit
