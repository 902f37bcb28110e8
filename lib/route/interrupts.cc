#include "route/interrupts.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "base/shortage.h"

namespace gt {

Interrupts::Interrupts() {
  sigemptyset(&set_);
  sigaddset(&set_, SIGINT);
  sigaddset(&set_, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &set_, nullptr);
  fd_ = ::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0) fail_short("cannot wait for signals");
}

Interrupts::~Interrupts() {
  ::close(fd_);
  ::sigprocmask(SIG_UNBLOCK, &set_, nullptr);
}

bool Interrupts::take() const {
  signalfd_siginfo info;
  return ::read(fd_, &info, sizeof info) == sizeof info;
}

}  // namespace gt
