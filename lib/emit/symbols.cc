#include "emit/symbols.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/hash.h"
#include "stream/ranks.h"

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

void Symbols::note_unbound(uint64_t next_serial) {
  constexpr size_t kKept = 4096;
  if (++unbound_ < kKept || unbound_ < symbols_.size() / 2) return;
  collect(next_serial);
  unbound_ = 0;
}

void Symbols::collect(uint64_t next_serial) {
  for (SymbolId id = 0; id < symbols_.size(); ++id) {
    Symbol& s = symbols_[id];
    if (s.is_bound() || s.text.empty()) continue;
    s.text.clear();
    s.message.clear();
    s.ranks.clear();
    s.since = next_serial;
    free_.push_back(id);
  }
  rebuild(slots_.size());
}

const std::vector<SymbolId>& Symbols::pieces(std::string_view name) const {
  static const std::vector<SymbolId> kNone;
  if (pieces_.empty()) return kNone;
  const auto it = pieces_.find(name);
  return it == pieces_.end() ? kNone : it->second;
}

SymbolId Symbols::intern_piece(std::string_view name, Ranks ranks) {
  const SymbolId id = intern(with_ranks(name, to_string(ranks)));
  symbols_[id].ranks = std::move(ranks);
  auto it = pieces_.find(name);
  if (it == pieces_.end()) it = pieces_.emplace(name, 0).first;
  if (std::find(it->second.begin(), it->second.end(), id) == it->second.end()) {
    it->second.push_back(id);
  }
  return id;
}

void Symbols::drop_piece(SymbolId id) {
  const auto it = pieces_.find(without_ranks(symbols_[id].text));
  if (it == pieces_.end()) return;
  std::erase(it->second, id);
  if (it->second.empty()) pieces_.erase(it);
}

std::vector<std::string_view> Symbols::bound_names() const {
  std::vector<std::string_view> names;
  for (const Symbol& s : symbols_) {
    if (s.is_bound() && !is_internal_name(s.text)) names.push_back(s.text);
  }
  return names;
}

std::string with_ranks(std::string_view name, std::string_view ranks) {
  std::string out(name);
  if (!ranks.empty()) out.append(1, '@').append(ranks);
  return out;
}

std::string_view without_ranks(std::string_view name) {
  return name.substr(0, name.find('@'));
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
