// Targets that a loss does not reach, though it may have been computed of them.
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

  // Why a history that may have led to a target is not there any more.
  Error explain(const grad::LostTarget& lost) const;
  // A target that the program does not reach is an error, and no zeros, where
  // the loss was computed from what the name held before.
  Status check(const grad::GradientProgram& program) const;

 private:
  // Values behind the loss that names held until they were bound again: those
  // whose history went with the name, and the others by that name without its
  // ranks.
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
