// The symbol table of a program that is read line by line: its names, and what
// each holds. A symbol is a name with a small number, its SymbolId, which
// decoded lines keep instead of the name. A name is live while it holds a
// value. It keeps its number while it is live and for long after, since loops
// bind the same names again; then another name may get the number
// (name_numbers.h).
//
// A placed name has one symbol for each set of ranks under which it was bound
// ("x@0-3"). These sets have no rank in common: binding x@0-1 leaves x@2-3 of
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

// What a decoded line depends on in a symbol that it reads or writes: the type
// of the value, and which name the number stands for. A line that is kept
// (line_cache.h) is still valid while the stamps of the symbols that it reads,
// and the generations of those that it writes, equal those that it was decoded
// with. When a name is bound to a value of another type, or is freed, or fails,
// the type changes; when the number gets another name, the generation changes.
struct Stamp {
  TypeId type = kNoType;
  uint32_t generation = 0;  // how often the number got another name
  // Compares 64 bits at once, since every line that comes again makes some
  // comparisons.
  friend bool operator==(const Stamp& a, const Stamp& b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  }
};

// What a name holds, as far as its stamp tells. Most symbol tables use it as
// the base of their `Value`, or as the `Value` itself.
struct StampedValue {
  Stamp stamp;
  bool is_live() const { return stamp.type != kNoType; }
  bool has_failed() const { return stamp.type == kFailedType; }
  // Called when the number gets another name.
  void take_over() { ++stamp.generation; }
};

// The message of a failed value. All values that fail because of it share it.
using FailureText = std::shared_ptr<const std::string>;

// `Value` is what a name holds. Its is_live() tells whether the name holds
// anything; its take_over() is called when the symbol's number gets another
// name, which holds nothing yet. Not thread-safe.
template <typename Value>
class SymbolTable {
 public:
  // The reference is valid until the next obtain() or obtain_part().
  Value& operator[](SymbolId id) { return values_[id]; }
  const Value& operator[](SymbolId id) const { return values_[id]; }
  std::string_view name_of(SymbolId id) const { return names_.name_of(id); }
  SymbolId id_of(const Value& value) const {
    return static_cast<SymbolId>(&value - values_.data());
  }
  // Returns a bound: all numbers are below it, also those of names that are not
  // live.
  size_t size() const { return values_.size(); }

  // Returns the number of a name if it is live, else kNoSymbol. Gives no new
  // numbers.
  SymbolId find(std::string_view name) const {
    const SymbolId id = names_.find(name);
    return id == kNoSymbol || !values_[id].is_live() ? kNoSymbol : id;
  }
  // Returns what the name holds, or null if it is not live.
  const Value* value_of(std::string_view name) const {
    const SymbolId id = find(name);
    return id == kNoSymbol ? nullptr : &values_[id];
  }
  // Begins a line: numbers that are obtained or kept from now on stay with
  // their names at least until the next begin_line().
  void begin_line() { names_.begin_line(); }
  // Returns the number of a name, live or not. A name without a number gets
  // one, which may be that of a name long dead.
  SymbolId obtain(std::string_view name) {
    const auto [id, is_other] = names_.obtain(
        name, [this](SymbolId known) { return values_[known].is_live(); });
    if (id == values_.size()) values_.emplace_back();
    if (is_other) values_[id].take_over();
    return id;
  }
  // Has the effect of obtain() for a name that has that number already: for
  // lines that are found in a cache and name symbols by number.
  void keep(SymbolId id) { names_.keep(id); }
  // Says that the name has died; its value's is_live() must be false already.
  // From now on its number may be given to another name, once enough other
  // names have died.
  void retire(SymbolId id) { names_.release(id); }

  // The messages of failed values. failure_of() returns null if none was noted
  // for the symbol.
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

  // Returns live names for a spelling suggestion, at most 2000.
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

// A symbol table with placed names. A part of the name x is a live symbol
// x@RANKS. Its `Value` must also have a member `Shared<Ranks> ranks`,
// ascending, which is null for a name without ranks. The caller says when a
// symbol becomes a part and when it ceases to be one. `base` is always a name
// without ranks.
template <typename Value>
class PlacedSymbolTable : public SymbolTable<Value> {
 public:
  // Returns the parts of a name.
  const std::vector<SymbolId>& parts(std::string_view base) const {
    static const std::vector<SymbolId> kNothing;
    if (parts_.empty()) return kNothing;
    const auto it = parts_.find(base);
    return it == parts_.end() ? kNothing : it->second;
  }
  // True if some name with parts begins with `prefix`.
  bool has_parts_under(std::string_view prefix) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const auto& entry) {
      return std::string_view(entry.first).starts_with(prefix);
    });
  }

  // Returns the number of the symbol "base@ranks", live or not, with its ranks
  // set.
  SymbolId obtain_part(std::string_view base, const Ranks& ranks) {
    const SymbolId id = this->obtain(full_name(base, to_string(ranks)));
    Value& value = (*this)[id];
    if (!value.ranks) value.ranks = Shared<Ranks>(ranks);
    return id;
  }
  // add_part() makes a symbol with ranks a part of its name; drop_part() ends
  // that.
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
  // Makes room for the name on these ranks, before it is bound there: calls
  // narrow(id, rest) for each part that has some of them. narrow() must leave
  // that part the ranks `rest`, or drop the part if `rest` is empty.
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
