// gt-log with a selection: passes on the lines that match.
#pragma once

#include <string>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"
#include "log/select.h"

namespace gt::log {

// Reads these files, where "-" or no path is standard input. Marks, comments
// and headers pass unchanged, instructions and rows if they match. Errors are
// reported to `say`. Returns the status, which the last end mark carries.
Exit filter(const std::vector<std::string>& paths, const Selection& selection,
            Writer& out, const Say& say);

}  // namespace gt::log
