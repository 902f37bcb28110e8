// gt-top: watches one gt-route, and shows what it reports.
//
//   net::Watcher  asks gt-route for a state, and gets it as text
//   Snapshot      is the state that was read
//   Model         has rates of it, and the rows of all tables
//   Screen        draws these for a size of the terminal, and takes keys
//   batch.h       writes them for programs; metrics.h a snapshot for Prometheus
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"
#include "net/monitors.h"
#include "net/watcher.h"

namespace gt::top {

using Say = std::function<void(std::string_view)>;

struct TopOptions {
  net::WatcherOptions watcher;
  double seconds = 1;  // seconds between two pictures, or two records
  // Number of records in batch mode; 0: until the run ends.
  uint64_t count = 0;
  std::string metrics;     // the address or the file of run_metrics()
  bool has_color = false;  // the terminal supports colours
  Say say;                 // gets errors
  Say tell;                // gets other messages
};

// Each of the following functions returns kDone when the run has ended or the
// user has quit, kLost when gt-route is not there, is gone or is silent, and
// kInterrupted after a signal.

// Shows the run on the terminal that standard input and output are.
Exit run_screen(const TopOptions& options);
// Writes a header and then records, each flushed.
Exit run_batch(const TopOptions& options, Writer& out);
// Serves the metrics, or writes them to a file, until the run ends. kUsage:
// that is not possible, or the last text could not be written; failures between
// the first and the last time are only reported.
Exit run_metrics(const TopOptions& options);

// The endpoints that answered, and what there is to say about them: a table
// with a header and a line for each gt-route. Those that do not answer within
// two seconds, or belong to another user, are left out.
struct Listing {
  std::vector<net::MonitorAt> routes;
  std::string table;
};
Listing list_routes(const std::vector<net::MonitorAt>& routes);

}  // namespace gt::top
