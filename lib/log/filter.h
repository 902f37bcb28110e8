// gt-log with a selection: the stream's lines that match.
#pragma once

#include <string>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"
#include "log/select.h"

namespace gt::log {

// Marks, comments and headers pass in place, instructions and rows if they
// match. Returns the status, which the last end mark carries.
Exit filter(const std::vector<std::string>& paths, const Selection& selection,
            Writer& out, const Say& say);

}  // namespace gt::log
