// gt-log with a selection: passes the lines that match on.
#pragma once

#include <string>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"
#include "log/select.h"

namespace gt::log {

// Reads these files, "-" and none at all being standard input. Marks, comments
// and headers pass in place, instructions and rows if they match. What is wrong
// goes to `say`. Returns the status, which the last end mark carries.
Exit filter(const std::vector<std::string>& paths, const Selection& selection,
            Writer& out, const Say& say);

}  // namespace gt::log
