#include "emit/unreached.h"

#include <unordered_set>
#include <utility>

#include "grad/history.h"
#include "stream/ranks.h"

namespace gt::emit {

Error Unreached::explain(const grad::LostTarget& lost) const {
  const SymbolId name = ledger_.tape.name(lost.value);
  const grad::Lost& why = ledger_.tape.lost(lost.value);
  const Operand& target = state_.line.operands[lost.target + 1];
  const std::string what =
      std::string(name == kNil || ledger_.tape.is_internal(lost.value)
                      ? "a value"
                      : ledger_.symbols.name_of(name)) +
      ", computed at " + messages_.place_of(ledger_.tape.origin(lost.value)) +
      ",";
  const std::string at = messages_.place_of(why.at);
  return Error{
      "grad: cannot reach " + std::string(target.text) + ": the history of " +
          what +
          (why.kind == grad::Lost::Kind::kConsumed
               ? " was consumed by the grad at " + at +
                     "; write retain=1 there, or detach it"
               : " was forgotten at " + at +
                     ", being longer than --history lines; detach it or raise "
                     "the limit"),
      target.column};
}

Status Unreached::check(const grad::GradientProgram& program) const {
  std::optional<FormerNames> former;
  for (size_t t = 0; t < targets_.values.size(); ++t) {
    if (program.targets[t] != kNil || targets_.reused[t]) continue;
    if (!former) former = former_names();
    if (Status s = check(t, *former); !s.ok()) return s;
  }
  return ok_status();
}

namespace {

// The names of values behind a loss, by symbol.
class Collector {
 public:
  explicit Collector(const Ledger& ledger) : ledger_(ledger) {}

  void add(ValueId id) {
    const grad::Tape& tape = ledger_.tape;
    for (const grad::Lost& lost : {tape.gone(id), tape.lost(id)}) {
      if (lost.kind == grad::Lost::Kind::kRebound) add(lost);
    }
    const grad::NameSets::Ref& former = tape.former_names(id);
    const grad::ConsumedTargets& consumed = tape.consumed_targets(id);
    grad::NameSet names;
    if (former && seen_.insert(&*former).second) names.add(**former);
    if (consumed.table) consumed.add_names(names);
    for (const grad::NamedSince& name : names.names) {
      if (ledger_.is_known(name)) {
        until_.try_emplace(name.name);
      } else {
        names.is_unknown = true;
      }
    }
    if (names.is_unknown) keep_later(tape.origin(id), unknown_);
  }

  const std::unordered_map<SymbolId, std::optional<Origin>>& until() const {
    return until_;
  }
  const std::optional<Origin>& unknown() const { return unknown_; }

 private:
  void add(const grad::Lost& lost) {
    if (lost.name == kNil || !ledger_.stands(lost)) return;
    keep_later(lost.at, until_[lost.name]);
  }
  static void keep_later(Origin at, std::optional<Origin>& latest) {
    const auto order = [](Origin o) { return std::pair(o.file(), o.line()); };
    if (!latest || order(*latest) < order(at)) latest = at;
  }

  const Ledger& ledger_;
  std::unordered_map<SymbolId, std::optional<Origin>> until_;
  std::optional<Origin> unknown_;
  std::unordered_set<const void*> seen_;
};

}  // namespace

// The gradient does not go through values that hold no floats, and so their
// names do not matter.
Unreached::FormerNames Unreached::former_names() const {
  Collector found(ledger_);
  walk_back(ledger_.tape, targets_.loss, [&](ValueId id) {
    if (!ledger_.tape.is_differentiable(id)) return false;
    found.add(id);
    return true;
  });
  FormerNames former;
  former.unknown = found.unknown();
  for (const auto& [name, until] : found.until()) {
    former.by_name[without_ranks(ledger_.symbols.name_of(name))].push_back(
        {name, until});
  }
  return former;
}

// True if the name is the target's, on some of its ranks.
bool Unreached::is_of(std::string_view name, size_t target) const {
  const std::string_view operand = state_.line.operands[target + 1].text;
  const Ranks& ranks = targets_.values[target].ranks;
  if (without_ranks(name) != operand) return false;
  if (ranks.empty()) return name == operand;
  if (name == operand) return false;
  const auto had = parse_ranks(name.substr(operand.size() + 1));
  return had.ok() && !common(ranks, had.value()).empty();
}

Unreached::Bound Unreached::bound(size_t target) const {
  Bound bound;
  for (const grad::ValueOnRanks& part : targets_.values[target].parts) {
    const uint64_t serial = ledger_.tape.serial(part.value);
    if (serial < bound.serial) continue;
    bound = {serial, ledger_.tape.origin(part.value)};
  }
  return bound;
}

Status Unreached::check(size_t target, const FormerNames& former) const {
  const auto named = former.by_name.find(state_.line.operands[target + 1].text);
  if (named != former.by_name.end()) {
    const Former* found = nullptr;
    for (const Former& f : named->second) {
      if (!is_of(ledger_.symbols.name_of(f.name), target)) continue;
      if (found == nullptr || (f.until && !found->until)) found = &f;
    }
    if (found != nullptr) return explain(target, *found);
  }
  // The target's name may be one of those that are not known. If it was bound
  // before the loss, it most likely is not.
  if (former.unknown && is_since_loss(target)) {
    return explain_unknown(target, *former.unknown);
  }
  return ok_status();
}

std::string Unreached::loss_at() const {
  const Operand& loss = state_.line.operands[0];
  return "grad: " + full_name(loss.text, loss.ranks) + ", computed at " +
         messages_.place_of(ledger_.tape.origin(targets_.loss)) + ",";
}

// The target's name may have been bound again before the loss was computed,
// after it, or both.
Error Unreached::explain(size_t target, const Former& former) const {
  const std::string name(ledger_.symbols.name_of(former.name));
  const std::string had =
      former.until ? " depends on the value that " + name + " had until " +
                         messages_.place_of(*former.until)
                   : " depends on a value that " + name + " had before " +
                         messages_.place_of(bound(target).at);
  return Error{
      loss_at() + had + ", and not on the one that it has now; " +
          (is_since_loss(target) ? "take grad before that line, or " : "") +
          "bind another name there",
      state_.line.operands[target + 1].column};
}

Error Unreached::explain_unknown(size_t target, Origin computed) const {
  const Operand& operand = state_.line.operands[target + 1];
  const std::string name = full_name(operand.text, operand.ranks);
  return Error{loss_at() + " depends on what was computed at " +
                   messages_.place_of(computed) +
                   " from the values of too many names to tell whether " +
                   name + ", bound at " + messages_.place_of(bound(target).at) +
                   ", was one before" +
                   "; take grad before that line, or bind another name there",
               operand.column};
}

}  // namespace gt::emit
