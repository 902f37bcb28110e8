// Interrupt: saves a program's state when SIGINT or SIGTERM ends it.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>
#include <utility>

#include "base/exit.h"

namespace gt {

// To be made before any other thread, which would otherwise take the signals.
// From then on the signals wait; those that are ignored stay ignored.
class Interrupt {
 public:
  Interrupt() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM}) {
      struct sigaction now {};
      ::sigaction(signal, nullptr, &now);
      if (now.sa_handler != SIG_IGN) sigaddset(&signals_, signal);
    }
    // It is ignored by default, so it is free for our use.
    sigaddset(&signals_, SIGURG);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  // From now on a signal calls `save`, on a thread of its own, and ends the
  // process with status 130.
  void watch(std::function<void()> save) {
    save_ = std::move(save);
    thread_ = std::thread([this] { wait(); });
  }
  ~Interrupt() {
    if (!thread_.joinable()) return;
    done_ = true;
    pthread_kill(thread_.native_handle(), SIGURG);
    thread_.join();
  }
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

 private:
  void wait() {
    int signal = 0;
    while (!done_) {
      if (sigwait(&signals_, &signal) != 0 || signal == SIGURG) continue;
      save_();
      ::_exit(static_cast<int>(Exit::kInterrupted));
    }
  }

  std::function<void()> save_;
  sigset_t signals_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace gt
