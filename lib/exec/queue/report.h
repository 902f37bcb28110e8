// A report: a message for people about a line that failed, or about none.
#pragma once

#include <functional>
#include <string>

#include "base/exit.h"
#include "base/message.h"

namespace gt::exec {

struct Report {
  Place place;  // of the line that failed; no file when it is no line's failure
  Exit status = Exit::kDone;
  std::string space;  // outer_space() of that line
  std::string text;   // whole, its newline included
};

// Takes reports, on the thread of the compute queue. A worker reports a failed
// line once (Executor::report()). Several workers may report the same one, each
// for its own ranks; of those that say the same gt-route tells people the
// first.
using ReportSink = std::function<void(const Report&)>;

}  // namespace gt::exec
