// gt-emit --to: runs a program on somebody else's cluster as if it ran here.
// The inputs go to a gt-emit -l; results come to standard output, messages to
// standard error, and the status is the program's.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/exit.h"
#include "emit/emitter.h"
#include "net/keys.h"

namespace gt::serve {

struct VisitOptions {
  std::string endpoint;  // numeric (net/endpoint.h)
  std::string user;      // the name of the user
  net::Trust trust;
  // The name under which the client is kept if its connection ends; "": it is
  // not kept. Such a client continues when it has a connection again.
  std::string name;
  bool attaches = false;   // it comes back to the client that is kept as `name`
  bool stays = false;      // it is kept even when its program has ended
  bool waits = false;      // it leaves only when it has all its results
  int64_t silence = 1500;  // ms after which a silent gt-emit is lost
};

// Runs the visit, and returns its status. Errors are reported to `say`, as
// whole messages that end in LF.
Exit run_visit(const emit::EmitJob& job, const VisitOptions& options,
               const std::function<void(std::string_view)>& say);

}  // namespace gt::serve
