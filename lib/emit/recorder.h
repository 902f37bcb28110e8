// Puts checked lines on the tape: decides which have a history, which data
// their gradients will read, and when the history is too long.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emit/ledger.h"
#include "emit/line_state.h"
#include "emit/messages.h"
#include "grad/forms.h"
#include "ops/call.h"

namespace gt::emit {

class Recorder {
 public:
  struct Options {
    size_t limit;  // lines of history that are kept
    bool shows;    // keep each line's text, for --tape
  };
  Recorder(Ledger& ledger, Messages& messages, Options options)
      : ledger_(ledger), messages_(messages), options_(options) {}

  // Adds to the line those results that it leaves out and that a gradient with
  // respect to one of its operands would read (the lse of an attention), under
  // internal names. Returns true if there are such results; then the line must
  // be bound again.
  bool add_results(LineState& state) const;

  // A checked line: what its operands hold, and its results' types.
  struct Instruction {
    const Line& line;
    const Call& call;
    std::span<const ValueId> operands;
    std::span<const TypeId> types;
    const Mesh* mesh;
    Origin origin;
  };
  // Makes values of its results. With a history they are a node on the tape,
  // whose form is returned. Otherwise they are leaves, and no form is returned:
  // if the op's row says so, if no result holds floats, or if no operand is a
  // tensor.
  grad::HeldForm record(const Instruction& instruction,
                        std::vector<ValueId>& results) const;

  // Forgets the oldest lines beyond the limit. The first time it prints a
  // warning with the name that holds the history. `origin` is the line that
  // exceeded the limit.
  void limit(Origin origin);
  bool shows() const { return options_.shows; }
  bool has_warned() const { return has_warned_; }

 private:
  bool has_history(const Instruction& instruction) const;
  void find_needed(const Instruction& instruction, grad::Form& form) const;
  void warn_of_limit(NodeId oldest, Origin origin);

  Ledger& ledger_;
  Messages& messages_;
  Options options_;
  bool has_warned_ = false;
};

}  // namespace gt::emit
