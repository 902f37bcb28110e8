// A report is a message for people, mostly about a line that failed.
#pragma once

#include <functional>
#include <string>

#include "base/exit.h"
#include "base/message.h"

namespace gt::exec {

struct Report {
  Place place;  // of the failed line; no file if the report is about no line
  Exit status = Exit::kDone;
  std::string space;  // outer_space() of that line
  std::string text;   // the complete message, with its newline
};

// Takes reports, on the thread of the compute queue. A worker reports a failed
// line once (Executor::report()). Several workers may report the same line,
// each for its own ranks; gt-route shows people the first of equal reports.
using ReportSink = std::function<void(const Report&)>;

}  // namespace gt::exec
