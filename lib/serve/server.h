// The server of gt-emit -l: many clients' programs become one stream, and each
// client gets the results of its own program.
//
//   ClientConnections   who is here, and what they say
//                       (client_connections.h)
//   ClientProgram       one client's text becomes blocks of checked lines in
//                       its name space (program.h)
//   Scheduler           whose block goes out next, and when (scheduler.h)
//   FileServer          the files that clients and workers fetch and store
//                       (file_server.h)
//   Multiplexer         all that the server knows of its clients: their
//                       programs, and the results that wait to be read
//                       (multiplexer.h)
//
// The stream goes to standard output. Its results, and the answers to the
// "#sync" lines that the server puts behind blocks, are read from a file,
// usually a FIFO into which the last stage writes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/exit.h"
#include "net/gatekeeper.h"
#include "net/keys.h"
#include "serve/multiplexer.h"

namespace gt::serve {

inline constexpr size_t kMostClients = 256;

struct ServerOptions {
  std::string endpoint;  // where it listens; numeric (net/endpoint.h)
  std::string back;      // the file of the results
  net::Trust trust;
  net::Gatekeeper::Admits admits;
  // With keys: the path of the list of admitted keys, which says which user
  // each one belongs to.
  std::string allow;
  int64_t silence = 1500;  // ms after which a silent client is lost
  // Milliseconds for which a client with a name is kept while away.
  int64_t keep = 600'000;
  // Clients at once; it is an error if there are not descriptors for as many.
  // 0: kMostClients, or as many as there are descriptors for.
  size_t most = 0;
  size_t most_of_user = SIZE_MAX;  // clients of one user at once
  MultiplexerOptions multiplexer;
  // The bytes that the directory of a user's files may hold, see Lender.
  uint64_t quota_files = UINT64_MAX;
  bool verbose = false;  // report who comes and goes
  // Ends the process with this status, although threads still run.
  std::function<void(Exit status)> end_process;
};

// Serves until SIGINT or SIGTERM, or until the programs behind it are lost.
// Returns the status of the process: 130 or 4. `say` gets whole messages.
Exit run_server(const ServerOptions& options,
                const std::function<void(std::string_view)>& say);

}  // namespace gt::serve
