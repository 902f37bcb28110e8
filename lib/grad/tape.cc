#include "grad/tape.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace gt {

const Op& pieces_op() {
  static const Op op = [] {
    Op pieces;
    pieces.name = "pieces";
    return pieces;
  }();
  return op;
}

ValueId Tape::new_value() {
  ValueId id;
  if (free_values_.empty()) {
    id = static_cast<ValueId>(values_.size());
    values_.grow();
  } else {
    id = free_values_.back();
    free_values_.pop_back();
  }
  Value& v = values_[id];
  v.alive = v.fresh = true;
  v.serial = next_serial_++;
  return id;
}

NodeId Tape::new_node() {
  if (free_nodes_.empty()) {
    nodes_.grow();
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  const NodeId id = free_nodes_.back();
  free_nodes_.pop_back();
  return id;
}

void Node::assign(std::span<const ValueId> operands,
                  std::span<const ValueId> results) {
  operand_count_ = static_cast<uint32_t>(operands.size());
  result_count_ = static_cast<uint32_t>(results.size());
  slots_.resize(2 * operand_count_ + result_count_);
  std::copy(operands.begin(), operands.end(), slots_.data());
  std::copy(results.begin(), results.end(), slots_.data() + 2 * operand_count_);
}

void Tape::link(NodeId id) {
  Node& n = nodes_[id];
  n.older = newest_;
  n.newer = kNil;
  (newest_ == kNil ? oldest_ : nodes_[newest_].newer) = id;
  newest_ = id;
  ++node_count_;
}

void Tape::unlink(NodeId id) {
  const Node& n = nodes_[id];
  (n.older == kNil ? oldest_ : nodes_[n.older].newer) = n.newer;
  (n.newer == kNil ? newest_ : nodes_[n.newer].older) = n.older;
  --node_count_;
}

ValueId Tape::add_leaf(TypeId type, bool differentiable, Origin origin) {
  const ValueId id = new_value();
  Value& v = values_[id];
  v.type = type;
  v.differentiable = differentiable;
  v.origin = origin;
  return id;
}

void Tape::record(const Recorded& line, std::vector<ValueId>& results) {
  uint32_t live = 0;
  const Lost* lost = nullptr;
  for (const ValueId v : line.operands) {
    if (v == kNil) continue;
    if (reachable(v)) ++live;
    const Lost& why = values_[v].lost;
    if (why.kind == Lost::Kind::kNot) continue;
    if (lost == nullptr || why.hides_targets()) lost = &why;
  }
  results.clear();
  const Lost inherited = live == 0 && lost != nullptr ? *lost : Lost{};
  const Hidden hidden =
      inherited.hides_targets() ? merge_hidden(line.operands) : Hidden{};
  for (size_t i = 0; i < line.result_types.size(); ++i) {
    const ValueId r = add_leaf(line.result_types[i],
                               line.result_differentiable[i] != 0, line.origin);
    values_[r].lost = inherited;
    values_[r].hidden = hidden;
    results.push_back(r);
  }
  if (live == 0) return;
  const NodeId id = new_node();
  Node& n = nodes_[id];
  n.op = line.op;
  n.text = line.text;
  n.origin = line.origin;
  n.serial = values_[results.front()].serial;
  n.live_inputs = live;
  n.live_results = static_cast<uint32_t>(results.size());
  n.assign(line.operands, results);
  for (const uint32_t i : line.needed_operands) {
    if (line.operands[i] != kNil) n.add_needed(line.operands[i]);
  }
  for (const uint32_t i : line.needed_results) n.add_needed(results[i]);
  for (const ValueId v : n.needed()) ++values_[v].reads;
  for (uint32_t slot = 0; slot < n.operands().size(); ++slot) {
    if (n.operands()[slot] == kNil) continue;
    SmallVector<Use, 2>& uses = values_[n.operands()[slot]].uses;
    n.positions()[slot] = uses.size();
    uses.push_back({id, slot});
  }
  for (const ValueId r : results) values_[r].producer = id;
  link(id);
}

void Tape::hold(ValueId value, SymbolId name, bool internal) {
  Value& v = values_[value];
  GT_CHECK(v.alive && v.name == kNil);
  v.fresh = false;
  v.name = name;
  v.internal = internal;
}

void Tape::let_go(ValueId value, const Lost& why) {
  const bool was = reachable(value);
  Value& v = values_[value];
  v.name = v.alias;
  v.internal = v.alias != kNil;
  v.alias = kNil;
  if (was && !reachable(value)) unreached_.push_back({value, why});
  maybe_dead_.push_back(value);
  settle();
}

void Tape::let_be(ValueId value) {
  values_[value].fresh = false;
  maybe_dead_.push_back(value);
  settle();
}

void Tape::drop_read(ValueId value) {
  GT_CHECK(values_[value].pending > 0);
  if (--values_[value].pending != 0) return;
  maybe_dead_.push_back(value);
  settle();
}

std::vector<ValueId> Tape::take_idle() {
  std::vector<ValueId> idle = std::move(idle_);
  idle_.clear();
  for (const ValueId id : idle) values_[id].listed = false;
  return idle;
}

void Tape::consume(std::span<const NodeId> nodes, const Lost& why) {
  const Shared<HiddenTable> table = find_hidden(nodes);
  for (size_t i = 0; table && i < nodes.size(); ++i) {
    for (const ValueId r : nodes_[nodes[i]].results()) {
      if (r != kNil) values_[r].hidden = {table, static_cast<uint32_t>(i)};
    }
  }
  for (const NodeId node : nodes) remove(node, &why);
  settle();
}

// Row i is of nodes[i]. None when that would be a large table.
Shared<HiddenTable> Tape::find_hidden(std::span<const NodeId> nodes) const {
  constexpr size_t kMaxWords = size_t{1} << 20;
  HiddenTable table;
  std::unordered_map<NodeId, size_t> rows;
  const auto is_target = [](const Value& v) {
    return v.differentiable && v.name != kNil && !v.internal;
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    rows[nodes[i]] = i;
    for (const ValueId id : nodes_[nodes[i]].operands()) {
      if (id == kNil) continue;
      const Value& v = values_[id];
      if (is_target(v)) table.serials.push_back(v.serial);
      if (!v.hidden.table) continue;
      const std::vector<uint64_t>& more = v.hidden.table->serials;
      if (table.serials.size() + more.size() > kMaxWords) return {};
      table.serials.insert(table.serials.end(), more.begin(), more.end());
    }
  }
  std::sort(table.serials.begin(), table.serials.end());
  table.serials.erase(std::unique(table.serials.begin(), table.serials.end()),
                      table.serials.end());
  table.words = table.serials.size() / 64 + 1;
  if (table.words * nodes.size() > kMaxWords) return {};
  table.bits.resize(table.words * nodes.size());
  for (size_t i = nodes.size(); i > 0; --i) {
    const size_t row = i - 1;
    for (const ValueId id : nodes_[nodes[row]].operands()) {
      if (id == kNil) continue;
      const Value& v = values_[id];
      if (is_target(v)) table.set(row, table.bit_of(v.serial));
      if (v.producer != kNil) {
        table.add_row(row, rows.at(v.producer));
      } else if (v.lost.hides_targets() && !v.hidden.table) {
        table.set(row, 0);
      } else if (v.lost.hides_targets()) {
        if (v.hidden.table->at(v.hidden.row, 0)) table.set(row, 0);
        for (const uint64_t serial : v.hidden.table->serials) {
          if (v.hidden.may_be(serial)) table.set(row, table.bit_of(serial));
        }
      }
    }
  }
  return Shared<HiddenTable>(std::move(table));
}

// What stands behind operands of which several have lost their history is not
// known, unless it is one.
Hidden Tape::merge_hidden(std::span<const ValueId> operands) const {
  const Hidden* found = nullptr;
  for (const ValueId id : operands) {
    if (id == kNil || !values_[id].lost.hides_targets()) continue;
    const Hidden& hidden = values_[id].hidden;
    if (!hidden.table) return {};
    if (found != nullptr && !found->is_same(hidden)) return {};
    found = &hidden;
  }
  return found == nullptr ? Hidden{} : *found;
}

void Tape::forget(NodeId node, const Lost& why) {
  remove(node, &why);
  settle();
}

// Takes one use away, filling the gap with the last one.
void Tape::detach_operand(NodeId id, uint32_t slot) {
  const ValueId v = nodes_[id].operands()[slot];
  if (v == kNil) return;
  SmallVector<Use, 2>& uses = values_[v].uses;
  const uint32_t position = nodes_[id].positions()[slot];
  uses[position] = uses.back();
  nodes_[uses[position].node].positions()[uses[position].slot] = position;
  uses.pop_back();
  maybe_dead_.push_back(v);
}

void Tape::remove(NodeId id, const Lost* why) {
  Node& n = nodes_[id];
  if (n.op == nullptr) return;
  n.op = nullptr;
  // What was consumed or forgotten may have led to a target; what ended with
  // its names did not.
  if (why != nullptr && why->kind == Lost::Kind::kRebound) {
    for (const ValueId v : n.operands()) {
      if (v != kNil && values_[v].lost.hides_targets()) why = &values_[v].lost;
    }
  }
  for (const ValueId r : n.results()) {
    if (r == kNil) continue;
    Value& v = values_[r];
    const bool was = reachable(r);
    v.producer = kNil;
    if (why != nullptr && v.lost.kind == Lost::Kind::kNot) {
      v.lost = *why;
      if (why->hides_targets() && !v.hidden.table) {
        v.hidden = merge_hidden(n.operands());
      }
    }
    if (was && !reachable(r)) {
      unreached_.push_back({r, why != nullptr ? *why : Lost{}});
    }
    maybe_dead_.push_back(r);
  }
  for (uint32_t slot = 0; slot < n.operands().size(); ++slot) {
    detach_operand(id, slot);
  }
  for (const ValueId v : n.needed()) {
    if (--values_[v].reads == 0) maybe_dead_.push_back(v);
  }
  n.text.reset();
  unlink(id);
  free_nodes_.push_back(id);
}

// Histories that reach no target end; values that nobody holds go.
void Tape::settle() {
  while (!unreached_.empty() || !maybe_dead_.empty()) {
    if (!unreached_.empty()) {
      const Unreached u = std::move(unreached_.back());
      unreached_.pop_back();
      // remove() edits the list, so it is walked from the back.
      for (size_t i = values_[u.value].uses.size(); i > 0; --i) {
        if (i > values_[u.value].uses.size()) continue;
        const NodeId consumer = values_[u.value].uses[i - 1].node;
        if (--nodes_[consumer].live_inputs == 0) remove(consumer, &u.why);
      }
      continue;
    }
    const ValueId id = maybe_dead_.back();
    maybe_dead_.pop_back();
    consider(id);
  }
}

// Nothing follows from a value that no user's name holds and that no node and
// no pending line uses. Its own node may still read it, which must not keep the
// two alive; another result of that node may.
void Tape::consider(ValueId id) {
  Value& v = values_[id];
  const bool ours = v.alias != kNil || (v.internal && v.name != kNil);
  if (v.alive && !v.fresh && ours && v.reads + v.pending == 0 && !v.listed) {
    idle_.push_back(id);
    v.listed = true;
  }
  if (!v.alive || v.fresh || !v.uses.empty() || v.pending != 0) return;
  if (v.name != kNil && !v.internal) return;
  if (v.producer != kNil && !v.unwanted) {
    v.unwanted = true;
    const NodeId producer = v.producer;
    if (--nodes_[producer].live_results == 0) remove(producer, nullptr);
  }
  if (v.reads != 0 || v.internal) return;
  if (v.producer != kNil) {
    for (ValueId& r : nodes_[v.producer].results()) {
      if (r == id) r = kNil;
    }
  }
  v.producer = kNil;
  v.alias = kNil;
  v.alive = v.unwanted = false;
  v.lost = v.gone = Lost{};
  v.hidden = Hidden{};
  free_values_.push_back(id);
}

}  // namespace gt
