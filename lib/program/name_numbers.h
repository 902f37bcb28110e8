// Small numbers for names, that tables are indexed by. A number keeps its name
// while the caller says that the name lives, and for long after, since a loop
// binds the same names again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/id_table.h"
#include "base/slab.h"
#include "program/ids.h"

namespace gt {

class NameNumbers {
 public:
  using Number = SymbolId;
  static constexpr Number kNone = kNoSymbol;

  // Live or not; kNone: it has no number.
  Number find(std::string_view name) const {
    return find(name, hash_bytes(name));
  }
  // Stays where it is while the number keeps the name.
  std::string_view name_of(Number number) const {
    return entries_[number].name;
  }
  size_t size() const { return entries_.size(); }

  // All that are obtained since begin_line() keep their names until the next.
  void begin_line() { ++line_; }
  struct Obtained {
    Number number = kNone;
    bool is_other = false;  // until now it was another name's
  };
  // The name's number: it may be size(), which grows, or that of a name long
  // dead, for which is_live(number) is false.
  template <typename IsLive>
  Obtained obtain(std::string_view name, const IsLive& is_live) {
    const uint64_t hash = hash_bytes(name);
    Obtained out{find(name, hash), false};
    if (out.number == kNone) out = take(name, hash, is_live);
    keep(out.number);
    return out;
  }
  void keep(Number number) { entries_[number].obtained = line_; }
  // The name lives no more. A number that is never released is not given to
  // another.
  void release(Number number) {
    if (entries_[number].is_in_dead) return;
    entries_[number].is_in_dead = true;
    dead_.push_back(number);
  }

 private:
  static constexpr size_t kKeptDead = 4096;

  struct Entry {
    std::string name;
    uint64_t obtained = 0;    // the line that last did
    bool is_in_dead = false;  // in dead_; it may live again
  };

  Number find(std::string_view name, uint64_t hash) const {
    return by_name_.find(
        hash, [&](Number number) { return entries_[number].name == name; });
  }

  template <typename IsLive>
  Obtained take(std::string_view name, uint64_t hash, const IsLive& is_live) {
    Obtained out{oldest_dead(is_live), true};
    if (out.number == kNone) {
      out = {static_cast<Number>(entries_.size()), false};
      entries_.grow();
    } else {
      by_name_.remove(hash_bytes(entries_[out.number].name), out.number);
    }
    entries_[out.number].name.assign(name);
    by_name_.add(hash, out.number);
    return out;
  }

  template <typename IsLive>
  Number oldest_dead(const IsLive& is_live) {
    while (dead_.size() > kKeptDead) {
      const Number oldest = dead_.front();
      dead_.pop_front();
      if (entries_[oldest].obtained == line_) {
        dead_.push_back(oldest);
        return kNone;
      }
      entries_[oldest].is_in_dead = false;
      if (!is_live(oldest)) return oldest;
    }
    return kNone;
  }

  IdTable by_name_;
  Slab<Entry> entries_;      // by number
  std::deque<Number> dead_;  // oldest first; some live again
  uint64_t line_ = 1;
};

}  // namespace gt
