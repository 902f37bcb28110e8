// SIGINT and SIGTERM as something to wait for and to read.
#pragma once

#include <csignal>

namespace gt::route {

class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int fd() const { return fd_; }
  int take() const;  // the signal that came; 0: none

 private:
  sigset_t set_;
  int fd_ = -1;
};

}  // namespace gt::route
