// A link carries messages between workers. It is all that the communication
// thread (engine.h) knows of sockets.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace gt::exec::comm {

struct Incoming {
  unsigned from = 0;  // the worker that sent it, as the link knows for sure
  std::string bytes;
  bool is_lost = false;  // nothing more comes from it; `bytes` say why
};

// Messages between two workers arrive in order, each once and whole. All calls
// come from one thread, but for wake().
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  // Takes a message for a worker; never waits. Error: why it cannot be sent.
  virtual Status send(unsigned worker, std::string message) = 0;
  // Sleeps until there is a message, or `most` has passed, or wake() was called
  // since the last time; false: there is none. A negative `most`: no limit.
  virtual bool receive(Incoming& message, std::chrono::milliseconds most) = 0;
  virtual void wake() = 0;
};

}  // namespace gt::exec::comm
