// SIGINT and SIGTERM as a descriptor to wait for and to read from, in place of
// signal handlers. What they do to a run, RouterLoop::take_signals() says.
#pragma once

#include <csignal>

namespace gt::net {

class Interrupts {
 public:
  // Blocks both signals in this thread, and so in the threads that it starts
  // from now on. Ends the process if the system has no descriptor left.
  Interrupts();
  // Takes signals that are still pending, and unblocks both.
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int fd() const { return fd_; }  // can be read when a signal is there
  // The number of a signal that came since; 0: none did. Does not wait.
  int take() const;

 private:
  sigset_t set_;
  int fd_ = -1;
};

}  // namespace gt::net
