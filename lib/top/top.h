// gt-top: watches one gt-route, and shows what it tells.
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
  double seconds = 1;      // between two pictures, or two records
  uint64_t count = 0;      // of records in batch mode; 0: until the run ends
  std::string metrics;     // an address or a file, of run_metrics()
  bool has_color = false;  // the terminal takes colours
  Say say;                 // what is wrong
  Say tell;                // what is not
};

// Each returns kDone when the run has ended or it was told to quit; kLost when
// gt-route is not there, is gone or is silent; kInterrupted.

// On the terminal that standard input and output are.
Exit run_screen(const TopOptions& options);
// Writes a header and then records, flushed each time.
Exit run_batch(const TopOptions& options, Writer& out);
// Serves them, or writes them to a file, until the run ends. kUsage: it cannot,
// or the last that was to be written was not; between the first and the last
// time that is said alone.
Exit run_metrics(const TopOptions& options);

// What there is to say of each: a table with a header, a gt-route a line. Those
// that do not answer within two seconds, or belong to somebody else, are left
// out.
struct Listing {
  std::vector<net::MonitorAt> routes;
  std::string table;
};
Listing list_routes(const std::vector<net::MonitorAt>& routes);

}  // namespace gt::top
