#include "grad/cells.h"

#include <algorithm>
#include <utility>

namespace gt::grad {

// ---- cells ------------------------------------------------------------------

ValueId HistoryCells::new_cell(Cell::Kind kind) {
  ValueId id;
  if (free_cells_.empty()) {
    id = static_cast<ValueId>(cells_.size());
    cells_.grow();
  } else {
    id = free_cells_.back();
    free_cells_.pop_back();
  }
  Cell& cell = cells_[id];
  cell = Cell{};
  cell.kind = kind & 7;
  cell.name = cell.uses = kNil;
  for (const int slot : {0, 1}) cell.operands[slot] = cell.next[slot] = kNil;
  return id;
}

ValueId HistoryCells::new_value(Cell::Kind kind, bool differentiable,
                                Origin origin) {
  const ValueId id = new_cell(kind);
  Cell& cell = cells_[id];
  cell.serial = next_serial_++ & kMostSerial;
  cell.differentiable = differentiable ? 1 : 0;
  cell.fresh = 1;
  cell.set_line(origin.line());
  return id;
}

void HistoryCells::free_cell(ValueId id) {
  if (cells_[id].has_facts != 0) facts_.erase(id);
  cells_[id] = Cell{};
  cells_[id].uses = kNil;  // settle() may still visit the cell
  free_cells_.push_back(id);
}

Facts& HistoryCells::facts(ValueId id) {
  cells_[id].has_facts = 1;
  return facts_[id];
}

void HistoryCells::trim_facts(ValueId id) {
  const Facts* known = find_facts(id);
  if (known == nullptr || !known->is_empty()) return;
  facts_.erase(id);
  cells_[id].has_facts = 0;
}

// ---- what is known of a value -----------------------------------------------

TypeId HistoryCells::type(ValueId id) const {
  const Cell& cell = cells_[id];
  if (cell.kind == Cell::kLeaf) return cell.form;
  if (cell.is_line()) return forms_[cell.form].types[0];
  return forms_[cells_[cell.operands[0]].form].types[cell.operands[1]];
}

SymbolId HistoryCells::name(ValueId id) const {
  return cells_[id].held != 0 ? cells_[id].name : kNil;
}

SymbolId HistoryCells::alias(ValueId id) const {
  const Facts* known = find_facts(id);
  return known == nullptr ? kNil : known->alias;
}

bool HistoryCells::is_internal(ValueId id) const {
  const Facts* known = find_facts(id);
  return known != nullptr && known->internal;
}

NodeId HistoryCells::producer(ValueId id) const {
  const Cell& cell = cells_[id];
  if (cell.is_line()) return cell.ended == 0 ? id : kNil;
  return cell.kind == Cell::kResult ? cell.operands[0] : kNil;
}

Origin HistoryCells::origin(ValueId id) const {
  const Cell& cell = cells_[id];
  const uint32_t file = cell.kind == Cell::kLeaf ? cell.operands[0]
                        : cell.is_line()
                            ? forms_[cell.form].file
                            : forms_[cells_[cell.operands[0]].form].file;
  return {file, cell.line()};
}

const Lost& HistoryCells::lost(ValueId id) const {
  static const Lost kNotLost;
  const Facts* known = find_facts(id);
  return known == nullptr ? kNotLost : known->lost;
}

Lost HistoryCells::gone(ValueId id) const {
  const Cell& cell = cells_[id];
  if (cell.gone == 0) {
    const Facts* known = find_facts(id);
    return known == nullptr ? Lost{} : known->gone;
  }
  Lost gone;
  gone.at = origin(id);
  gone.at.add_lines(cell.gone);
  gone.serial = cell.serial;
  gone.name = cell.name;
  gone.kind = Lost::Kind::kRebound;
  return gone;
}

const ConsumedTargets& HistoryCells::consumed_targets(ValueId id) const {
  static const ConsumedTargets kNone;
  const Facts* known = find_facts(id);
  return known == nullptr ? kNone : known->consumed;
}

const NameSets::Ref& HistoryCells::former_names(ValueId id) const {
  static const NameSets::Ref kNone;
  const Facts* known = find_facts(id);
  return known == nullptr ? kNone : known->former;
}

uint32_t HistoryCells::pending(ValueId id) const {
  const Facts* known = find_facts(id);
  return known == nullptr ? 0 : known->pending;
}

void HistoryCells::move_places(ValueId id, Origin origin, Origin lost,
                               Origin gone) {
  if (cells_[id].gone != 0) {
    const uint64_t lines = gone.line() - origin.line();
    if (lines != cells_[id].gone) {
      facts(id).gone = this->gone(id);
      cells_[id].gone = 0;
    }
  }
  cells_[id].set_line(origin.line());
  if (cells_[id].has_facts == 0) return;
  facts(id).lost.at = lost;
  if (cells_[id].gone == 0) facts(id).gone.at = gone;
}

// ---- reads ------------------------------------------------------------------

bool HistoryCells::reads_data(UseId at) const {
  const auto& needed = forms_[cells_[node_of(at)].form].needed_operands;
  return std::find(needed.begin(), needed.end(), index_of(at)) != needed.end();
}

bool HistoryCells::reads_itself(ValueId id) const {
  const NodeId node = producer(id);
  if (node == kNil) return false;
  const uint32_t index = node == id ? 0 : cells_[id].operands[1];
  const auto& needed = form(node).needed_results;
  return std::find(needed.begin(), needed.end(), index) != needed.end();
}

uint32_t HistoryCells::reads(ValueId id) const {
  uint32_t count = reads_itself(id) ? 1 : 0;
  any_use(id, [&](UseId at) {
    if (reads_data(at)) ++count;
    return false;
  });
  return count;
}

bool HistoryCells::is_needed(ValueId id) const {
  if (const Facts* known = find_facts(id); known != nullptr) {
    if (known->pending != 0) return true;
    if (known->counted) return known->reads != 0;
  }
  return reads_itself(id) ||
         any_use(id, [this](UseId at) { return reads_data(at); });
}

std::vector<NodeId> HistoryCells::users(ValueId id) const {
  std::vector<NodeId> nodes;
  any_use(id, [&](UseId at) {
    nodes.push_back(node_of(at));
    return false;
  });
  return nodes;
}

void HistoryCells::count_reads(ValueId id) {
  Facts& known = facts(id);
  if (known.counted) return;
  known.counted = true;
  known.reads = reads(id);
}

// ---- lines ------------------------------------------------------------------

ValueId HistoryCells::add_leaf(TypeId type, bool differentiable,
                               Origin origin) {
  const ValueId id = new_value(Cell::kLeaf, differentiable, origin);
  cells_[id].form = type;
  cells_[id].operands[0] = origin.file();
  return id;
}

void HistoryCells::new_line(FormId id, std::span<const ValueId> operands,
                            uint32_t live, Origin origin,
                            std::vector<ValueId>& results) {
  const Form& form = forms_[id];
  const bool is_wide = operands.size() > 2 || form.types.size() > 1;
  const NodeId node = new_value(is_wide ? Cell::kWide : Cell::kLine,
                                form.differentiable[0] != 0, origin);
  results.push_back(node);
  cells_[node].form = id;
  forms_.hold(id);
  for (uint32_t r = 1; r < form.types.size(); ++r) {
    results.push_back(
        new_value(Cell::kResult, form.differentiable[r] != 0, origin));
    cells_[results[r]].operands[0] = node;
    cells_[results[r]].operands[1] = r;
  }
  if (is_wide) {
    std::vector<ValueId> slots(operands.begin(), operands.end());
    slots.insert(slots.end(), results.begin() + 1, results.end());
    add_slots(node, slots, operands.size());
    cells_[node].next[0] = live;
  } else {
    std::copy(operands.begin(), operands.end(), cells_[node].operands);
    cells_[node].inputs = live & 3;
  }
  each_slot(node, [&](uint32_t, UseId at) {
    const ValueId v = operand(at);
    cells_[at >> 1].next[at & 1] = std::exchange(cells_[v].uses, at);
    if (cells_[v].has_facts == 0 || !reads_data(at)) return;
    if (Facts& known = facts_.at(v); known.counted) ++known.reads;
  });
  ++node_count_;
}

// Adds the operands and the further results of a wide line.
void HistoryCells::add_slots(NodeId id, std::span<const ValueId> slots,
                             size_t operands) {
  ValueId last = kNil;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (i % 2 == 0) {
      const ValueId more = new_cell(Cell::kMore);
      cells_[more].form = id;
      cells_[more].uses = static_cast<uint32_t>(i);
      (last == kNil ? cells_[id].operands[0] : cells_[last].name) = more;
      last = more;
    }
    cells_[last].operands[i % 2] = slots[i];
  }
  cells_[id].next[1] = static_cast<uint32_t>(
      std::count_if(slots.begin(), slots.begin() + static_cast<long>(operands),
                    [](ValueId v) { return v != kNil; }));
}

