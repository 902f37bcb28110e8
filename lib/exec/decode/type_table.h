// Types by small numbers, so that a table's entry is checked by one compare.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "exec/memory/pool.h"
#include "stream/type.h"

namespace gt {

using TypeId = uint32_t;
inline constexpr TypeId kNoType = 0;      // of a name without a value
inline constexpr TypeId kFailedType = 1;  // of a value that never came to be

struct TypeEntry {
  Type type;
  size_t bytes = 0;
  uint32_t size_class = 0;
};

class TypeTable {
 public:
  TypeTable() { clear(); }

  TypeId intern(const Type& type) {
    const auto [it, fresh] =
        ids_.try_emplace(type, static_cast<TypeId>(entries_.size()));
    if (fresh) {
      const size_t bytes = type.bytes();
      entries_.push_back({type, bytes, size_class_of(bytes)});
    }
    return it->second;
  }
  // Stays where it is until clear().
  const TypeEntry& operator[](TypeId id) const { return entries_[id]; }
  size_t size() const { return entries_.size(); }
  void clear() {
    ids_.clear();
    entries_.clear();
    entries_.resize(2);  // kNoType and kFailedType
  }

 private:
  std::unordered_map<Type, TypeId, TypeHash> ids_;
  std::deque<TypeEntry> entries_;
};

}  // namespace gt
