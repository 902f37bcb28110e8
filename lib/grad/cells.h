// Where a history is kept: values, the lines that made them, and who reads
// whom. What goes, and when, tape.h says.
//
// A value is what one instruction defined. A node is an instruction that can be
// differentiated. What lines have in common but for their values is a Form.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/origin.h"
#include "base/slab.h"
#include "base/small_vector.h"
#include "grad/facts.h"
#include "grad/forms.h"
#include "grad/ids.h"

namespace gt::grad {

// What is known of a node, as a copy.
struct Node {
  using Values = SmallVector<ValueId, 4>;
  const Op* op = nullptr;
  const Form* form = nullptr;
  uint64_t serial = 0;
  Origin origin;
  uint32_t live_inputs = 0;
  Values operands;  // of the line; kNil where there is no tensor
  Values results;   // kNil: nobody can mean it any more
  Values needed;    // those whose data the gradient lines read
};

class HistoryCells {
 public:
  Forms& forms() { return forms_; }
  const Forms& forms() const { return forms_; }

  // Values. Those that are gone have ids below value_limit() too.
  size_t value_limit() const { return cells_.size(); }
  bool is_alive(ValueId id) const { return cells_[id].is_value(); }
  bool is_fresh(ValueId id) const { return cells_[id].fresh != 0; }
  TypeId type(ValueId id) const;
  // The name that holds it, or kNil; and one of ours beside the user's.
  SymbolId name(ValueId id) const;
  SymbolId alias(ValueId id) const;
  bool is_internal(ValueId id) const;
  bool is_differentiable(ValueId id) const {
    return cells_[id].differentiable != 0;
  }
  NodeId producer(ValueId id) const;
  // Values and nodes have one that grows from line to line.
  uint64_t serial(ValueId id) const { return cells_[id].serial; }
  uint64_t next_serial() const { return next_serial_; }
  Origin origin(ValueId id) const;
  const Lost& lost(ValueId id) const;
  Lost gone(ValueId id) const;
  const Hidden& hidden(ValueId id) const;
  uint32_t pending(ValueId id) const;
  // How many nodes have a gradient that reads the data, in time linear in its
  // users; and whether those or pending lines do.
  uint32_t reads(ValueId id) const;
  bool is_needed(ValueId id) const;
  std::vector<NodeId> users(ValueId id) const;  // newest first
  // Sets the places that origin(), lost() and gone() tell, which move on when a
  // round is replayed.
  void move_places(ValueId id, Origin origin, Origin lost, Origin gone);

  size_t node_count() const { return node_count_; }
  // All of them.
  std::vector<NodeId> nodes_by_age() const;
  Node node(NodeId id) const;
  const Form& form(NodeId id) const { return forms_[cells_[id].form]; }
  // Its instruction, with "r" and "x" for the names.
  const Line& line(NodeId id) const { return forms_.parsed(cells_[id].form); }
  // One by one, without a copy: operands that are tensors.
  template <typename Use>
  void each_operand(NodeId id, const Use& use) const {
    each_slot(id, [&](uint32_t, UseId at) { use(operand(at)); });
  }

  // A value that a later grad could have as a target; or that, or go through.
  bool is_target(ValueId id) const {
    return is_differentiable(id) && is_held_by_user(id);
  }
  bool reachable(ValueId id) const {
    return is_target(id) || (is_differentiable(id) && producer(id) != kNil);
  }

 protected:
  // An operand of a line: its cell and which of the cell's two it is.
  using UseId = uint32_t;

  // Millions are kept, so a line of one result and at most two operands is one
  // cell of 40 bytes; further results and pairs of operands are one more each.
  // What few values have stands in facts_.
  struct Cell {
    enum Kind : uint64_t {
      kFree,
      kLeaf,
      kLine,    // a node and its first result
      kWide,    // the same, with its operands in cells of kMore
      kResult,  // a further result
      kMore
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
    // Of what `name` held: in how many lines it was bound again; 0: see facts.
    uint64_t gone : 5;
    uint64_t line_high : 6;
    uint32_t line_low;
    // Of a line its form, of a leaf its type, of kMore its line.
    uint32_t form;
    SymbolId name;  // of kMore: the next one
    UseId uses;     // the newest; of kMore: the index of its first operand
    // Of a leaf, its file first. Of kResult, its line and which it is. Of
    // kWide, the first kMore. Of kMore also results, behind the operands.
    ValueId operands[2];
    // The next older use of each operand. Of kWide: operands that can reach a
    // target, and those that stand in lists of uses.
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
  // Whether `is` holds of a use by a node that is there; the newest come first.
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
  const Facts* find_facts(ValueId id) const;
  Facts& facts(ValueId id);
  void trim_facts(ValueId id);
  // From here on the nodes that read the data are counted as they come and go.
  void count_reads(ValueId id);
  // A gradient line of the node that made it reads it.
  bool reads_itself(ValueId id) const;

  ValueId add_leaf(TypeId type, bool differentiable, Origin origin);
  // `live` of the operands lead to a target.
  void new_line(FormId form, std::span<const ValueId> operands, uint32_t live,
                Origin origin, std::vector<ValueId>& results);
  Node::Values results_of(NodeId id) const;
  // One operand fewer leads to a target. True: it was the last.
  bool drop_input(NodeId id);

  // The node ends. Its results go on as leaves until retire().
  void end(NodeId id);
  // The value is gone; so is its cell, unless its node is there or stands in
  // lists of uses.
  void retire(ValueId id);
  // Nodes that are gone leave the list of the value's uses as long as they are
  // the newest in it. What they leave elsewhere goes by sweep_if_many(), so
  // that no list must be searched.
  void clean(ValueId id);
  void sweep_if_many();

  // Of an element the tape itself changes who holds it and whether it is fresh.
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
  size_t node_count_ = 0;
  // Nodes that are gone with their result, but stand in lists of uses.
  size_t zombies_ = 0;
  uint64_t next_serial_ = 1;
};

}  // namespace gt::grad
