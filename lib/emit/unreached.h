// Finds targets of a grad that the history behind the loss does not reach,
// although the user may think that it does. Either that history was consumed by
// another grad, or forgotten; or the target's name was bound again, the loss
// depends on what it held before, and the grad does not say (reused=) that this
// is meant. Such a target is an error; a target that is unrelated to the loss
// gets zeros and a warning (gradient_writer.h).
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

  // Returns the error for a target behind a history that was consumed or
  // forgotten.
  Error explain(const grad::LostTarget& lost) const;
  // Error: the program does not reach a target, but the loss was computed from
  // what the target's name held before it was bound again.
  Status check(const grad::GradientProgram& program) const;

 private:
  // Values behind the loss that a name held until the name was bound again.
  // `ends` are those whose own history ended because of that; `by_name` has the
  // others, by that name without its ranks.
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
