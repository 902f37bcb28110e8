#include "grad/tape.h"

#include <algorithm>
#include <utility>

#include "base/message.h"

namespace gt {

const Op& pieces_op() {
  static const Op op = [] {
    Op pieces;
    pieces.name = "pieces";
    return pieces;
  }();
  return op;
}

// ---- cells ------------------------------------------------------------------

ValueId Tape::new_cell(Cell::Kind kind) {
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

ValueId Tape::new_value(Cell::Kind kind, bool differentiable, Origin origin) {
  const ValueId id = new_cell(kind);
  Cell& cell = cells_[id];
  cell.serial = next_serial_++ & kMostSerial;
  cell.differentiable = differentiable ? 1 : 0;
  cell.fresh = 1;
  cell.set_line(origin.line());
  return id;
}

void Tape::free_cell(ValueId id) {
  if (cells_[id].has_facts != 0) facts_.erase(id);
  cells_[id] = Cell{};
  cells_[id].uses = kNil;  // settle() may come by once more
  free_cells_.push_back(id);
}

bool Tape::Facts::is_empty() const {
  return alias == kNil && pending == 0 && !counted && !internal && !listed &&
         !unwanted && lost.kind == Lost::Kind::kNot &&
         gone.kind == Lost::Kind::kNot && !hidden.table;
}

const Tape::Facts* Tape::find_facts(ValueId id) const {
  return cells_[id].has_facts == 0 ? nullptr : &facts_.at(id);
}

Tape::Facts& Tape::facts(ValueId id) {
  cells_[id].has_facts = 1;
  return facts_[id];
}

void Tape::trim_facts(ValueId id) {
  const Facts* known = find_facts(id);
  if (known == nullptr || !known->is_empty()) return;
  facts_.erase(id);
  cells_[id].has_facts = 0;
}

// ---- what is known of a value -----------------------------------------------

TypeId Tape::type(ValueId id) const {
  const Cell& cell = cells_[id];
  if (cell.kind == Cell::kLeaf) return cell.form;
  if (cell.is_line()) return forms_[cell.form].types[0];
  return forms_[cells_[cell.operands[0]].form].types[cell.operands[1]];
}

SymbolId Tape::name(ValueId id) const {
  return cells_[id].held != 0 ? cells_[id].name : kNil;
}

SymbolId Tape::alias(ValueId id) const {
  const Facts* known = find_facts(id);
  return known == nullptr ? kNil : known->alias;
}

bool Tape::is_internal(ValueId id) const {
  const Facts* known = find_facts(id);
  return known != nullptr && known->internal;
}

NodeId Tape::producer(ValueId id) const {
  const Cell& cell = cells_[id];
  if (cell.is_line()) return cell.ended == 0 ? id : kNil;
  return cell.kind == Cell::kResult ? cell.operands[0] : kNil;
}

Origin Tape::origin(ValueId id) const {
  const Cell& cell = cells_[id];
  const uint32_t file = cell.kind == Cell::kLeaf ? cell.operands[0]
                        : cell.is_line()
                            ? forms_[cell.form].file
                            : forms_[cells_[cell.operands[0]].form].file;
  return {file, cell.line()};
}

const Lost& Tape::lost(ValueId id) const {
  static const Lost kNotLost;
  const Facts* known = find_facts(id);
  return known == nullptr ? kNotLost : known->lost;
}

Lost Tape::gone(ValueId id) const {
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

const Hidden& Tape::hidden(ValueId id) const {
  static const Hidden kNone;
  const Facts* known = find_facts(id);
  return known == nullptr ? kNone : known->hidden;
}

uint32_t Tape::pending(ValueId id) const {
  const Facts* known = find_facts(id);
  return known == nullptr ? 0 : known->pending;
}

void Tape::move_places(ValueId id, Origin origin, Origin lost, Origin gone) {
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

bool Tape::reads_data(UseId at) const {
  const auto& needed = forms_[cells_[node_of(at)].form].needed_operands;
  return std::find(needed.begin(), needed.end(), index_of(at)) != needed.end();
}

// A gradient line of the node that made it reads it.
bool Tape::reads_itself(ValueId id) const {
  const NodeId node = producer(id);
  if (node == kNil) return false;
  const uint32_t index = node == id ? 0 : cells_[id].operands[1];
  const auto& needed = form(node).needed_results;
  return std::find(needed.begin(), needed.end(), index) != needed.end();
}

uint32_t Tape::reads(ValueId id) const {
  uint32_t count = reads_itself(id) ? 1 : 0;
  any_use(id, [&](UseId at) {
    if (reads_data(at)) ++count;
    return false;
  });
  return count;
}

bool Tape::is_needed(ValueId id) const {
  if (const Facts* known = find_facts(id); known != nullptr) {
    if (known->pending != 0) return true;
    if (known->counted) return known->reads != 0;
  }
  return reads_itself(id) ||
         any_use(id, [this](UseId at) { return reads_data(at); });
}

std::vector<NodeId> Tape::users(ValueId id) const {
  std::vector<NodeId> nodes;
  any_use(id, [&](UseId at) {
    nodes.push_back(node_of(at));
    return false;
  });
  return nodes;
}

// From here on they are counted as they come and go.
void Tape::count_reads(ValueId id) {
  Facts& known = facts(id);
  if (known.counted) return;
  known.counted = true;
  known.reads = reads(id);
}

// ---- lines ------------------------------------------------------------------

ValueId Tape::add_leaf(TypeId type, bool differentiable, Origin origin) {
  const ValueId id = new_value(Cell::kLeaf, differentiable, origin);
  cells_[id].form = type;
  cells_[id].operands[0] = origin.file();
  return id;
}

void Tape::record(FormId id, std::span<const ValueId> operands, Origin origin,
                  std::vector<ValueId>& results) {
  const Form& form = forms_[id];
  GT_CHECK(form.operands == operands.size() && form.file == origin.file());
  uint32_t live = 0;
  const Lost* why = nullptr;
  for (const ValueId v : operands) {
    if (v == kNil) continue;
    if (reachable(v)) ++live;
    const Lost& known = lost(v);
    if (known.kind == Lost::Kind::kNot) continue;
    if (why == nullptr || known.hides_targets()) why = &known;
  }
  results.clear();
  if (live == 0) {
    const Lost inherited = why == nullptr ? Lost{} : *why;
    const Hidden behind =
        inherited.hides_targets() ? merge_hidden(*this, operands) : Hidden{};
    for (size_t r = 0; r < form.types.size(); ++r) {
      results.push_back(
          add_leaf(form.types[r], form.differentiable[r] != 0, origin));
      if (inherited.kind == Lost::Kind::kNot) continue;
      facts(results[r]).lost = inherited;
      facts(results[r]).hidden = behind;
    }
    return;
  }
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

ValueId Tape::join(Form form, TypeId type, std::span<const ValueId> pieces,
                   Origin origin) {
  form.op = &pieces_op();
  form.file = origin.file();
  form.operands = static_cast<uint32_t>(pieces.size());
  form.types.push_back(type);
  form.differentiable.push_back(1);
  const FormId id = forms_.obtain(std::move(form));
  std::vector<ValueId> results;
  record(id, pieces, origin, results);
  forms_.drop(id);
  return results[0];
}

// The operands and the further results of a wide line.
void Tape::add_slots(NodeId id, std::span<const ValueId> slots,
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

Tape::UseId Tape::slot_at(NodeId id, size_t index) const {
  ValueId cell = cells_[id].operands[0];
  for (size_t i = 0; i + 2 <= index; i += 2) cell = cells_[cell].name;
  return use(cell, index % 2);
}

Node::Values Tape::results_of(NodeId id) const {
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

Node Tape::node(NodeId id) const {
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

std::vector<NodeId> Tape::nodes_by_age() const {
  // The serial numbers stand beside the nodes: cells lie all over memory.
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

NodeId Tape::oldest() {
  if (node_count_ == 0) return kNil;
  for (;; ++next_aged_) {
    if (next_aged_ == aged_.size()) {
      aged_ = nodes_by_age();
      next_aged_ = 0;
      aged_at_ = next_serial_;
    }
    // A cell that was used again since has a serial number of its own.
    const Cell& cell = cells_[aged_[next_aged_]];
    if (cell.is_line() && cell.ended == 0 && cell.serial < aged_at_) {
      return aged_[next_aged_];
    }
  }
}

// ---- names ------------------------------------------------------------------

void Tape::hold(ValueId value, SymbolId name, bool internal) {
  GT_CHECK(is_alive(value) && cells_[value].held == 0);
  if (cells_[value].gone != 0) {
    facts(value).gone = gone(value);
    cells_[value].gone = 0;
  }
  Cell& cell = cells_[value];
  cell.fresh = 0;
  cell.held = 1;
  cell.name = name;
  if (!internal) return;
  count_reads(value);
  facts(value).internal = true;
}

void Tape::note_gone(ValueId value, const Lost& gone) {
  Cell& cell = cells_[value];
  if (cell.has_facts != 0) facts(value).gone = Lost{};
  const uint64_t lines = gone.at.line() - cell.line();
  const bool is_near =
      lines > 0 && lines < 32 && origin(value).file() == gone.at.file();
  if (is_near && gone.name == cell.name && gone.serial == cell.serial) {
    cell.gone = lines & 31;
  } else {
    cell.gone = 0;
    facts(value).gone = gone;
  }
}

void Tape::let_go(ValueId value, const Lost& why) {
  const bool was = reachable(value);
  Cell& cell = cells_[value];
  if (const SymbolId ours = alias(value); ours != kNil) {
    if (cell.gone != 0) {
      facts(value).gone = gone(value);
      cell.gone = 0;
    }
    cell.name = ours;
    facts(value).alias = kNil;
    facts(value).internal = true;
  } else {
    cell.held = 0;
    if (cell.gone == 0) cell.name = kNil;
    if (cell.has_facts != 0) {
      facts(value).internal = facts(value).counted = false;
      trim_facts(value);
    }
  }
  if (was && !reachable(value)) unreached_.push_back({value, why});
  maybe_dead_.push_back(value);
  settle();
}

void Tape::hold_alias(ValueId value, SymbolId name) {
  count_reads(value);
  facts(value).alias = name;
}

void Tape::drop_alias(ValueId value) {
  Facts& known = facts(value);
  known.alias = kNil;
  if (!known.internal) known.counted = false;
  trim_facts(value);
}

void Tape::make_users(ValueId value) {
  Facts& known = facts(value);
  known.internal = false;
  if (known.alias == kNil) known.counted = false;
  trim_facts(value);
}

void Tape::let_be(ValueId value) {
  cells_[value].fresh = 0;
  maybe_dead_.push_back(value);
  settle();
}

void Tape::drop_read(ValueId value) {
  Facts& known = facts(value);
  GT_CHECK(known.pending > 0);
  if (--known.pending != 0) return;
  trim_facts(value);
  maybe_dead_.push_back(value);
  settle();
}

std::vector<ValueId> Tape::take_idle() {
  std::vector<ValueId> idle = std::move(idle_);
  idle_.clear();
  for (const ValueId id : idle) {
    if (cells_[id].has_facts == 0) continue;
    facts(id).listed = false;
    trim_facts(id);
  }
  return idle;
}

}  // namespace gt