HistoryCells::UseId HistoryCells::slot_at(NodeId id, size_t index) const {
  ValueId cell = cells_[id].operands[0];
  for (size_t i = 0; i + 2 <= index; i += 2) cell = cells_[cell].name;
  return use(cell, index % 2);
}

Node::Values HistoryCells::results_of(NodeId id) const {
  const Form& f = form(id);
  Node::Values results;
  results.push_back(cells_[id].dead == 0 ? id : kNil);
  if (f.types.size() == 1) return results;
  UseId at = slot_at(id, f.operands);
  for (size_t i = f.operands;; ++i) {
    results.push_back(operand(at));
    if (results.size() == f.types.size()) return results;
    at = i % 2 == 0 ? use(at >> 1, 1) : use(cells_[at >> 1].name, 0);
  }
}

Node HistoryCells::node(NodeId id) const {
  const Cell& cell = cells_[id];
  Node node;
  node.form = &form(id);
  node.op = node.form->op;
  node.serial = cell.serial;
  node.origin = origin(id);
  node.live_inputs = cell.kind == Cell::kWide ? cell.next[0] : cell.inputs;
  node.operands.resize(node.form->operands);
  std::fill(node.operands.begin(), node.operands.end(), kNil);
  each_slot(id, [&](uint32_t i, UseId at) { node.operands[i] = operand(at); });
  node.results = results_of(id);
  for (const uint32_t i : node.form->needed_operands) {
    if (node.operands[i] != kNil) node.needed.push_back(node.operands[i]);
  }
  for (const uint32_t r : node.form->needed_results) {
    node.needed.push_back(node.results[r]);
  }
  return node;
}

