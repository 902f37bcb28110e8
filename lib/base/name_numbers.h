// Small numbers for names, that tables are indexed by. A number keeps its name
// while the caller says that the name lives, and for long after, since a loop
// binds the same names again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"

namespace gt {

class NameNumbers {
 public:
  using Number = uint32_t;
  static constexpr Number kNone = UINT32_MAX;

  // Live or not; kNone: it has no number.
  Number find(std::string_view name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? kNone : it->second;
  }
  std::string_view name_of(Number number) const { return *names_[number]; }
  size_t size() const { return names_.size(); }

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
    Obtained out{find(name), false};
    if (out.number == kNone) out = take(name, is_live);
    obtained_[out.number] = line_;
    return out;
  }
  void keep(Number number) { obtained_[number] = line_; }  // as if obtained
  // The name lives no more. A number that is never released is not given to
  // another.
  void release(Number number) {
    if (is_in_dead_[number]) return;
    is_in_dead_[number] = true;
    dead_.push_back(number);
  }

 private:
  static constexpr size_t kKeptDead = 4096;

  template <typename IsLive>
  Obtained take(std::string_view name, const IsLive& is_live) {
    Obtained out{oldest_dead(is_live), true};
    if (out.number == kNone) {
      out = {static_cast<Number>(names_.size()), false};
      names_.push_back(nullptr);
      is_in_dead_.push_back(false);
      obtained_.push_back(0);
    } else {
      by_name_.erase(by_name_.find(*names_[out.number]));
    }
    names_[out.number] =
        &by_name_.emplace(std::string(name), out.number).first->first;
    return out;
  }

  template <typename IsLive>
  Number oldest_dead(const IsLive& is_live) {
    while (dead_.size() > kKeptDead) {
      const Number oldest = dead_.front();
      dead_.pop_front();
      if (obtained_[oldest] == line_) {
        dead_.push_back(oldest);
        return kNone;
      }
      is_in_dead_[oldest] = false;
      if (!is_live(oldest)) return oldest;
    }
    return kNone;
  }

  std::vector<const std::string*> names_;  // keys of by_name_
  std::unordered_map<std::string, Number, TextHash, std::equal_to<>> by_name_;
  std::deque<Number> dead_;  // oldest first; some live again
  std::vector<bool> is_in_dead_;
  std::vector<uint64_t> obtained_;  // the line that last did, by number
  uint64_t line_ = 0;
};

// Names for a spelling suggestion: not all, when there are very many.
template <typename IsLive>
std::vector<std::string_view> some_names(const NameNumbers& names,
                                         const IsLive& is_live) {
  constexpr size_t kMost = 2000;
  std::vector<std::string_view> some;
  for (NameNumbers::Number n = 0; n < names.size() && some.size() < kMost;
       ++n) {
    if (is_live(n)) some.push_back(names.name_of(n));
  }
  return some;
}

}  // namespace gt
