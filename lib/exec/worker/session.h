// A worker that reads its lines from files or standard input, from the first
// line to its exit status. (remote/remote_session.h is that of an attached
// one.)
#pragma once

#include <string>
#include <vector>

#include "base/exit.h"
#include "exec/worker/worker.h"

namespace gt::exec {

// Feeds the worker the lines of the files in order, "-" being standard input,
// then waits for it. Returns the largest status: of the lines, of the streams'
// own ends, of a stream cut short, of a file that cannot be read.
Exit run_session(Worker& worker, const std::vector<std::string>& paths,
                 const ReportSink& reports);

}  // namespace gt::exec
