// gt-log --rehearsal: what a placed stream was expected to take on a machine,
// beside what a rehearsal of it (gt-work --pace) took.
#pragma once

#include <optional>
#include <string>

#include "log/forecast.h"
#include "log/input.h"
#include "log/traced_steps.h"
#include "spmd/machine.h"

namespace gt::log {

struct RehearsalOptions {
  Machine machine;
  // A step ends where this is printed; "": what the stream prints first.
  std::string step;
};

class Rehearsal {
 public:
  explicit Rehearsal(const RehearsalOptions& options)
      : forecast_(options.machine, options.step) {}

  // Takes the instruction that the input is at: one of the placed stream, or of
  // its log; and then rows of the trace.
  void take(const Input& input);
  // Returns what the report lacks; "" if nothing.
  std::string lack() const;

  // text() is for people: a table of the step, and one of ranks. tsv() has all
  // of it in one table, in nanoseconds.
  std::string text() const;
  std::string tsv() const;

 private:
  Forecast forecast_;
  std::optional<TracedSteps> traced_;  // from the first row on
};

}  // namespace gt::log
