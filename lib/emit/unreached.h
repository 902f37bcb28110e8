// Finds targets of a grad that the history behind the loss does not reach,
// although the user may think that it does. Either that history was consumed by
// another grad, or forgotten; or the target's name was bound again, the loss
// depends on what it held before, and the grad does not say (reused=) that this
// is meant. Such a target is an error; a target that is unrelated to the loss
// gets zeros and a warning (gradient_writer.h).
#pragma once

#include <optional>
#include <string>
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
  // A name that a value behind the loss had, on its ranks; and the line until
  // which it had the name, if that is known.
  struct Former {
    SymbolId name = kNil;
    std::optional<Origin> until;
  };
  struct FormerNames {
    std::unordered_map<std::string_view, std::vector<Former>> by_name;
    // The newest line that computed something from values with names that are
    // not known, if there is one.
    std::optional<Origin> unknown;
  };
  // What a target holds now: its newest part.
  struct Bound {
    uint64_t serial = 0;
    Origin at;
  };
  FormerNames former_names() const;
  Status check(size_t target, const FormerNames& former) const;
  bool is_of(std::string_view name, size_t target) const;
  Bound bound(size_t target) const;
  Error explain(size_t target, const Former& former) const;
  Error explain_unknown(size_t target, Origin computed) const;
  std::string loss_at() const;
  bool is_since_loss(size_t target) const {
    return bound(target).serial > ledger_.tape.serial(targets_.loss);
  }

  const Ledger& ledger_;
  const Messages& messages_;
  const LineState& state_;
  const GradientTargets& targets_;
};

}  // namespace gt::emit
