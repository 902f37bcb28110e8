// gt-route reads a stream, dispatches its lines to workers, and writes the
// results of its prints in program order.
//
// The way of a line through this folder:
//
//   ClientPipe     reads the line; a Client is the user whose line it is, with
//                  the results that this user is owed
//   Dispatcher     does all that follows down to the Outbox; has no sockets
//   RouteBuilder   decodes the line to a Route: what it reads and binds, and
//                  the workers of its ranks (RankTable). RouteCache keeps the
//                  routes of lines that came before
//   Issuer         chooses the worker of a line without ranks (Placer), by
//                  where values are (ValueLocations) and what each worker has
//                  to do (Loads), and inserts the copies that the line needs
//                  there
//   Sequencer      gives the line its `seq`: its number, from 1, in the one
//                  order of all lines that are issued
//   Outbox         collects the lines of each worker until they leave; finds
//                  blocks of lines that were sent before (BlockTable)
//   Deliveries     has them as messages, until the worker has credit for them
//                  and then until it has finished them
//   WorkerPool     has the connections and processes of the workers; takes
//                  what they say, and notices when one is lost
//   Monitor        tells those who watch how all of these are (state_text.h)
//   ResultOrder    gives the results to the client in the order of its prints;
//                  Users has one for each user of a stream that many share
//
// All of it runs on one thread, which waits for input, workers, signals and the
// reader of the results together (router_loop.h), and no class of this folder
// may be used from another. The threads besides are those of lib/net: ZeroMQ's
// own, the gatekeeper's, which alone calls RouterOptions::admits, and that of a
// net::Pulse, which sends signs of life while one long line is dispatched.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "net/gatekeeper.h"
#include "net/keys.h"

namespace gt::route {

// What happens to a run that loses a worker after all workers were there.
// worker_pool.h says which objects do what then, and what happens if a worker
// is lost earlier.
enum class OnLoss {
  kEndRun,  // the other workers are ended, and all results still owed fail
  kGoOn     // what needs the lost worker fails, and nothing else
};

// The endpoint at which programs that watch the run, such as gt-top, connect.
struct MonitorOptions {
  bool is_on = true;
  // "": a private endpoint that gt-top finds (net/monitors.h).
  std::string endpoint;
  // With keys, only clients that `admits` accepts may watch; without keys, only
  // processes of this user on this host.
  std::optional<net::Keys> keys;
  net::Gatekeeper::Admits admits;
};

struct RouterOptions {
  std::vector<std::string> files{"-"};  // read in turn; "-": standard input
  uint32_t workers = 1;
  // The endpoint at which to wait for workers; "": gt-route starts its own.
  std::string bind;
  // With keys, a worker may attach only if `admits` takes its public key.
  net::Trust trust;
  net::Gatekeeper::Admits admits;
  MonitorOptions monitor;
  std::vector<std::string> worker_arguments;  // for each worker that is started
  bool traces = false;     // the started workers write traces (--trace)
  int timeout = 60;        // seconds until all workers must be there
  int64_t silence = 1500;  // milliseconds after which a silent worker is lost
  int log_fd = -1;         // the descriptor of the run's log; -1: there is none
  std::string log_name;    // what messages call the log
  bool fail_fast = false;  // stop reading after the first failure
  OnLoss on_loss = OnLoss::kEndRun;
  // A block of lines that a worker already has is sent to it as the block's
  // number (block_table.h), and repeated rounds of loops are recognised
  // (loops.h).
  bool hot = true;
  // If 1 or more, `tell` is told who attaches and, at the end, how many lines
  // came (Client::lines), were decoded (Dispatcher::decoded()), came in
  // recognised rounds (Client::repeated), and were issued
  // (Dispatcher::issued()).
  int verbose = 0;
  // Gets messages about progress. A text without a newline at its end is shown
  // until the next text takes its place.
  std::function<void(std::string_view)> tell = [](std::string_view) {};
};

// Runs the whole program, and returns when all results have been written or the
// run was interrupted. Results go to standard output. `say` gets whole messages
// for people about what went wrong. Returns the largest of the statuses of the
// lines, of the workers, of the stages before (#end) and of gt-route itself.
Exit run_router(const RouterOptions& options,
                const std::function<void(std::string_view)>& say);

}  // namespace gt::route
