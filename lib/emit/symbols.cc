#include "emit/symbols.h"

#include <algorithm>
#include <functional>

namespace gt {

SymbolId Symbols::find(std::string_view name) const {
  const auto it = ids_.find(name);
  return it == ids_.end() ? kNil : it->second;
}

SymbolId Symbols::intern(std::string_view name) {
  const auto it = ids_.find(name);
  if (it != ids_.end()) return it->second;
  SymbolId id;
  if (free_.empty()) {
    id = static_cast<SymbolId>(symbols_.size());
    symbols_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  symbols_[id].text.assign(name);
  ids_.emplace(symbols_[id].text, id);
  return id;
}

void Symbols::note_unbound() {
  constexpr size_t kKept = 4096;
  if (++unbound_ < kKept || unbound_ < symbols_.size() / 2) return;
  collect();
  unbound_ = 0;
}

void Symbols::collect() {
  for (SymbolId id = 0; id < symbols_.size(); ++id) {
    Symbol& s = symbols_[id];
    if (s.is_bound() || s.text.empty()) continue;
    ids_.erase(s.text);
    s.text.clear();
    s.message.clear();
    ++s.generation;
    free_.push_back(id);
  }
}

std::vector<std::string_view> Symbols::bound_names() const {
  std::vector<std::string_view> names;
  for (const Symbol& s : symbols_) {
    if (s.is_bound() && !is_internal_name(s.text)) names.push_back(s.text);
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

}  // namespace gt
