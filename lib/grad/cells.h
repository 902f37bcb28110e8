// The memory of a history: its values, the lines that made them, and which line
// reads which value. tape.h, the class above it, decides what goes and when.
//
// A value is what one instruction defined; one without a node behind it is a
// leaf. A node is an instruction that can be differentiated; its id is that of
// its first result. What lines have in common but for their values is a Form
// (forms.h).
//
// Values and nodes are cells of 40 bytes under 32-bit ids, which are used
// again. Of a value that is gone nothing is kept but this: the cell of a line's
// first result is that of its node, and stays until the node is gone as well
// and no list of uses names it. What few values have stands beside the cells,
// as Facts (facts.h).
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
  uint32_t live_inputs = 0;  // operands from which a target can be reached
  Values operands;           // of the line; kNil where there is no tensor
  Values results;            // kNil: nobody can mean it any more
  Values needed;             // those whose data the gradient lines read
};

class HistoryCells {
 public:
  Forms& forms() { return forms_; }
  const Forms& forms() const { return forms_; }

  // ---- values

  // Ids are below it, those of values that are gone among them; the other
  // questions are about values that are alive.
  size_t value_limit() const { return cells_.size(); }
  bool is_alive(ValueId id) const { return cells_[id].is_value(); }
  // Nobody has held it yet, and it is kept until somebody does.
  bool is_fresh(ValueId id) const { return cells_[id].fresh != 0; }
  TypeId type(ValueId id) const;
  // The name that holds it, or kNil; and the name of ours that holds it beside
  // the user's, or kNil. is_internal(): the name that holds it is ours.
  SymbolId name(ValueId id) const;
  SymbolId alias(ValueId id) const;
  bool is_internal(ValueId id) const;
  // It holds floats.
  bool is_differentiable(ValueId id) const {
    return cells_[id].differentiable != 0;
  }
  // The node that made it; kNil of a leaf.
  NodeId producer(ValueId id) const;
  // Serial numbers grow from line to line, and are never used again.
  uint64_t serial(ValueId id) const { return cells_[id].serial; }
  uint64_t next_serial() const { return next_serial_; }
  // The line that defined it.
  Origin origin(ValueId id) const;
  // Why the history behind it is not there any more, if there was one.
  const Lost& lost(ValueId id) const;
  // The user's name that held the value until that was bound again or freed.
  Lost gone(ValueId id) const;
  // The targets that were behind it, of a value whose history was lost.
  const Hidden& hidden(ValueId id) const;
  // How many lines that are yet to be written read the data.
  uint32_t pending(ValueId id) const;
  // How many nodes have a gradient that reads the data, in time linear in the
  // value's users; and whether any of those, or of the pending lines, does.
  uint32_t reads(ValueId id) const;
  bool is_needed(ValueId id) const;
  std::vector<NodeId> users(ValueId id) const;  // newest first
  // Sets the places that origin(), lost() and gone() tell: when a round of a
  // loop is replayed (stream/replay.h) its lines stand further down than those
  // that were recorded.
  void move_places(ValueId id, Origin origin, Origin lost, Origin gone);

  // ---- nodes

  size_t node_count() const { return node_count_; }
  // All of them, the oldest first.
  std::vector<NodeId> nodes_by_age() const;
  Node node(NodeId id) const;
  const Form& form(NodeId id) const { return forms_[cells_[id].form]; }
  // Its instruction, with "r" and "x" for the names.
  const Line& line(NodeId id) const { return forms_.parsed(cells_[id].form); }
  // Calls use(value) for each operand that is a tensor, without a copy.
  template <typename Use>
  void each_operand(NodeId id, const Use& use) const {
    each_slot(id, [&](uint32_t, UseId at) { use(operand(at)); });
  }

  // is_target(): a later grad could name the value as a target: it holds
  // floats, and a user's name holds it. reachable(): it is such, or a way leads
  // from it to such.
  bool is_target(ValueId id) const {
    return is_differentiable(id) && is_held_by_user(id);
  }
  bool reachable(ValueId id) const {
    return is_target(id) || (is_differentiable(id) && producer(id) != kNil);
  }

 protected:
  // A use: an operand of a line, by the cell that has it and which of the
  // cell's two it is. The uses of a value are a linked list, the newest first.
  using UseId = uint32_t;

  // Millions are kept, so a line of one result and at most two operands is one
  // cell; each further result and each pair of operands takes one more. To read
  // what the fields mean, read the kinds first.
  struct Cell {
    enum Kind : uint64_t {
      kFree,
      kLeaf,    // a value without a node
      kLine,    // a node and its first result
      kWide,    // the same, with its operands in cells of kMore
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
    // If `name` held the value once and was bound again soon: how many lines
    // after the value's own that was. 0: it was not, or Facts::gone tells.
    uint64_t gone : 5;
    uint64_t line_high : 6;
    uint32_t line_low;
    // Of a line its FormId, of a leaf its TypeId, of kMore its line's cell.
    uint32_t form;
    SymbolId name;  // that holds or held it; of kMore: the next kMore
    UseId uses;     // the newest; of kMore: the index of its first operand
    // Of kLine its operands, kNil for none. Of a leaf: the number of its file.
    // Of kResult: its line's cell, and its index among the results. Of kWide:
    // the first kMore. Of kMore: values, the operands first, the further
    // results behind them.
    ValueId operands[2];
    // Of each operand the next older use of the same value. Of kWide: how many
    // operands can reach a target, and how many stand in lists of uses.
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
  // Whether is(use) is true of some use of the value by a node that is there,
  // from the newest on.
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
  // From here on Facts::reads counts the nodes that read the data as they come
  // and go.
  void count_reads(ValueId id);
  // A gradient line of the node that made it reads it.
  bool reads_itself(ValueId id) const;

  ValueId add_leaf(TypeId type, bool differentiable, Origin origin);
  // Makes a node of that form with its results. `live`: how many of the
  // operands lead to a target.
  void new_line(FormId form, std::span<const ValueId> operands, uint32_t live,
                Origin origin, std::vector<ValueId>& results);
  Node::Values results_of(NodeId id) const;
  // One operand of the node fewer leads to a target. True: it was the last.
  bool drop_input(NodeId id);

  // The node goes. Its results stay as leaves until retire().
  void end(NodeId id);
  // The value goes, and its cell with it, unless that is a node's which is
  // there or stands in lists of uses.
  void retire(ValueId id);
  // Takes uses by nodes that are gone from the front of the value's list. Those
  // behind a use that is there stay, so that no list must be searched, until
  // there are many: then sweep_if_many() goes through all lists.
  void clean(ValueId id);
  void sweep_if_many();

  // By id. Of a cell the tape itself changes `held`, `name`, `gone` and
  // `fresh`.
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
  // How many nodes are gone with their first result, but stand in lists of
  // uses.
  size_t zombies_ = 0;
  uint64_t next_serial_ = 1;
};

}  // namespace gt::grad
