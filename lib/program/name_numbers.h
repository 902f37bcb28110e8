// Gives names small numbers, which index tables. A name is live while it holds
// a value; the caller knows which names are. A name keeps its number while it
// is live, and after that until kKeptDead more names have died, since a loop
// binds the same names again. Then the number may be given to a new name, so
// that the tables do not grow with the length of a stream.
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

  // Returns the number of a name, live or not, or kNone if it has none.
  Number find(std::string_view name) const {
    return find(name, hash_bytes(name));
  }
  // Returns the name with that number. The view is valid while the number is
  // this name's.
  std::string_view name_of(Number number) const {
    return entries_[number].name;
  }
  // Returns a bound: all numbers are below it.
  size_t size() const { return entries_.size(); }

  // Begins a new line. Numbers that obtain() returns or that are passed to
  // keep() stay with their names until the next begin_line(), so that one line
  // can be worked on with them.
  void begin_line() { ++line_; }
  struct Obtained {
    Number number = kNone;
    bool is_other = false;  // it was another name's until now
  };
  // Returns the name's number; a name without one gets one. That is the number
  // of the name that has been dead longest, if more than kKeptDead are dead;
  // else a new one, equal to size() before the call. is_live(number) must say
  // whether the name with that number holds a value, since a name that was
  // released may have been bound again.
  template <typename IsLive>
  Obtained obtain(std::string_view name, const IsLive& is_live) {
    const uint64_t hash = hash_bytes(name);
    Obtained out{find(name, hash), false};
    if (out.number == kNone) out = take(name, hash, is_live);
    keep(out.number);
    return out;
  }
  // Has the effect of obtain() for a number that the name has already.
  void keep(Number number) { entries_[number].obtained = line_; }
  // Says that the number's name has died. Only numbers that were released are
  // ever given to other names.
  void release(Number number) {
    if (entries_[number].is_in_dead) return;
    entries_[number].is_in_dead = true;
    dead_.push_back(number);
  }

 private:
  static constexpr size_t kKeptDead = 4096;  // dead names that keep their
                                             // numbers

  struct Entry {
    std::string name;
    uint64_t obtained = 0;    // the last line (line_) that obtained it
    bool is_in_dead = false;  // it is in dead_; the name may be live again
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
  std::deque<Number> dead_;  // in the order of dying; some are live again
  uint64_t line_ = 1;
};

}  // namespace gt
