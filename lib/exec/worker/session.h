// Runs a worker that reads its lines from files or standard input, from the
// first line to the exit status. (For a worker attached to a gt-route, see
// remote/remote_session.h.)
#pragma once

#include <string>
#include <vector>

#include "base/exit.h"
#include "exec/worker/worker.h"

namespace gt::exec {

// Feeds the worker the lines of the files in order ("-" is standard input),
// then waits for it to finish. Returns the largest of the statuses of the
// lines, of the ends that the streams state, of a stream that was cut short,
// and of a file that cannot be read.
Exit run_session(Worker& worker, const std::vector<std::string>& paths,
                 const ReportSink& reports);

}  // namespace gt::exec
