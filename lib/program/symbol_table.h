// The names of a program and what each holds. A name has a small number, which
// decoded lines keep instead of it; the number stays the name's while it lives
// and long after, since loops bind the same names again.
//
// A placed name, "x@0-3", is a symbol for each set of ranks under which it was
// bound, sets that have no rank in common: binding x@0-1 leaves x@2-3 of
// x@0-3.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/shared.h"
#include "program/ids.h"
#include "program/name_numbers.h"
#include "spmd/rank_set.h"
#include "stream/ranks.h"

namespace gt {

// What a line was decoded under: the type of what a name holds, and which name
// the symbol was.
struct Stamp {
  TypeId type = kNoType;
  uint32_t generation = 0;  // grows when the number gets another name
  // In one compare: every line that is found again asks for some.
  friend bool operator==(const Stamp& a, const Stamp& b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  }
};

// What a name of a table holds, as far as most tables know: the base of, or all
// of, a `Value` of theirs.
struct StampedValue {
  Stamp stamp;
  bool is_live() const { return stamp.type != kNoType; }
  bool has_failed() const { return stamp.type == kFailedType; }
  void take_over() { ++stamp.generation; }
};

// What a failed value says, also when it spreads.
using FailureText = std::shared_ptr<const std::string>;

// `Value` is what a name holds: is_live() tells whether it holds anything, and
// take_over() makes it that of another name, which holds nothing yet.
template <typename Value>
class SymbolTable {
 public:
  Value& operator[](SymbolId id) { return values_[id]; }
  const Value& operator[](SymbolId id) const { return values_[id]; }
  std::string_view name_of(SymbolId id) const { return names_.name_of(id); }
  SymbolId id_of(const Value& value) const {
    return static_cast<SymbolId>(&value - values_.data());
  }
  // Numbers are below it, those of names that hold nothing among them.
  size_t size() const { return values_.size(); }

  // The number of a live name, or kNoSymbol.
  SymbolId find(std::string_view name) const {
    const SymbolId id = names_.find(name);
    return id == kNoSymbol || !values_[id].is_live() ? kNoSymbol : id;
  }
  // What a live name holds, or null.
  const Value* value_of(std::string_view name) const {
    const SymbolId id = find(name);
    return id == kNoSymbol ? nullptr : &values_[id];
  }
  // The number of a name, live or not. All that are obtained since
  // begin_line() keep their names until the next.
  void begin_line() { names_.begin_line(); }
  SymbolId obtain(std::string_view name) {
    const auto [id, is_other] = names_.obtain(
        name, [this](SymbolId known) { return values_[known].is_live(); });
    if (id == values_.size()) values_.emplace_back();
    if (is_other) values_[id].take_over();
    return id;
  }
  void keep(SymbolId id) { names_.keep(id); }  // as if just obtained
  // The name lives no more, which the value says already: its number may come
  // to be another's.
  void retire(SymbolId id) { names_.release(id); }

  // Null if nothing of it is known to have failed.
  FailureText failure_of(SymbolId id) const {
    if (failures_.empty()) return nullptr;
    const auto it = failures_.find(id);
    return it == failures_.end() ? nullptr : it->second;
  }
  void note_failure(SymbolId id, FailureText why) {
    failures_[id] = std::move(why);
  }
  void forget_failure(SymbolId id) {
    if (!failures_.empty()) failures_.erase(id);
  }
  bool has_failures() const { return !failures_.empty(); }

  // Names for a spelling suggestion: not all, when there are very many.
  std::vector<std::string_view> some_live_names() const {
    constexpr size_t kMost = 2000;
    std::vector<std::string_view> some;
    for (SymbolId id = 0; id < size() && some.size() < kMost; ++id) {
      if (values_[id].is_live()) some.push_back(name_of(id));
    }
    return some;
  }

 private:
  std::vector<Value> values_;
  NameNumbers names_;
  std::unordered_map<SymbolId, FailureText> failures_;
};

// `Value` also has `Shared<Ranks> ranks`, of a placed name, ascending.
template <typename Value>
class PlacedSymbolTable : public SymbolTable<Value> {
 public:
  // The live symbols of a placed name.
  const std::vector<SymbolId>& parts(std::string_view base) const {
    static const std::vector<SymbolId> kNothing;
    if (parts_.empty()) return kNothing;
    const auto it = parts_.find(base);
    return it == parts_.end() ? kNothing : it->second;
  }
  // Whether a live placed name begins so.
  bool has_parts_under(std::string_view prefix) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const auto& entry) {
      return std::string_view(entry.first).starts_with(prefix);
    });
  }

  SymbolId obtain_part(std::string_view base, const Ranks& ranks) {
    const SymbolId id = this->obtain(full_name(base, to_string(ranks)));
    Value& value = (*this)[id];
    if (!value.ranks) value.ranks = Shared<Ranks>(ranks);
    return id;
  }
  // The symbol, which has ranks, comes to be a part of its name, or ceases to.
  void add_part(SymbolId id) {
    const std::string_view base = without_ranks(this->name_of(id));
    auto it = parts_.find(base);
    if (it == parts_.end()) it = parts_.emplace(std::string(base), 0).first;
    it->second.push_back(id);
  }
  void drop_part(SymbolId id) {
    const auto it = parts_.find(without_ranks(this->name_of(id)));
    if (it == parts_.end()) return;
    std::erase(it->second, id);
    if (it->second.empty()) parts_.erase(it);
  }
  // Calls narrow(id, rest) of each part of the name that loses some of its
  // ranks to others: it is to have the rest alone, or to go if there is none.
  template <typename Narrow>
  void carve(std::string_view base, const Ranks& ranks, const Narrow& narrow) {
    const std::vector<SymbolId> before = parts(base);
    for (const SymbolId id : before) {
      const Shared<Ranks> all = (*this)[id].ranks;
      const Ranks rest = without(*all, ranks);
      if (rest.size() < all->size()) narrow(id, rest);
    }
  }

 private:
  std::unordered_map<std::string, std::vector<SymbolId>, TextHash,
                     std::equal_to<>>
      parts_;  // by name without ranks
};

}  // namespace gt
