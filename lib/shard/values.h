// What gt-shard knows about the values that names hold: the layouts in which
// each value exists, or the line that will make it, if that line still waits.
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

// A line that waits (waiting.h): it has not been written yet, and its first use
// will decide how its result is cut. Its operands wait as well, or are smaller
// than its result.
struct UnwrittenLine {
  std::string text;
  std::vector<ShardValuePtr> operands;  // by operand; null: no name
  std::optional<Layout> pin;  // how the config or a claim cuts the result
  size_t pin_line = 0;        // line of the config; 0: not from the config
  bool is_wish = false;       // the pin comes from a claim (claims.h)
  Claims claims;
  std::optional<uint32_t> set;  // its ranks (Cluster::ranks); empty: not known
  // A cut with which the result may be made at no cost. The gradient of a sum
  // is expanded to the shape of the operand that was summed, and may be cut as
  // that operand was.
  std::optional<Layout> offer;
  bool is_zero = false;  // the result is all zeros
  // True if running it may fail; then it is written even if nobody reads it.
  bool may_fail = false;
  size_t depth = 1;   // how many waiting lines are chained up to this one
  std::string place;  // such as "model.s:3", for explanations
};

// The register that holds a value in one layout.
struct ShardCopy {
  Layout layout;
  // The register's name, which gt-shard invented. If it is "", the value's own
  // names hold it.
  std::string name;
};

struct ShardValue {
  Type type;
  // The layouts in which the value exists at the same time, its own layout
  // first. There are none while its line waits. materializer.h says how long
  // each is kept.
  std::vector<ShardCopy> copies;
  // Its waiting line; null: it was written.
  std::shared_ptr<UnwrittenLine> held;
  std::vector<std::string> names;  // names of the input that hold the value
  // The invented register that holds the value in its own layout after no name
  // of the input holds it any more, for waiting lines that will read it.
  std::string hidden;
  // The dtype in which its sum is sent, if the config wants fewer digits there
  // than the type has (gt-config(5), sums:).
  std::optional<Dtype> sum_dtype;
  // The invented name under which the value is gathered again and again, if the
  // config says regather:. The value keeps it between times, so that the next
  // gather can be written while the last one's result is still read
  // (gathers_ahead.h). "": it was not gathered so.
  std::string regathered;
  // The name of ours that holds the value's cast to f16 or bf16 (precision.h);
  // "": there is none.
  std::string narrow;
  // The name of ours that holds by what the cast of a gradient to f16 was
  // multiplied; "": by nothing.
  std::string scale;
  // The name of ours that holds a part of it on other ranks, which is still to
  // be added to what its own registers hold (sum_rests.h); "": they hold all.
  std::string rest;
  bool is_gradient = false;  // it was made by a line of the backward
  size_t held_readers = 0;   // waiting lines that will read the value
  // True if the value was created, or was made from created values as by an
  // optimizer. Weights and batches are such values.
  bool is_source = false;
  bool is_failed = false;  // a failure; its register has no ranks
  std::string message;     // why it failed, in quotes

  const Layout& layout() const { return copies[0].layout; }
  // Returns the layouts of all copies.
  std::vector<Layout> layouts() const {
    std::vector<Layout> out;
    for (const ShardCopy& copy : copies) out.push_back(copy.layout);
    return out;
  }
  const std::string& own_name() const {
    return names.empty() ? hidden : names[0];
  }
  const std::string& name_of(const ShardCopy& copy) const {
    return copy.name.empty() ? own_name() : copy.name;
  }
};

// Keeps the names of the input with the values that they hold, the names that
// gt-shard invents, and those of the invented registers that are freed after
// the current line.
class ValueTable {
 public:
  // Returns the value that the name holds, or null if it holds none.
  ShardValuePtr find(std::string_view name) const;
  // Lets the name hold the value. If the name held another value before, the
  // caller must have taken it off that value's names.
  void bind(const std::string& name, const ShardValuePtr& value);
  // Lets the name hold nothing, and returns the value that it held. Null: it
  // held none.
  ShardValuePtr unbind(const std::string& name);
  // Returns how many names hold a value or did so recently.
  size_t size() const { return values_.size(); }
  // Returns all names that hold a value.
  std::vector<std::string_view> names() const;

  // Invents a name such as "c1/_s0" in the name space "c1/", with the smallest
  // number that is free. give_back() frees the number of a name that was never
  // bound.
  std::string new_name(const std::string& space);
  void give_back(const std::string& name);
  // To be called with each name that the input binds. If the name looks like an
  // invented one ("_s3"), its number is not used for inventing names any more.
  // Returns true if one of our registers has this number; then sets `number` to
  // it, and the register must be renamed with visit().
  bool take_over(std::string_view name, size_t& number);
  void keep(size_t number) { numbers_.keep(number); }
  // Calls f for each invented register with that number. f may change the name.
  using Rename = std::function<void(std::string& name, const Layout& layout,
                                    const Type& type)>;
  void visit(size_t number, const Rename& f);

  // Notes that the invented register, on that set of ranks (Cluster::ranks), is
  // to be freed after the current line. `keeps_name`: its number stays in use.
  void free_later(const std::string& name, uint32_t set,
                  bool keeps_name = false);
  // Returns the registers that are to be freed, each with its set of ranks, and
  // forgets them. The numbers of the others can be used again.
  std::vector<std::pair<std::string, uint32_t>> take_frees();

  // Returns a table for a trial: it has changeable copies of the values that
  // these names hold, and the same invented names are in use.
  ValueTable copies_of(const std::vector<std::string>& names) const;
  // Appends, as text, everything that the rewriting of later lines depends on.
  void describe(const Cluster& cluster, std::string& out) const;

 private:
  struct Bound {
    ShardValuePtr value;
    bool is_live() const { return value != nullptr; }
    void take_over() {}
  };
  // Calls f(name, value) for each name that holds a value.
  template <typename F>
  void each(const F& f) const {
    for (SymbolId id = 0; id < values_.size(); ++id) {
      if (values_[id].is_live()) f(values_.name_of(id), values_[id].value);
    }
  }

  SymbolTable<Bound> values_;
  NumberPool numbers_;
  std::set<size_t> foreign_;  // numbers of input names that look invented
  std::vector<std::pair<std::string, uint32_t>> frees_;
  std::vector<std::string> freed_names_;  // those of `frees_` that are not kept
};

}  // namespace gt::shard
