#include "emit/memos.h"

#include <algorithm>
#include <utility>

#include "stream/ranks.h"

namespace gt::emit {

// Looks up the pattern's names. False if the memo does not hold for them.
bool Memos::holds(const Memo& memo, const Pattern& pattern, Origin origin,
                  std::vector<ValueId>& operands) const {
  if (memo.emitted != ledger_.emitted || memo.file != origin.file()) {
    return false;
  }
  const std::vector<Pattern::Name>& names = pattern.names();
  if (pattern.is_placed()) {
    if (memo.type_rounds != ledger_.types.rounds() ||
        memo.mesh_version != ledger_.meshes.version()) {
      return false;
    }
    for (const Pattern::Name& name : names) {
      if (ledger_.meshes.space_of(name.base) != memo.space) return false;
    }
  }
  size_t next = pattern.results();
  operands.clear();
  for (const bool is_name : memo.is_name) {
    operands.push_back(kNil);
    if (!is_name) continue;
    const SymbolId id = ledger_.symbols.find(names[next].text);
    if (id == kNoSymbol || ledger_.symbols[id].value == kNil) return false;
    const ValueId value = ledger_.symbols[id].value;
    const TypeId type = memo.operand_types[next++ - pattern.results()];
    if (ledger_.tape.type(value) != type) return false;
    operands.back() = value;
  }
  for (size_t i = 1; i < pattern.results(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (names[i].base == names[j].base) return false;
    }
  }
  return true;
}

bool Memos::define(const Pattern& pattern, Origin origin, std::string& before) {
  const Memo* known =
      memos_.find(pattern.key_hash(), pattern.key(), [&](const Memo& entry) {
        return holds(entry, pattern, origin, operands_);
      });
  if (known == nullptr) return false;
  const Memo& memo = *known;
  Usage& usage = ledger_.usage;
  if (usage.counts) {
    const uint64_t all =
        bytes_in_all(usage.bytes + memo.bytes, usage.names + pattern.results(),
                     ledger_.tape.node_count() + 1);
    if (all > usage.quota.bytes ||
        usage.names + pattern.results() > usage.quota.names) {
      return false;  // may be too much; checked in full
    }
    usage.cost += memo.cost;
  }
  if (memo.form.id() != kNil) {
    ledger_.tape.record(memo.form.id(), operands_, origin, results_);
  } else {
    results_.clear();
    for (size_t r = 0; r < pattern.results(); ++r) {
      results_.push_back(ledger_.tape.add_leaf(
          memo.result_types[r], memo.differentiable[r] != 0, origin));
    }
  }
  for (size_t r = 0; r < pattern.results(); ++r) {
    ledger_.bind(pattern.names()[r].base, memo.ranks[r], results_[r], false,
                 origin, before);
  }
  return true;
}

void Memos::note(const Pattern& pattern, const LineState& state) {
  const uint64_t hash = pattern.key_hash();
  if (!memos_.wants(hash, pattern.key())) return;
  auto made = std::make_unique<Memo>();
  Memo& memo = *made;
  memo.text = pattern.key();
  memo.emitted = ledger_.emitted;
  memo.file = state.origin.file();
  memo.type_rounds = ledger_.types.rounds();
  memo.mesh_version = ledger_.meshes.version();
  memo.space = ledger_.meshes.space_of(pattern.names()[0].base);
  for (size_t i = 0; i < state.values.size(); ++i) {
    memo.is_name.push_back(state.values[i] != kNil);
    if (memo.is_name.back()) memo.operand_types.push_back(state.type_ids[i]);
  }
  memo.result_types = state.result_types;
  for (size_t r = 0; r < state.line.results.size(); ++r) {
    const Type& type = ledger_.types[state.result_types[r]];
    memo.differentiable.push_back(is_float(type.dtype) ? 1 : 0);
    memo.ranks.push_back(state.line.results[r].ranks.empty()
                             ? Ranks{}
                             : ascending(state.where.ranks));
  }
  memo.form = state.form.share();
  memo.cost = state.cost;
  memo.bytes = state.bytes;
  // A line that the quota might not have had room for has its memo already.
  const auto is_same = [&memo](const Memo& old) {
    return old.emitted == memo.emitted && old.file == memo.file &&
           old.space == memo.space && old.is_name == memo.is_name &&
           old.operand_types == memo.operand_types;
  };
  // Placed lines are not answered from memos of earlier meshes or type numbers.
  const auto is_past = [&](const Memo& old) {
    return pattern.is_placed() && (old.type_rounds != memo.type_rounds ||
                                   old.mesh_version != memo.mesh_version);
  };
  memos_.insert(hash, std::move(made),
                [&](const Memo& old) { return is_same(old) || is_past(old); });
}

}  // namespace gt::emit
