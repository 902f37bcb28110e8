// What the tape is told of lines, and how long it may grow.
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
    bool shows;    // the lines stand on the tape as people read them
  };
  Recorder(Ledger& ledger, Messages& messages, Options options)
      : ledger_(ledger), messages_(messages), options_(options) {}

  // Results that the line leaves out and that a gradient by its operands reads
  // get names of ours. True: there are such.
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
  // Makes values of its results: with a history, whose form is returned, unless
  // they are leaves.
  grad::HeldForm record(const Instruction& instruction,
                        std::vector<ValueId>& results) const;

  // Forgets the oldest lines beyond the limit, and warns the first time.
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