std::vector<NodeId> HistoryCells::nodes_by_age() const {
  // Serial numbers are copied beside the nodes for the sort, since the cells
  // are scattered in memory.
  std::vector<std::pair<uint64_t, NodeId>> by_age;
  by_age.reserve(node_count_);
  for (NodeId id = 0; id < cells_.size(); ++id) {
    const Cell& cell = cells_[id];
    if (cell.is_line() && cell.ended == 0) by_age.emplace_back(cell.serial, id);
  }
  std::sort(by_age.begin(), by_age.end());
  std::vector<NodeId> nodes;
  nodes.reserve(by_age.size());
  for (const auto& [serial, id] : by_age) nodes.push_back(id);
  return nodes;
}

// ---- what goes --------------------------------------------------------------

bool HistoryCells::drop_input(NodeId id) {
  Cell& cell = cells_[id];
  if (cell.kind == Cell::kWide) return --cell.next[0] == 0;
  cell.inputs = (cell.inputs - 1) & 3;
  return cell.inputs == 0;
}

void HistoryCells::end(NodeId id) {
  const Node::Values results = results_of(id);
  const Form& form = forms_[cells_[id].form];
  cells_[id].ended = 1;
  --node_count_;
  for (size_t r = 1; r < results.size(); ++r) {
    const ValueId v = results[r];
    if (v == kNil) continue;
    const Origin at = origin(v);
    cells_[v].kind = Cell::kLeaf;
    cells_[v].form = form.types[r];
    cells_[v].operands[0] = at.file();
    cells_[v].operands[1] = kNil;
  }
}

void HistoryCells::retire(ValueId id) {
  if (const NodeId node = producer(id); node != kNil && node != id) {
    // The node still exists; it no longer gives this result.
    const UseId at =
        slot_at(node, form(node).operands + cells_[id].operands[1] - 1);
    cells_[at >> 1].operands[at & 1] = kNil;
  }
  if (!cells_[id].is_line()) return free_cell(id);
  if (cells_[id].has_facts != 0) {
    facts_.erase(id);
    cells_[id].has_facts = 0;
  }
  cells_[id].dead = 1;
  if (cells_[id].ended == 0) return;
  if (is_linked(id)) {
    ++zombies_;
  } else {
    free_line(id);
  }
}

void HistoryCells::free_line(NodeId id) {
  if (cells_[id].kind == Cell::kWide) {
    for (ValueId more = cells_[id].operands[0]; more != kNil;) {
      free_cell(std::exchange(more, cells_[more].name));
    }
  }
  forms_.drop(cells_[id].form);
  free_cell(id);
}

// Removes the use that `link` refers to from its list.
void HistoryCells::unlink(UseId& link) {
  const UseId at = link;
  link = next(at);
  cells_[at >> 1].operands[at & 1] = kNil;
  const NodeId node = node_of(at);
  if (cells_[node].kind == Cell::kWide) --cells_[node].next[1];
  if (cells_[node].dead == 0 || is_linked(node)) return;
  --zombies_;
  free_line(node);
}

void HistoryCells::clean(ValueId id) {
  while (cells_[id].uses != kNil && has_ended(cells_[id].uses)) {
    UseId rest = cells_[id].uses;
    unlink(rest);
    cells_[id].uses = rest;
  }
}

void HistoryCells::sweep() {
  for (ValueId id = 0; zombies_ > 0 && id < cells_.size(); ++id) {
    if (!is_alive(id)) continue;
    clean(id);
    UseId before = cells_[id].uses;
    while (before != kNil) {
      UseId rest = next(before);
      while (rest != kNil && has_ended(rest)) unlink(rest);
      cells_[before >> 1].next[before & 1] = rest;
      before = rest;
    }
  }
}

// True if an operand of the node is in a list of uses.
bool HistoryCells::is_linked(NodeId id) const {
  const Cell& cell = cells_[id];
  if (cell.kind == Cell::kWide) return cell.next[1] != 0;
  return cell.operands[0] != kNil || cell.operands[1] != kNil;
}

void HistoryCells::sweep_if_many() {
  constexpr size_t kFewZombies = 64;
  const size_t cells = cells_.size() - free_cells_.size();
  if (zombies_ > kFewZombies && zombies_ > cells / 2) sweep();
}

}  // namespace gt::grad
