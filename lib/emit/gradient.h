// The lines `g1 g2 = grad loss w1 w2`. This class checks them and makes the
// gradient from the history behind the loss (grad/reverse.h); gradient_writer.h
// writes it as lines in place of the grad.
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

// The parts of gt-emit that a grad uses.
struct GradientParts {
  Ledger& ledger;
  Messages& messages;
  const LineWriter& writer;
  const Operands& operands;
  const Recorder& recorder;
};

// The loss, targets and keys of a grad line.
struct GradientTargets {
  ValueId loss = kNil;
  std::vector<grad::GradientTarget> values;
  bool retain = false;  // the history is kept, and the gradient has one
  // By target: what its name held before is unrelated to it (reused=).
  std::vector<bool> reused;
};

class Gradient {
 public:
  explicit Gradient(GradientParts parts) : parts_(parts) {}

  // Checks the line's form, and sets the ranks and the mesh of its names in
  // `state`; the loss and the targets may live on different ranks.
  Status check_form(LineState& state) const;
  // Writes the gradient lines of a grad whose operands were looked up, and
  // binds its results. Error: why there is no such gradient; then nothing was
  // written. If `tape` is not null, the history behind the loss is appended to
  // it as text for people (--tape).
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
