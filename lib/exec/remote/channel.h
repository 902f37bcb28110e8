// What the threads of an attached worker share: the one that talks to gt-route
// (remote_session.h), the one that decodes (remote_worker.h), and that of the
// compute queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "exec/remote/mailbox.h"
#include "exec/worker/worker.h"
#include "net/member.h"
#include "net/poller.h"

namespace gt::exec {

// To the thread that decodes: a message with lines, or the end of them.
struct Inbound {
  net::Letter letter;
  bool is_end = false;
};

// To the thread that talks to gt-route: a message for it.
struct Outbound {
  std::string message;
  bool is_report = false;
};

struct Channel {
  // Results that wait to be sent; who makes more sleeps.
  static constexpr size_t kMostWaiting = size_t{16} << 20;
  // Lines that wait to be decoded: a window of them, or one that is longer.
  static constexpr size_t kMostInbox =
      net::Joiner::kMaxJoined + (size_t{8} << 20);

  net::Wake wake;                    // of the thread that talks
  Mailbox<Inbound> inbox{SIZE_MAX};  // kMostInbox bounds it
  Mailbox<Outbound> outbox{kMostWaiting};
  std::atomic<uint64_t> reports{0};      // that were put into the outbox
  std::atomic<bool> is_draining{false};  // only what came so far is run
  std::atomic<bool> is_over{false};      // nothing more is to be decoded

  // How far compute has come: the seq of the last instruction that has run, and
  // the bytes of all messages whose lines have.
  std::atomic<uint64_t> done_seq{0};
  std::atomic<uint64_t> done_bytes{0};
  std::atomic<int64_t> finishes_since{0};  // not 0: all lines have run

  // The worker has run its last line and leaves with this status. The first
  // three are set before has_left, and read after it.
  Exit status = Exit::kDone;
  std::string used;      // in all, as net/used.h has it
  std::string farewell;  // why it leaves before its time, or ""
  std::atomic<bool> has_left{false};
  void leave(Exit with, std::string why);

  // The worker, or null when there is none any more. Called by the thread that
  // decodes; all else may be called by any.
  void set_worker(Worker* worker);
  // Calls use(worker) if there is one.
  template <typename Use>
  void with_worker(const Use& use) {
    const std::lock_guard lock(mutex_);
    if (worker_ != nullptr) use(*worker_);
  }
  // No more lines are decoded, and the worker's waits end for that reason.
  void stop(const std::string& why);
  // Another worker is lost, and what waits for it ends.
  void lose(uint32_t other, const std::string& why);

 private:
  struct Loss {
    uint32_t worker;
    std::string why;
  };
  std::mutex mutex_;
  Worker* worker_ = nullptr;  // guarded by mutex_, as is the next
  std::vector<Loss> losses_;  // told before there was a worker, and since
};

}  // namespace gt::exec
