// Interrupts turns SIGINT and SIGTERM into a descriptor to wait for and read
// from, instead of signal handlers. RouterLoop::take_signals() says what they
// do to a run.
#pragma once

#include <csignal>

namespace gt::net {

class Interrupts {
 public:
  // Blocks both signals in this thread and in the threads that it starts from
  // now on. Ends the process if the system has no descriptor left.
  Interrupts();
  // Discards pending signals, and unblocks both.
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int fd() const { return fd_; }  // readable when a signal is there
  // Takes the number of a signal that has come; 0 if none has. Does not wait.
  int take() const;

 private:
  sigset_t set_;
  int fd_ = -1;
};

}  // namespace gt::net
