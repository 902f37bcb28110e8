// What gt-shard knows of the values that names hold.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/number_pool.h"
#include "program/symbol_table.h"
#include "shard/claims.h"
#include "spmd/layout.h"

namespace gt::shard {

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
  bool is_failed = false;  // passed on without ranks
  std::string message;     // of a failure, quoted

  const Layout& layout() const { return copies[0].layout; }
  const std::string& own_name() const {
    return names.empty() ? hidden : names[0];
  }
  const std::string& name_of(const ShardCopy& copy) const {
    return copy.name.empty() ? own_name() : copy.name;
  }
};

// Names of the input and the values that they hold, the names that gt-shard
// invents, and which of these are to be freed after the line.
class ValueTable {
 public:
  ShardValuePtr find(std::string_view name) const;
  void bind(const std::string& name, const ShardValuePtr& value);
  // The value that the name holds no more; null: it held none.
  ShardValuePtr unbind(const std::string& name);
  // Names that hold a value, and some that did.
  size_t size() const { return values_.size(); }
  std::vector<std::string_view> names() const;

  // "c1/_s0" in the name space "c1/".
  std::string new_name(const std::string& space);
  void give_back(const std::string& name);
  // A name of the input that looks like an invented one is the input's. True:
  // a register of ours has its number, and must get another.
  bool take_over(std::string_view name, size_t& number);
  void keep(size_t number) { numbers_.keep(number); }
  // Calls f of every invented register with that number; f may name it anew.
  using Rename = std::function<void(std::string& name, const Layout& layout,
                                    const Type& type)>;
  void visit(size_t number, const Rename& f);

  void free_later(const std::string& name, uint32_t set);
  // Their numbers can be taken again.
  std::vector<std::pair<std::string, uint32_t>> take_frees();

  // Of values under these names copies that can be changed, and the same
  // invented names: for a trial.
  ValueTable copies_of(const std::vector<std::string>& names) const;
  // All that later lines depend on.
  void describe(const Cluster& cluster, std::string& out) const;

 private:
  struct Bound {
    ShardValuePtr value;
    bool is_live() const { return value != nullptr; }
    void take_over() {}
  };
  // Calls f(name, value) of all names that hold one.
  template <typename F>
  void each(const F& f) const {
    for (SymbolId id = 0; id < values_.size(); ++id) {
      if (values_[id].is_live()) f(values_.name_of(id), values_[id].value);
    }
  }

  SymbolTable<Bound> values_;
  NumberPool numbers_;
  std::set<size_t> foreign_;  // of names of the input that look like ours
  std::vector<std::pair<std::string, uint32_t>> frees_;
};

}  // namespace gt::shard
