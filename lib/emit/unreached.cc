#include "emit/unreached.h"

#include <algorithm>
#include <optional>

#include "grad/history.h"
#include "stream/ranks.h"

namespace gt::emit {

Error Unreached::explain(const grad::LostTarget& lost) const {
  const SymbolId name = ledger_.tape.name(lost.value);
  const grad::Lost& why = ledger_.tape.lost(lost.value);
  const Operand& target = state_.line.operands[lost.target + 1];
  const std::string what =
      std::string(name == kNil ? "a value" : ledger_.symbols.name_of(name)) +
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
  std::optional<Rebound> behind;
  for (size_t t = 0; t < targets_.values.size(); ++t) {
    if (program.targets[t] != kNil || targets_.reused[t]) continue;
    if (!behind) behind = rebound();
    if (Status s = check(t, *behind); !s.ok()) return s;
  }
  return ok_status();
}

Unreached::Rebound Unreached::rebound() const {
  Rebound rebound;
  const grad::Tape& tape = ledger_.tape;
  walk_back(tape, targets_.loss, [&](ValueId id) {
    const grad::Lost gone = tape.gone(id);
    if (tape.lost(id).kind == grad::Lost::Kind::kRebound &&
        tape.producer(id) == kNil) {
      rebound.ends.push_back(id);
    } else if (gone.kind != grad::Lost::Kind::kNot) {
      rebound.by_name[without_ranks(ledger_.lost_name(gone))].push_back(id);
    }
    return true;
  });
  return rebound;
}

// True if the name that was lost is the target's, on some of its ranks.
bool Unreached::is_of(const grad::Lost& lost, size_t target) const {
  const std::string_view operand = state_.line.operands[target + 1].text;
  const Ranks& ranks = targets_.values[target].ranks;
  const std::string_view name = ledger_.lost_name(lost);
  if (without_ranks(name) != operand) return false;
  if (ranks.empty()) return name == operand;
  const auto had = parse_ranks(name.substr(operand.size() + 1));
  return had.ok() && !common(ranks, had.value()).empty();
}

Status Unreached::check(size_t target, const Rebound& behind) const {
  const Operand& operand = state_.line.operands[target + 1];
  std::vector<ValueId> values = behind.ends;
  if (const auto named = behind.by_name.find(operand.text);
      named != behind.by_name.end()) {
    values.insert(values.end(), named->second.begin(), named->second.end());
  }
  uint64_t bound = 0;  // the serial number of what the target holds now
  for (const grad::ValueOnRanks& part : targets_.values[target].parts) {
    bound = std::max(bound, ledger_.tape.serial(part.value));
  }
  for (const ValueId id : values) {
    const grad::Lost gone = ledger_.tape.gone(id);
    const grad::Lost& lost = ledger_.tape.lost(id);
    const grad::Lost* rebound = nullptr;
    if (gone.kind != grad::Lost::Kind::kNot && is_of(gone, target))
      rebound = &gone;
    // The name that went last stands for all that led here. If it is not the
    // target's name, it counts only if the target was bound after the loss.
    const bool since = is_of(lost, target)
                           ? bound > ledger_.tape.serial(id)
                           : bound > ledger_.tape.serial(targets_.loss);
    if (lost.kind == grad::Lost::Kind::kRebound &&
        ledger_.tape.producer(id) == kNil && since) {
      rebound = &lost;
    }
    if (rebound != nullptr) return explain(*rebound, bound, operand.column);
  }
  return ok_status();
}

// The target's name may have been bound again before the loss was computed,
// after it, or both.
Error Unreached::explain(const grad::Lost& rebound, uint64_t bound,
                         uint32_t column) const {
  const Operand& loss = state_.line.operands[0];
  const std::string name(ledger_.lost_name(rebound));
  const bool since = bound > ledger_.tape.serial(targets_.loss);
  return Error{"grad: " + full_name(loss.text, loss.ranks) + ", computed at " +
                   messages_.place_of(ledger_.tape.origin(targets_.loss)) +
                   ", depends on the value that " + name + " had until " +
                   messages_.place_of(rebound.at) +
                   ", and not on the one that it has now; " +
                   (since ? "take grad before that line, or " : "") +
                   "bind another name there",
               column};
}

}  // namespace gt::emit
