// Gives equal values one small id, so that two values are compared by their ids
// and a large value is stored once (hash consing: Ershov, On programming of
// arithmetic operations, 1958).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/id_table.h"

namespace gt {

// `Hash` gives a size_t of a T, as std::hash does; equal values are `==`.
template <typename T, typename Hash>
class Interner {
 public:
  using Id = IdTable::Id;

  // The ids below `reserved` are kept for the caller's own meanings (such as
  // "no type"): id() never returns them, and they hold default values.
  explicit Interner(size_t reserved = 0) : reserved_(reserved) { clear(); }

  // Returns the id of the value, a new one if no equal value has an id.
  Id id(T value) {
    const uint64_t hash = Hash()(value);
    const Id known =
        table_.find(hash, [&](Id other) { return values_[other] == value; });
    if (known != IdTable::kNone) return known;
    Id fresh = static_cast<Id>(values_.size());
    if (free_.empty()) {
      values_.push_back(std::move(value));
    } else {
      fresh = free_.back();
      free_.pop_back();
      values_[fresh] = std::move(value);
    }
    table_.add(hash, fresh);
    return fresh;
  }

  // Returns the value with that id. The reference is valid until clear(), or
  // until keep_only() drops the value.
  const T& operator[](Id id) const { return values_[id]; }
  // Returns the number of values that have an id.
  size_t size() const { return table_.size(); }

  void clear() {
    table_.clear();
    free_.clear();
    values_.clear();
    values_.resize(reserved_);
  }
  // Drops the values for whose id is_used(id) is false. Their ids will be given
  // to other values; the other ids do not change.
  template <typename IsUsed>
  void keep_only(const IsUsed& is_used) {
    table_.clear();
    free_.clear();
    for (Id id = static_cast<Id>(reserved_); id < values_.size(); ++id) {
      if (is_used(id)) {
        table_.add(Hash()(values_[id]), id);
      } else {
        values_[id] = T();
        free_.push_back(id);
      }
    }
  }

 private:
  size_t reserved_;
  IdTable table_;
  std::deque<T> values_;
  std::vector<Id> free_;
};

}  // namespace gt
