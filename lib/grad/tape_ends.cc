// How nodes and values of the tape go, and what goes with them.
#include <algorithm>
#include <utility>

#include "base/message.h"
#include "grad/tape.h"

namespace gt {

// ---- the end of nodes -------------------------------------------------------

void Tape::consume(std::span<const NodeId> nodes, const Lost& why) {
  const Shared<HiddenTable> table = find_hidden(*this, nodes);
  for (size_t i = 0; table && i < nodes.size(); ++i) {
    for (const ValueId r : results_of(nodes[i])) {
      if (r != kNil) facts(r).hidden = {table, static_cast<uint32_t>(i)};
    }
  }
  for (const NodeId node : nodes) remove(node, &why);
  settle();
}

void Tape::forget(NodeId node, const Lost& why) {
  remove(node, &why);
  settle();
}

void Tape::remove(NodeId id, const Lost* why) {
  if (!cells_[id].is_line() || cells_[id].ended != 0) return;
  const Node n = node(id);
  // What was consumed or forgotten may have led to a target; what ended with
  // its names did not.
  if (why != nullptr && why->kind == Lost::Kind::kRebound) {
    for (const ValueId v : n.operands) {
      if (v != kNil && lost(v).hides_targets()) why = &lost(v);
    }
  }
  const bool hides = why != nullptr && why->hides_targets();
  const Lost cause = why == nullptr ? Lost{} : *why;
  const Hidden behind = hides ? merge_hidden(*this, n.operands) : Hidden{};
  cells_[id].ended = 1;
  --node_count_;
  for (size_t r = 0; r < n.results.size(); ++r) {
    const ValueId v = n.results[r];
    if (v == kNil) continue;
    if (r > 0) {  // a leaf from here on
      const Origin at = origin(v);
      cells_[v].kind = Cell::kLeaf;
      cells_[v].form = n.form->types[r];
      cells_[v].operands[0] = at.file();
      cells_[v].operands[1] = kNil;
    }
    if (why != nullptr && lost(v).kind == Lost::Kind::kNot) {
      facts(v).lost = cause;
      if (hides && !hidden(v).table) facts(v).hidden = behind;
    }
    if (is_differentiable(v) && !is_held_by_user(v)) {
      unreached_.push_back({v, cause});
    }
    maybe_dead_.push_back(v);
  }
  for (const ValueId v : n.operands) {
    if (v != kNil) maybe_dead_.push_back(v);
  }
  for (const ValueId v : n.needed) {
    if (v == kNil || cells_[v].has_facts == 0) continue;
    Facts& known = facts(v);
    if (known.counted && --known.reads == 0) maybe_dead_.push_back(v);
  }
  if (cells_[id].dead != 0) retire(id);
  for (const ValueId v : n.operands) {
    if (v != kNil) clean(v);
  }
}

// Takes the use that `link` names out of its list.
void Tape::unlink(UseId& link) {
  const UseId at = link;
  link = next(at);
  cells_[at >> 1].operands[at & 1] = kNil;
  const NodeId node = node_of(at);
  if (cells_[node].kind == Cell::kWide) --cells_[node].next[1];
  if (cells_[node].dead == 0 || is_linked(node)) return;
  --zombies_;
  free_line(node);
}

// Nodes that are gone leave the list once they are the newest in it; what they
// leave elsewhere goes by sweep(), so that no list must be searched.
void Tape::clean(ValueId id) {
  if (id == walked_) return;
  while (cells_[id].uses != kNil && has_ended(cells_[id].uses)) {
    UseId rest = cells_[id].uses;
    unlink(rest);
    cells_[id].uses = rest;
  }
}

void Tape::sweep() {
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

// Whether an operand of the node stands in a list of uses.
bool Tape::is_linked(NodeId id) const {
  const Cell& cell = cells_[id];
  if (cell.kind == Cell::kWide) return cell.next[1] != 0;
  return cell.operands[0] != kNil || cell.operands[1] != kNil;
}

// The value is gone; so is its cell, unless its node is there or stands in
// lists of uses.
void Tape::retire(ValueId id) {
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

void Tape::free_line(NodeId id) {
  if (cells_[id].kind == Cell::kWide) {
    for (ValueId more = cells_[id].operands[0]; more != kNil;) {
      free_cell(std::exchange(more, cells_[more].name));
    }
  }
  forms_.drop(cells_[id].form);
  free_cell(id);
}

// ---- what follows from a change ---------------------------------------------

// Histories that reach no target end; values that nobody holds go.
void Tape::settle() {
  while (!unreached_.empty() || !maybe_dead_.empty()) {
    if (!unreached_.empty()) {
      const Unreached u = std::move(unreached_.back());
      unreached_.pop_back();
      lose_inputs(u.value, u.why);
      continue;
    }
    const ValueId id = maybe_dead_.back();
    maybe_dead_.pop_back();
    consider(id);
  }
  constexpr size_t kFewZombies = 64;
  const size_t cells = cells_.size() - free_cells_.size();
  if (zombies_ > kFewZombies && zombies_ > cells / 2) sweep();
}

// The lines that read a value that leads to no target any more.
void Tape::lose_inputs(ValueId value, const Lost& why) {
  walked_ = value;
  for (UseId at = cells_[value].uses; at != kNil; at = next(at)) {
    const NodeId node = node_of(at);
    if (!has_ended(at) && drop_input(node)) remove(node, &why);
  }
  walked_ = kNil;
  clean(value);
}

// True: it was the last.
bool Tape::drop_input(NodeId id) {
  Cell& cell = cells_[id];
  if (cell.kind == Cell::kWide) return --cell.next[0] == 0;
  cell.inputs = (cell.inputs - 1) & 3;
  return cell.inputs == 0;
}

bool Tape::has_wanted_result(NodeId id) const {
  const auto is_wanted = [this](ValueId r) {
    if (r == kNil) return false;
    const Facts* known = find_facts(r);
    return known == nullptr || !known->unwanted;
  };
  const Node::Values results = results_of(id);
  return std::any_of(results.begin(), results.end(), is_wanted);
}

// Nothing follows from a value that no user's name holds and that no node and
// no pending line uses. Its own node may still read it, which must not keep the
// two alive; another result of that node may.
void Tape::consider(ValueId id) {
  if (!is_alive(id) || cells_[id].fresh != 0) return;
  const bool has_facts = cells_[id].has_facts != 0;
  if (has_facts && facts(id).is_ours() && !facts(id).listed && !is_needed(id)) {
    idle_.push_back(id);
    facts(id).listed = true;
  }
  clean(id);
  if (cells_[id].uses != kNil || pending(id) != 0 || is_held_by_user(id)) {
    return;
  }
  if (const NodeId node = producer(id); node != kNil) {
    const bool is_only = form(node).types.size() == 1;
    if (!is_only) facts(id).unwanted = true;
    if (is_only || !has_wanted_result(node)) remove(node, nullptr);
  }
  if (is_internal(id) || reads_itself(id)) return;
  if (const NodeId node = producer(id); node != kNil && node != id) {
    const UseId at =
        slot_at(node, form(node).operands + cells_[id].operands[1] - 1);
    cells_[at >> 1].operands[at & 1] = kNil;
  }
  retire(id);
}

}  // namespace gt
