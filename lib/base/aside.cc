#include "base/aside.h"

#include <csignal>
#include <utility>

#include "base/io.h"

namespace gt {

Aside::Aside(int fd, Failure failure) : fd_(fd), failure_(failure) {
  // Signals are for the threads that know what to do about them.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { loop(); });
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Aside::~Aside() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  added_.notify_one();
  thread_.join();
}

void Aside::write(std::string_view bytes) {
  {
    const std::lock_guard lock(mutex_);
    text_ += bytes;
  }
  added_.notify_one();
}

size_t Aside::waiting() const {
  const std::lock_guard lock(mutex_);
  return text_.size() + writes_;
}

bool Aside::wait() {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [this] { return text_.empty() && writes_ == 0; });
  return true;
}

bool Aside::wait(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return written_.wait_for(lock, limit,
                           [this] { return text_.empty() && writes_ == 0; });
}

int Aside::errno_value() const {
  const std::lock_guard lock(mutex_);
  return errno_;
}

void Aside::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    added_.wait(lock, [this] { return is_over_ || !text_.empty(); });
    if (text_.empty()) return;
    const std::string bytes = std::exchange(text_, {});
    if (errno_ == 0 || failure_ == Failure::kGoOn) {
      writes_ = bytes.size();
      lock.unlock();
      const int error = write_all(fd_, bytes);
      lock.lock();
      if (errno_ == 0) errno_ = error;
    }
    writes_ = 0;
    written_.notify_all();
  }
}

}  // namespace gt
