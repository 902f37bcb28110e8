#include "emit/symbols.h"

#include <algorithm>
#include <functional>

#include "base/hash.h"

namespace gt {

Symbols::Symbols() : slots_(256, kNil) {}

// The slot that holds the name, or the empty one where it would go.
size_t Symbols::probe(std::string_view name, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const SymbolId id = slots_[at];
    if (id == kNil) return at;
    if (symbols_[id].hash == hash && symbols_[id].text == name) return at;
  }
}

SymbolId Symbols::find(std::string_view name) const {
  return slots_[probe(name, hash_bytes(name))];
}

SymbolId Symbols::intern(std::string_view name) {
  const uint64_t hash = hash_bytes(name);
  const size_t at = probe(name, hash);
  if (slots_[at] != kNil) return slots_[at];
  SymbolId id;
  if (free_.empty()) {
    id = static_cast<SymbolId>(symbols_.size());
    symbols_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  symbols_[id].text.assign(name);
  symbols_[id].hash = hash;
  slots_[at] = id;
  if (2 * (symbols_.size() - free_.size()) > slots_.size()) {
    rebuild(slots_.size() * 2);
  }
  return id;
}

void Symbols::rebuild(size_t slots) {
  slots_.assign(slots, kNil);
  for (SymbolId id = 0; id < symbols_.size(); ++id) {
    const Symbol& s = symbols_[id];
    if (!s.text.empty()) slots_[probe(s.text, s.hash)] = id;
  }
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
    s.text.clear();
    s.message.clear();
    ++s.generation;
    free_.push_back(id);
  }
  rebuild(slots_.size());
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
