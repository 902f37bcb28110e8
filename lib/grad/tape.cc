#include "grad/tape.h"

#include <algorithm>
#include <utility>

#include "base/message.h"
#include "grad/former_names.h"

namespace gt::grad {

const Op& pieces_op() {
  static const Op op = [] {
    Op pieces;
    pieces.name = "pieces";
    return pieces;
  }();
  return op;
}

// ---- lines ------------------------------------------------------------------

void Tape::record(FormId id, std::span<const ValueId> operands, Origin origin,
                  std::vector<ValueId>& results) {
  const Form& form = forms()[id];
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
    const ConsumedTargets behind = inherited.hides_targets()
                                       ? merge_consumed_targets(*this, operands)
                                       : ConsumedTargets{};
    const NameSets::Ref names = names_behind(operands);
    for (size_t r = 0; r < form.types.size(); ++r) {
      results.push_back(
          add_leaf(form.types[r], form.differentiable[r] != 0, origin));
      if (names) facts(results[r]).former = names;
      if (inherited.kind == Lost::Kind::kNot) continue;
      facts(results[r]).lost = inherited;
      facts(results[r]).consumed = behind;
    }
    return;
  }
  new_line(id, operands, live, origin, results);
}

ValueId Tape::join(Form form, TypeId type, std::span<const ValueId> pieces,
                   Origin origin) {
  form.op = &pieces_op();
  form.file = origin.file();
  form.operands = static_cast<uint32_t>(pieces.size());
  form.types.push_back(type);
  form.differentiable.push_back(1);
  const FormId id = forms().obtain(std::move(form));
  std::vector<ValueId> results;
  record(id, pieces, origin, results);
  forms().drop(id);
  return results[0];
}

// Returns the names that values behind a line had whose history is gone. Mostly
// these are a set that an operand has already, which is then shared.
NameSets::Ref Tape::names_behind(std::span<const ValueId> operands) {
  NameSets::Ref most;
  const auto each = [&](const auto& use) {
    for (const ValueId v : operands) {
      if (v != kNil && is_differentiable(v)) use(v, former_names(v));
    }
  };
  each([&](ValueId, const NameSets::Ref& former) {
    if (!former || (most && (*most)->is_unknown)) return;
    const bool is_more = !most || (*former)->is_unknown ||
                         (*former)->names.size() > (*most)->names.size();
    if (is_more) most = former;
  });
  if (most && (*most)->is_unknown) return most;
  NameSet& more = names_;
  more.names.clear();
  more.is_unknown = false;
  each([&](ValueId v, const NameSets::Ref& former) {
    add_own_names(*this, v, more);
    consumed_targets(v).add_names(more);
    if (former && !(*most)->includes(**former)) more.add(**former);
  });
  if (most) {
    std::erase_if(more.names,
                  [&](const NamedSince& n) { return (*most)->has(n); });
    if (more.names.empty() && !more.is_unknown) return most;
    more.add(**most);
  }
  return name_sets_.of(more);
}

void Tape::add_former(ValueId value, NameSet names) {
  NameSets::Ref& former = facts(value).former;
  if (former) names.add(**former);
  former = name_sets_.of(std::move(names));
}

NodeId Tape::oldest() {
  if (node_count() == 0) return kNil;
  for (;; ++next_aged_) {
    if (next_aged_ == aged_.size()) {
      aged_ = nodes_by_age();
      next_aged_ = 0;
      aged_at_ = next_serial();
    }
    // A cell that was reused since then has a new serial number.
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
  const Lost before = this->gone(value);
  if (before.kind != Lost::Kind::kNot && before.name != gone.name) {
    NameSet names;
    add_own_names(*this, value, names);
    add_former(value, std::move(names));
  }
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

void Tape::end_fresh(ValueId value) {
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

// ---- the end of nodes -------------------------------------------------------

void Tape::consume(std::span<const NodeId> nodes, const Lost& why) {
  const Shared<ConsumedTable> table = find_consumed_targets(*this, nodes);
  for (size_t i = 0; table && i < nodes.size(); ++i) {
    for (const ValueId r : results_of(nodes[i])) {
      if (r != kNil) facts(r).consumed = {table, static_cast<uint32_t>(i)};
    }
  }
  if (!table) {
    for (const NodeId node : nodes) {
      for (const ValueId r : results_of(node)) {
        if (r != kNil) add_former(r, {{}, true});
      }
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
  // A history that was consumed or forgotten may have led to a target; one that
  // ended with its names did not.
  if (why != nullptr && why->kind == Lost::Kind::kRebound) {
    for (const ValueId v : n.operands) {
      if (v != kNil && lost(v).hides_targets()) why = &lost(v);
    }
  }
  const bool hides = why != nullptr && why->hides_targets();
  const Lost cause = why == nullptr ? Lost{} : *why;
  const ConsumedTargets behind =
      hides ? merge_consumed_targets(*this, n.operands) : ConsumedTargets{};
  // The results of a history that is consumed have names by their table.
  const bool has_names = why == nullptr || why->kind == Lost::Kind::kNot ||
                         std::ranges::any_of(n.results, [this](ValueId v) {
                           return v != kNil && bool(consumed_targets(v).table);
                         });
  const NameSets::Ref names =
      has_names ? NameSets::Ref{} : names_behind(n.operands);
  end(id);
  for (const ValueId v : n.results) {
    if (v == kNil) continue;
    if (names) add_former(v, **names);
    if (why != nullptr && lost(v).kind == Lost::Kind::kNot) {
      facts(v).lost = cause;
      if (hides && !consumed_targets(v).table) facts(v).consumed = behind;
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
    if (v != kNil && v != walked_) clean(v);
  }
}

// ---- what follows from a change ---------------------------------------------

// Ends histories that reach no target, and drops values that nothing holds.
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
  sweep_if_many();
}

// Updates the lines that read a value which no longer leads to a target.
void Tape::lose_inputs(ValueId value, const Lost& why) {
  walked_ = value;
  for (UseId at = cells_[value].uses; at != kNil; at = next(at)) {
    const NodeId node = node_of(at);
    if (!has_ended(at) && drop_input(node)) remove(node, &why);
  }
  walked_ = kNil;
  clean(value);
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

// Drops the value, and its node, if nothing follows from it: no user's name
// holds it, and no node and no pending line uses it. Its own node may still
// read it, but that must not keep the two alive; another result of that node
// may.
void Tape::consider(ValueId id) {
  if (!is_alive(id) || cells_[id].fresh != 0) return;
  const bool has_facts = cells_[id].has_facts != 0;
  if (has_facts && facts(id).is_ours() && !facts(id).listed && !is_needed(id)) {
    idle_.push_back(id);
    facts(id).listed = true;
  }
  if (id != walked_) clean(id);
  if (cells_[id].uses != kNil || pending(id) != 0 || is_held_by_user(id)) {
    return;
  }
  if (const NodeId node = producer(id); node != kNil) {
    const bool is_only = form(node).types.size() == 1;
    if (!is_only) facts(id).unwanted = true;
    if (is_only || !has_wanted_result(node)) remove(node, nullptr);
  }
  if (is_internal(id) || reads_itself(id)) return;
  retire(id);
}

}  // namespace gt::grad
