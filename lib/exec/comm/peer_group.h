// PeerGroup exchanges messages with the other workers and watches whether they
// are alive.
//
// A wait has no limit while the other worker gives signs of life. Any message
// is such a sign; a silent worker is asked for one every second or more often.
// A worker is lost if there is no sign of it for `patience` (60 seconds unless
// the worker was started with another value), if its connection ends, or if it
// sends what no correct worker would. gt-route may notice a loss earlier: it
// tells all workers, which call tell_loss(). A lost worker stays lost: all
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

// Options of a group: who its workers are, and how they exchange values.
struct GroupOptions {
  unsigned self = 0;
  unsigned workers = 1;
  Link* link = nullptr;            // must outlive the group
  std::vector<std::string> names;  // names of all workers; may be empty
  // How long a worker that is waited for may give no sign of life before it is
  // lost.
  std::chrono::milliseconds patience{60'000};
  // Lets the link add sums in its own order, if all workers ask for that.
  bool has_fast_sums = false;
  // Shows people a line, without its newline, about how values cross if that
  // may surprise them. Called on any thread; may be empty.
  std::function<void(const std::string& line)> say;
};

// All calls come from the communication thread, except waiting(), wake(),
// abort(), is_aborted() and tell_loss(), which any thread may call.
class PeerGroup {
 public:
  using Clock = std::chrono::steady_clock;

  // Handles what comes from the others.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    // Handles a message about values, or the hello that comes before all
    // others. Error: no correct worker would send it; its sender is then lost.
    virtual Status take(unsigned from, const PeerMessage& message) = 0;
    // Handles the loss of a worker.
    virtual void take_loss(unsigned worker) = 0;
  };
  // What is waited for, and for which line of the program; for people.
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
  // Returns why the worker is lost; null if it is not.
  const Fault& loss(unsigned worker) const { return peers_[worker].loss; }
  void lose(unsigned worker, const std::string& why);

  // Sends a message, unless the worker is lost.
  void send(unsigned worker, const PeerMessage& message);
  // Handles messages until done() is true, and returns null; or returns why it
  // never will be: the worker is lost, or all waits end (abort()).
  Fault await(unsigned worker, const Awaited& what,
              const std::function<bool()>& done);
  // Handles messages, and calls look() in between for something that no message
  // announces, until that is done or all waits end.
  enum class Look : uint8_t { kStill, kMoved, kDone };
  void await_device(const Awaited& what, const std::function<Look()>& look);
  // Handles a message, if one comes within that time.
  void listen_for(std::chrono::milliseconds most) { pump(most); }
  // Handles a message; sleeps until there is one. Returns without one when the
  // link is woken or, if `is_owed`, when it is time to ask some worker for a
  // sign of life.
  void listen(bool is_owed);
  // Asks the worker for a sign of life if there was none for a while since
  // `since`. If there was none for longer than `patience`, the worker is lost.
  void check_sign(unsigned worker, Clock::time_point since);

  Waiting waiting() const;
  void wake() { options_.link->wake(); }
  // Ends all waits; what waited fails with the reason `why`.
  void abort(const std::string& why);
  bool is_aborted() const { return is_aborted_.load(); }
  // Like lose(), but for any thread: somebody else has found out that the
  // worker is lost.
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
  // Losses that the communication thread has not seen yet.
  std::vector<Loss> told_;
  std::atomic<bool> is_aborted_{false};
};

}  // namespace gt::exec::comm
