// gt-emit --to: a program runs on somebody else's cluster as if it ran here.
// Its inputs go to a gt-emit -l; results come to standard output, messages to
// standard error, and the status is the program's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/exit.h"
#include "emit/emitter.h"
#include "net/keys.h"

namespace gt::serve {

struct VisitOptions {
  std::string endpoint;  // in numbers (net/endpoint.h)
  std::string user;      // the name to go by
  std::optional<net::Keys> keys;
  std::string server_key;
  // The name under which it is kept if its connection ends; "": it is not. Such
  // a client goes on when it has a connection again.
  std::string name;
  bool attaches = false;   // it comes back to the client that is kept as `name`
  bool stays = false;      // it is kept when its program has ended, too ...
  bool waits = false;      // ... and leaves only when all its results are there
  bool anyone = false;     // without keys: whoever listens there may be gt-emit
  int64_t silence = 1500;  // ms after which a silent gt-emit is lost
};

// Errors are said to `say`, whole messages that end in LF.
Exit run_visit(const emit::EmitJob& job, const VisitOptions& options,
               const std::function<void(std::string_view)>& say);

}  // namespace gt::serve
