// The memory of a history: its values, the lines that made them, and which line
// reads which value. The class above it, Tape (tape.h), decides what is dropped
// and when.
//
// A value is what one instruction defined; a value without a node is a leaf. A
// node is an instruction that can be differentiated; its id is that of its
// first result. What lines have in common except for their values is a Form
// (forms.h).
//
// Values and nodes are cells of 40 bytes under 32-bit ids, which are reused. Of
// a value that is gone nothing is kept, with one exception: the cell of a
// line's first result is also that of its node, and stays until the node is
// gone as well and no list of uses has it. What only few values have is kept
// beside the cells, as Facts (facts.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/origin.h"
#include "base/slab.h"
#include "base/small_vector.h"
#include "grad/facts.h"
#include "grad/forms.h"
#include "grad/ids.h"

namespace gt::grad {

// A copy of what is known of a node.
struct Node {
  using Values = SmallVector<ValueId, 4>;
  const Op* op = nullptr;
  const Form* form = nullptr;
  uint64_t serial = 0;
  Origin origin;
  uint32_t live_inputs = 0;  // operands from which a target can be reached
  Values operands;           // of the line; kNil for no tensor
  Values results;            // kNil: nothing can refer to it any more
  Values needed;             // values whose data the gradient lines read
};

class HistoryCells {
 public:
  Forms& forms() { return forms_; }
  const Forms& forms() const { return forms_; }

  // ---- values

  // Returns a bound: ids are below it, also those of values that are gone. The
  // other functions must be called for values that are alive.
  size_t value_limit() const { return cells_.size(); }
  bool is_alive(ValueId id) const { return cells_[id].is_value(); }
  // True if nothing has held the value yet; it is kept until something does.
  bool is_fresh(ValueId id) const { return cells_[id].fresh != 0; }
  TypeId type(ValueId id) const;
  // name() returns the name that holds the value, or kNil. alias() returns the
  // name of gt's own that holds it beside the user's, or kNil. is_internal() is
  // true if the name that holds it is gt's own.
  SymbolId name(ValueId id) const;
  SymbolId alias(ValueId id) const;
  bool is_internal(ValueId id) const;
  // True if the value holds floats.
  bool is_differentiable(ValueId id) const {
    return cells_[id].differentiable != 0;
  }
  // Returns the node that made the value; kNil for a leaf.
  NodeId producer(ValueId id) const;
  // Serial numbers grow from line to line, and are never used again.
  uint64_t serial(ValueId id) const { return cells_[id].serial; }
  uint64_t next_serial() const { return next_serial_; }
  // Returns the line that defined the value.
  Origin origin(ValueId id) const;
  // Returns why the history behind the value is gone, if there was one.
  const Lost& lost(ValueId id) const;
  // Returns the user's name that held the value until the name was bound again
  // or freed.
  Lost gone(ValueId id) const;
  // Returns the targets that were behind the value, if its history was lost.
  const ConsumedTargets& consumed_targets(ValueId id) const;
  // Returns Facts::former of the value.
  const NameSets::Ref& former_names(ValueId id) const;
  // Returns the time since which a symbol stands for its name (NamedSince), by
  // the function that was set.
  uint64_t name_since(SymbolId symbol) const { return since_(symbol); }
  void set_name_times(std::function<uint64_t(SymbolId)> since) {
    since_ = std::move(since);
  }
  // Returns how many lines that are still to be written read the data.
  uint32_t pending(ValueId id) const;
  // reads() returns how many nodes have a gradient that reads the data, in time
  // linear in the value's users. is_needed() is true if any of those, or any
  // pending line, reads it.
  uint32_t reads(ValueId id) const;
  bool is_needed(ValueId id) const;
  std::vector<NodeId> users(ValueId id) const;  // newest first
  // Sets the places that origin(), lost() and gone() return. When a round of a
  // loop is replayed (stream/replay.h), its lines stand further down than those
  // that were recorded.
  void move_places(ValueId id, Origin origin, Origin lost, Origin gone);

