// What gt-shard knows of the values that names hold.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shard/claims.h"
#include "spmd/layout.h"

namespace gt {

struct ShardValue;
using ShardValuePtr = std::shared_ptr<ShardValue>;

// A line that was not written yet: its first use will say how its result is
// cut. What it reads is held with it, or smaller than the result.
struct UnwrittenLine {
  std::string text;
  std::vector<ShardValuePtr> operands;  // by operand of the line; null: no name
  std::optional<Layout> pin;            // as the config cuts it,
  size_t pin_line = 0;                  // in this line; 0: the line says so
  bool is_wish = false;                 // of its notes, after the config
  Claims claims;
  std::optional<uint32_t> set;  // where the config puts it
  // Of a gradient that is spread over what the forward summed: as that is cut,
  // which costs nothing.
  std::optional<Layout> offer;
  bool is_zero = false;
  bool may_fail = false;  // when it is run: unread, it is written all the same
  size_t depth = 1;       // of such lines within each other
  std::string place;      // "model.s:3", for people who ask
};

// A value in one layout: under the names' own registers, or under one that
// gt-shard invented.
struct ShardCopy {
  Layout layout;
  std::string name;  // "": the value's own
};

struct ShardValue {
  Type type;
  std::vector<ShardCopy> copies;  // the own one first; none while it is held
  std::shared_ptr<UnwrittenLine> held;
  std::vector<std::string> names;
  std::string hidden;       // an own register when all names are gone
  size_t held_readers = 0;  // unwritten lines that will read it
  // Made by a creating line, or from such by an optimizer: a weight, a batch.
  bool is_source = false;
  bool is_failed = false;      // passed on without ranks
  std::string message;         // of a failure, quoted
  bool is_read_twice = false;  // by the line, in different layouts

  const std::string& own_name() const {
    return names.empty() ? hidden : names[0];
  }
  const std::string& name_of(const ShardCopy& copy) const {
    return copy.name.empty() ? own_name() : copy.name;
  }
};

// The smallest number not in use comes first.
class NumberPool {
 public:
  size_t take() {
    size_t n = 0;
    while (n < used_.size() && used_[n]) ++n;
    if (n == used_.size()) used_.push_back(false);
    used_[n] = true;
    return n;
  }
  void give(size_t n) {
    used_[n] = false;
    while (!used_.empty() && !used_.back()) used_.pop_back();
  }
  void keep(size_t n) {  // in use from now on
    if (n >= used_.size()) used_.resize(n + 1);
    used_[n] = true;
  }
  bool is_used(size_t n) const { return n < used_.size() && used_[n]; }
  const std::vector<bool>& used() const { return used_; }

 private:
  std::vector<bool> used_;
};

}  // namespace gt
