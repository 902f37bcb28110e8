// What gt-shard knows of the values that names hold: in which layouts each is
// there, or the line that will make it, if that waits.
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

#include "base/number_pool.h"
#include "program/symbol_table.h"
#include "shard/claims.h"
#include "spmd/layout.h"

namespace gt::shard {

struct ShardValue;
using ShardValuePtr = std::shared_ptr<ShardValue>;

// A line that waits (waiting.h): it was not written yet, and its first use will
// say how its result is cut. What it reads waits as well, or is smaller than
// the result.
struct UnwrittenLine {
  std::string text;
  std::vector<ShardValuePtr> operands;  // by operand of the line; null: no name
  std::optional<Layout> pin;            // how the config or a claim cuts it
  size_t pin_line = 0;                  // of the config; 0: it does not say so
  bool is_wish = false;                 // the pin is a claim's (claims.h)
  Claims claims;
  std::optional<uint32_t> set;  // the ranks where the config puts it
  // A cut that it may take at no cost: a gradient that is expanded to the shape
  // of what the forward summed can begin cut as that was.
  std::optional<Layout> offer;
  bool is_zero = false;   // its result is all zeros
  bool may_fail = false;  // when it is run; so it is written even if unread
  size_t depth = 1;       // of such lines within each other
  std::string place;      // "model.s:3", for people who ask
};

// A value in one layout, and the register that holds it.
struct ShardCopy {
  Layout layout;
  // Invented by gt-shard; "": the registers of the value's own names.
  std::string name;
};

struct ShardValue {
  Type type;
  // The layouts in which it is there at the same time, its own first; none
  // while its line waits. How long each is kept: materializer.h.
  std::vector<ShardCopy> copies;
  std::shared_ptr<UnwrittenLine> held;  // its line, while that waits; else null
  std::vector<std::string> names;       // of the input that hold it
  // The invented register of its own layout, when no name holds it any more but
  // lines that wait will read it.
  std::string hidden;
  size_t held_readers = 0;  // lines that wait and will read it
  // It was created, or made from such by an optimizer: a weight, a batch.
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

// The names of the input and the values that they hold; the names that gt-shard
// invents, and those of them that are to be freed after the line at hand.
class ValueTable {
 public:
  // What the name holds; null: nothing.
  ShardValuePtr find(std::string_view name) const;
  // The name, which holds nothing, holds the value from here on.
  void bind(const std::string& name, const ShardValuePtr& value);
  // Returns the value that the name holds no more; null: it held none.
  ShardValuePtr unbind(const std::string& name);
  // How many names hold a value or did so lately.
  size_t size() const { return values_.size(); }
  // All that hold a value.
  std::vector<std::string_view> names() const;

  // Invents a name, "c1/_s0" in the name space "c1/", with the smallest number
  // that is free; give_back() frees the number of one that was never bound.
  std::string new_name(const std::string& space);
  void give_back(const std::string& name);
  // A name of the input that looks like an invented one ("_s3") is the input's
  // from here on; we do not invent it again. True: a register of ours has it,
  // whose number becomes `number`, and must get another name: see visit().
  bool take_over(std::string_view name, size_t& number);
  void keep(size_t number) { numbers_.keep(number); }
  // Calls f for every invented register with that number; f may name it anew.
  using Rename = std::function<void(std::string& name, const Layout& layout,
                                    const Type& type)>;
  void visit(size_t number, const Rename& f);

  // The invented register, on that set of ranks, is to be freed after the line.
  void free_later(const std::string& name, uint32_t set);
  // Hands out those to be freed; their numbers can be taken again.
  std::vector<std::pair<std::string, uint32_t>> take_frees();

  // For a trial: a table with copies of the values that these names hold, which
  // can be changed, and the same invented names in use.
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