  // ---- nodes

  size_t node_count() const { return node_count_; }
  // Returns all nodes, the oldest first.
  std::vector<NodeId> nodes_by_age() const;
  Node node(NodeId id) const;
  const Form& form(NodeId id) const { return forms_[cells_[id].form]; }
  // Returns the node's instruction, with "r" and "x" for the names.
  const Line& line(NodeId id) const { return forms_.parsed(cells_[id].form); }
  // Calls use(value) for each operand that is a tensor, without copying the
  // node.
  template <typename Use>
  void each_operand(NodeId id, const Use& use) const {
    each_slot(id, [&](uint32_t, UseId at) { use(operand(at)); });
  }

  // is_target() is true if a later grad could name the value as a target: it
  // holds floats, and a user's name holds it. reachable() is true if the value
  // is a target, or a way leads from it to one.
  bool is_target(ValueId id) const {
    return is_differentiable(id) && is_held_by_user(id);
  }
  bool reachable(ValueId id) const {
    return is_target(id) || (is_differentiable(id) && producer(id) != kNil);
  }

 protected:
  // A use: an operand of a line, identified by the cell that has it and which
  // of the cell's two operands it is. The uses of a value are a linked list,
  // the newest first.
  using UseId = uint32_t;

  // Millions are kept, so a line of one result and at most two operands is one
  // cell; each further result and each pair of operands takes one more. What a
  // field means depends on the kind of the cell.
  struct Cell {
    enum Kind : uint64_t {
      kFree,
      kLeaf,    // a value without a node
      kLine,    // a node and its first result
      kWide,    // as kLine, with its operands in cells of kMore
      kResult,  // a further result
      kMore     // two operands or further results of a kWide line
    };
    uint64_t serial : 42;  // enough for weeks at a million values a second
    uint64_t kind : 3;
    uint64_t differentiable : 1;  // holds floats
    uint64_t held : 1;            // `name` holds it
    uint64_t fresh : 1;           // not held yet, and kept until it is
    uint64_t has_facts : 1;
    uint64_t ended : 1;   // the node is gone
    uint64_t dead : 1;    // the first result is gone
    uint64_t inputs : 2;  // of kLine: operands that can reach a target
    // If `name` held the value once and was bound again soon after: how many
    // lines after the value's own line that was. 0: it was not, or Facts::gone
    // has it.
    uint64_t gone : 5;
    uint64_t line_high : 6;
    uint32_t line_low;
    // A line's FormId, a leaf's TypeId, or the cell of the line of a kMore.
    uint32_t form;
    SymbolId name;  // holds or held it; for kMore: the next kMore
    UseId uses;     // the newest; for kMore: its first operand's index
    // For kLine, its operands, kNil for none. For a leaf, the number of its
    // file. For kResult, its line's cell, and its index among the results. For
    // kWide, the first kMore. For kMore, values: first the operands, then the
    // further results.
    ValueId operands[2];
    // For each operand, the next older use of the same value. For kWide: how
    // many operands can reach a target, and how many are in lists of uses.
    UseId next[2];

    bool is_line() const { return kind == kLine || kind == kWide; }
    bool is_value() const {
      return kind == kLeaf || kind == kResult || (is_line() && dead == 0);
    }
    uint64_t line() const { return uint64_t{line_high} << 32 | line_low; }
    void set_line(uint64_t line) {
      line_low = static_cast<uint32_t>(line);
      line_high = (line >> 32) & 63;
    }
  };
  static_assert(sizeof(Cell) == 40);
  static constexpr uint64_t kMostSerial = (uint64_t{1} << 42) - 1;

