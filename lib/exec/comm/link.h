// A link carries messages between workers. It hides the sockets from the
// communication thread (engine.h).
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace gt::exec::comm {

// A message from another worker, or the news that the worker is lost.
struct Incoming {
  unsigned from = 0;  // the sending worker, which the link knows for sure
  std::string bytes;
  bool is_lost = false;  // nothing more will come from it; `bytes` says why
};

// Messages between two workers arrive in order, each once and complete. All
// calls except wake() come from one thread.
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  // Sends a message to a worker, now or later; never waits. Error: why it
  // cannot be sent.
  virtual Status send(unsigned worker, std::string message) = 0;
  // Sleeps until there is a message, `most` has passed, or wake() was called
  // since the last call. False if there is no message. A negative `most` means
  // no limit.
  virtual bool receive(Incoming& message, std::chrono::milliseconds most) = 0;
  virtual void wake() = 0;
};

}  // namespace gt::exec::comm
