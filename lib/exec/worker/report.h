// A message for people, and what it is about.
#pragma once

#include <functional>
#include <string>

#include "base/exit.h"
#include "base/message.h"

namespace gt::exec {

struct Report {
  Place place;  // of the line that failed; no file when it is no line's failure
  Exit status = Exit::kDone;
  std::string text;  // whole, its newline included
};

// Each failed line is reported once by a worker; several workers may report
// the same one.
using ReportSink = std::function<void(const Report&)>;

}  // namespace gt::exec
