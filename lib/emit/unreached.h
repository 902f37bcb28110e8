// Targets of a grad that the history behind the loss does not reach, although
// the user may think that it does: since that history was consumed by another
// grad, or forgotten, or since the target's name was bound again and the loss
// depends on what it held before, which the grad does not say is meant
// (reused=). Such a target is an error; one that the loss has nothing to do
// with gets zeros and a warning (gradient_writer.h).
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "emit/gradient.h"

namespace gt::emit {

class Unreached {
 public:
  Unreached(const Ledger& ledger, const Messages& messages,
            const LineState& state, const GradientTargets& targets)
      : ledger_(ledger),
        messages_(messages),
        state_(state),
        targets_(targets) {}

  // The error of a target behind a history that was consumed or forgotten.
  Error explain(const grad::LostTarget& lost) const;
  // Error: a target that the program does not reach, but the loss was computed
  // from what the target's name held before it was bound again.
  Status check(const grad::GradientProgram& program) const;

 private:
  // Values behind the loss that a name held until it was bound again. `ends`:
  // those whose own history ended by that. `by_name`: the others, by that name
  // without its ranks.
  struct Rebound {
    std::vector<ValueId> ends;
    std::unordered_map<std::string_view, std::vector<ValueId>> by_name;
  };
  Rebound rebound() const;
  Status check(size_t target, const Rebound& behind) const;
  bool is_of(const grad::Lost& lost, size_t target) const;
  Error explain(const grad::Lost& rebound, uint64_t bound,
                uint32_t column) const;

  const Ledger& ledger_;
  const Messages& messages_;
  const LineState& state_;
  const GradientTargets& targets_;
};

}  // namespace gt::emit
