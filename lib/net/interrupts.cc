#include "net/interrupts.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "base/shortage.h"

namespace gt::net {

Interrupts::Interrupts() {
  sigemptyset(&set_);
  sigaddset(&set_, SIGINT);
  sigaddset(&set_, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &set_, nullptr);
  fd_ = ::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0) fail_short("cannot wait for signals");
}

// A signal that is still pending would kill the process once it is unblocked,
// although all work is done.
Interrupts::~Interrupts() {
  while (take() != 0) {
  }
  ::close(fd_);
  ::sigprocmask(SIG_UNBLOCK, &set_, nullptr);
}

int Interrupts::take() const {
  signalfd_siginfo info;
  if (::read(fd_, &info, sizeof info) != sizeof info) return 0;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace gt::net
