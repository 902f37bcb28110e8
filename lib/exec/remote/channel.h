// Channel holds what the threads of an attached worker share: the thread that
// talks to gt-route (remote_session.h), the thread that decodes
// (remote_worker.h), and that of the compute queue.
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

// For the thread that decodes: a message with lines, or their end.
struct Inbound {
  net::OwnedMessage owned;
  bool is_end = false;
};

// For the thread that talks to gt-route: a message to send.
struct Outbound {
  std::string message;
  bool is_report = false;
};

struct Channel {
  // The most bytes of results that wait to be sent; a thread with more sleeps.
  static constexpr size_t kMostWaiting = size_t{16} << 20;
  // The most bytes of lines that wait to be decoded: a window of them, or one
  // line that is longer.
  static constexpr size_t kMostInbox =
      net::Joiner::kMaxJoined + (size_t{8} << 20);

  net::Wake wake;                    // wakes the thread that talks
  Mailbox<Inbound> inbox{SIZE_MAX};  // kMostInbox bounds it
  Mailbox<Outbound> outbox{kMostWaiting};
  std::atomic<uint64_t> reports{0};      // put into the outbox so far
  std::atomic<bool> is_draining{false};  // only lines that came so far are run
  std::atomic<bool> is_over{false};      // decoding must stop

  // How far compute has come: the seq of the last instruction that has run,
  // with its saves written, and the bytes of all messages whose lines have run.
  std::atomic<uint64_t> done_seq{0};
  std::atomic<uint64_t> done_bytes{0};
  // When all lines had run, in now_ms(); 0: not yet.
  std::atomic<int64_t> finishes_since{0};

  // How the worker leaves, after its last line. The first three are written
  // before has_left is set, and read after that.
  Exit status = Exit::kDone;
  std::string used;      // totals, in the form of net/used.h
  std::string farewell;  // why it leaves early, or ""
  std::atomic<bool> has_left{false};
  void leave(Exit with, std::string why);

  // Sets the worker; null when it is gone. Only the thread that decodes may
  // call this; any thread may call the other functions.
  void set_worker(Worker* worker);
  // Calls use(worker) if there is one.
  template <typename Use>
  void with_worker(const Use& use) {
    const std::lock_guard lock(mutex_);
    if (worker_ != nullptr) use(*worker_);
  }
  // Stops decoding, and ends the worker's waits with the reason `why`.
  void stop(const std::string& why);
  // Says that another worker is lost, which ends the waits for it.
  void lose(uint32_t other, const std::string& why);

 private:
  struct Loss {
    uint32_t worker;
    std::string why;
  };
  std::mutex mutex_;
  Worker* worker_ = nullptr;  // guarded by mutex_, as is the next
  std::vector<Loss> losses_;  // all losses, for a worker that is set later
};

}  // namespace gt::exec
