// Puts lines that were checked on the tape: decides which have a history, which
// data their gradients will read, and when the history is too long.
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

  // Adds to the line those results that it leaves out and a gradient by one of
  // its operands would read (the lse of an attention), under names of ours.
  // True: there are such, and the line must be bound again.
  bool add_results(LineState& state) const;

  // A line that was checked: what its operands hold, and its results' types.
  struct Instruction {
    const Line& line;
    const Call& call;
    std::span<const ValueId> operands;
    std::span<const TypeId> types;
    const Mesh* mesh;
    Origin origin;
  };
  // Makes values of its results. With a history they are a node on the tape,
  // whose form is returned; else they are leaves, and no form is: where the op
  // is a leaf by its row, no result holds floats, or no operand is a tensor.
  grad::HeldForm record(const Instruction& instruction,
                        std::vector<ValueId>& results) const;

  // Forgets the oldest lines beyond the limit; the first time it warns, naming
  // who holds the history. `origin`: the line that went over it.
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
