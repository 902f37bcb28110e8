// The other workers: messages to and from them, and whether they live.
//
// A wait has no limit while the other worker gives signs of life: any message
// is one, and without one it is asked, each second or more often. Without any
// sign for `patience`, 60 seconds unless the worker was started with another,
// the worker is lost, and so it is when its connection ends or it sends what no
// honest worker would. A loss that gt-route sees comes sooner: it tells all
// workers, and theirs is tell_loss(). A worker that is lost stays lost: all
// waits for it, now and later, end with the reason.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/comm/communicator.h"
#include "exec/comm/link.h"
#include "exec/comm/message.h"
#include "exec/memory/value.h"

namespace gt::exec::comm {

struct GroupOptions {
  unsigned self = 0;
  unsigned workers = 1;
  Link* link = nullptr;            // outlives the group
  std::vector<std::string> names;  // of workers; may be empty
  // Without any sign of a worker that is waited for; then it is lost.
  std::chrono::milliseconds patience{60'000};
  // Sums of all workers are the link's own, where all ask for that.
  bool has_fast_sums = false;
  // Tells people how values cross, where that is not as they might think; any
  // thread, a line without its newline. May be empty.
  std::function<void(const std::string& line)> say;
};

// All calls come from the communication thread, but for waiting(), wake(),
// abort(), is_aborted() and tell_loss(), which any thread may call.
class PeerGroup {
 public:
  using Clock = std::chrono::steady_clock;

  // Takes what comes from the others.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    // A message about values, or the hello that comes before all others. Error:
    // an honest worker would not send it; its sender is then lost.
    virtual Status take(unsigned from, const PeerMessage& message) = 0;
    virtual void take_loss(unsigned worker) = 0;
  };
  // What is waited for, and for which line of the program.
  struct Awaited {
    uint64_t line = 0;
    uint64_t seq = 0;
    std::string what;
  };

  PeerGroup(GroupOptions options, Receiver& receiver)
      : options_(std::move(options)),
        receiver_(receiver),
        peers_(options_.workers) {}

  // Calls use(worker) for each other worker.
  template <typename Use>
  void each(const Use& use) const {
    for (unsigned w = 0; w < options_.workers; ++w) {
      if (w != options_.self) use(w);
    }
  }
  std::string name_of(unsigned worker) const;  // "worker 1 (node7)"
  unsigned self() const { return options_.self; }
  unsigned workers() const { return options_.workers; }
  std::chrono::milliseconds patience() const { return options_.patience; }
  bool has_fast_sums() const { return options_.has_fast_sums; }
  bool is_greeted(unsigned worker) const { return peers_[worker].is_greeted; }
  // Why the worker is lost; null while it is not.
  const Fault& loss(unsigned worker) const { return peers_[worker].loss; }
  void lose(unsigned worker, const std::string& why);

  // Nothing is sent to a worker that is lost.
  void send(unsigned worker, const PeerMessage& message);
  // Takes messages until done() holds, and returns null; or why it never will:
  // the worker is lost, or all waits end (abort()).
  Fault await(unsigned worker, const Awaited& what,
              const std::function<bool()>& done);
  // Takes messages, between looks at what no message tells of, until that is
  // done or all waits end.
  enum class Look : uint8_t { kStill, kMoved, kDone };
  void await_device(const Awaited& what, const std::function<Look()>& look);
  // Takes a message, if there is one within that time.
  void listen_for(std::chrono::milliseconds most) { pump(most); }
  // Takes a message, if need be after sleeping until there is one. Returns
  // without one when the link is woken, or, if `is_owed`, when it is time to
  // ask some worker for a sign of life.
  void listen(bool is_owed);
  // Asks the worker for a sign of life if there was none for a while, of the
  // time since `since`; for longer than `patience`, and it is lost.
  void check_sign(unsigned worker, Clock::time_point since);

  Waiting waiting() const;
  void wake() { options_.link->wake(); }
  // All waits end, and what waited fails for that reason.
  void abort(const std::string& why);
  bool is_aborted() const { return is_aborted_.load(); }
  // As lose(), of any thread: it is known from elsewhere.
  void tell_loss(unsigned worker, const std::string& why);

 private:
  struct Peer {
    bool is_greeted = false;
    Fault loss;
    Clock::time_point sign;
    Clock::time_point asked;
  };
  void pump(std::chrono::milliseconds most);
  void take_losses();
  void handle(unsigned from, std::string_view bytes);
  Status take_message(unsigned from, const PeerMessage& message);
  Fault never(unsigned worker) const;
  void note_wait(const Awaited& what, Clock::time_point since);
  std::chrono::milliseconds interval() const;

  GroupOptions options_;
  Receiver& receiver_;
  std::vector<Peer> peers_;

  struct Wait {
    Awaited what;
    Clock::time_point since;
  };
  mutable std::mutex mutex_;
  std::optional<Wait> wait_;  // guarded by mutex_, as are the next two
  std::string aborted_;
  struct Loss {
    unsigned worker = 0;
    std::string why;
  };
  std::vector<Loss> told_;  // that the communication thread has not seen
  std::atomic<bool> is_aborted_{false};
};

}  // namespace gt::exec::comm
