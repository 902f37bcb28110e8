// grad: the history behind a loss, and the lines that are its gradient.
#pragma once

#include <string>
#include <vector>

#include "emit/ledger.h"
#include "emit/line_state.h"
#include "emit/line_writer.h"
#include "emit/messages.h"
#include "emit/operands.h"
#include "emit/recorder.h"
#include "grad/reverse.h"

namespace gt::emit {

// What a grad works with.
struct GradientParts {
  Ledger& ledger;
  Messages& messages;
  const LineWriter& writer;
  const Operands& operands;
  const Recorder& recorder;
};

// What a grad line asks for.
struct GradientTargets {
  ValueId loss = kNil;
  std::vector<grad::GradientTarget> values;
  bool retain = false;  // the history is kept, and the gradient has one
};

class Gradient {
 public:
  explicit Gradient(GradientParts parts) : parts_(parts) {}

  // Whether the line is a grad in form; sets where its names live. The loss and
  // the targets may live on different ranks.
  Status check_form(LineState& state) const;
  // Writes the gradient of a line whose operands were looked up. Error: it has
  // none, and why. What stands behind the loss goes to `tape` for people,
  // unless that is null.
  Status write(LineState& state, std::string* tape, std::string& out) const;

 private:
  Status find_targets(LineState& state, GradientTargets& targets) const;
  Status check_target(const LineState& state, size_t operand,
                      const grad::GradientTarget& target) const;
  Status check(const LineState& state, const GradientTargets& targets,
               const grad::GradientProgram& program,
               const grad::LostTarget& lost) const;
  Status check_held(const LineState& state,
                    const grad::GradientProgram& program) const;

  GradientParts parts_;
};

}  // namespace gt::emit