  static constexpr UseId use(ValueId cell, uint32_t slot) {
    return cell << 1 | slot;
  }
  ValueId operand(UseId at) const { return cells_[at >> 1].operands[at & 1]; }
  UseId next(UseId at) const { return cells_[at >> 1].next[at & 1]; }
  NodeId node_of(UseId at) const {
    const Cell& cell = cells_[at >> 1];
    return cell.kind == Cell::kMore ? cell.form : at >> 1;
  }
  uint32_t index_of(UseId at) const {
    const Cell& cell = cells_[at >> 1];
    return (cell.kind == Cell::kMore ? cell.uses : 0) + (at & 1);
  }
  bool has_ended(UseId at) const { return cells_[node_of(at)].ended != 0; }
  // True if is(use) is true for some use of the value by a node that still
  // exists. Asks from the newest use on.
  template <typename Is>
  bool any_use(ValueId id, const Is& is) const {
    for (UseId at = cells_[id].uses; at != kNil; at = next(at)) {
      if (!has_ended(at) && is(at)) return true;
    }
    return false;
  }
  bool reads_data(UseId at) const;

  // Calls use(index, at) for the operands of a node that are tensors.
  template <typename Use>
  void each_slot(NodeId id, const Use& use) const {
    const uint32_t count = forms_[cells_[id].form].operands;
    ValueId cell = cells_[id].kind == Cell::kWide ? cells_[id].operands[0] : id;
    for (uint32_t i = 0; i < count; ++i) {
      if (i > 0 && i % 2 == 0) cell = cells_[cell].name;
      const UseId at = HistoryCells::use(cell, i % 2);
      if (operand(at) != kNil) use(i, at);
    }
  }

  bool is_held_by_user(ValueId id) const {
    return cells_[id].held != 0 && !is_internal(id);
  }
  const Facts* find_facts(ValueId id) const {
    return cells_[id].has_facts == 0 ? nullptr : &facts_.at(id);
  }
  Facts& facts(ValueId id);
  void trim_facts(ValueId id);
  // Makes Facts::reads count, from now on, the nodes that read the data as they
  // come and go.
  void count_reads(ValueId id);
  // True if a gradient line of the node that made the value reads it.
  bool reads_itself(ValueId id) const;

  ValueId add_leaf(TypeId type, bool differentiable, Origin origin);
  // Makes a node of that form with its results. `live` is the number of
  // operands that lead to a target.
  void new_line(FormId form, std::span<const ValueId> operands, uint32_t live,
                Origin origin, std::vector<ValueId>& results);
  Node::Values results_of(NodeId id) const;
  // Notes that one operand fewer of the node leads to a target. True if it was
  // the last.
  bool drop_input(NodeId id);

  // Ends the node. Its results stay as leaves until retire().
  void end(NodeId id);
  // Removes the value, and its cell, unless the cell is that of a node that
  // still exists or is in lists of uses.
  void retire(ValueId id);
  // Removes uses by nodes that are gone from the front of the value's list.
  // Those behind a use that exists stay, so that no list must be searched,
  // until there are many of them: then sweep_if_many() goes through all lists.
  void clean(ValueId id);
  void sweep_if_many();

  // The cells, by id. The tape itself changes only `held`, `name`, `gone` and
  // `fresh` of a cell.
  Slab<Cell> cells_;

 private:
  ValueId new_cell(Cell::Kind kind);
  ValueId new_value(Cell::Kind kind, bool differentiable, Origin origin);
  void free_cell(ValueId id);
  void add_slots(NodeId id, std::span<const ValueId> values, size_t operands);
  UseId slot_at(NodeId id, size_t index) const;
  void unlink(UseId& link);
  void sweep();
  bool is_linked(NodeId id) const;
  void free_line(NodeId id);

  Forms forms_;
  std::vector<ValueId> free_cells_;
  std::unordered_map<ValueId, Facts> facts_;
  std::function<uint64_t(SymbolId)> since_ = [](SymbolId) { return 0; };
  size_t node_count_ = 0;
  // How many nodes are gone with their first result, but are still in lists of
  // uses.
  size_t zombies_ = 0;
  uint64_t next_serial_ = 1;
};

}  // namespace gt::grad
