// The link between the devices of workers (memory/device_link.h): who its
// members are, how they join, and how they part.
//
// Each worker says in its hello which device it has. Members are those whose
// link is of one kind, the first that anybody has, and whose device is no other
// member's; so all workers know the same members. The first of them makes the
// word by which all join. Each then tries the link with all others, and tells
// them how that went; only if it went well for all is there a link. Values of
// other workers go the ways that there are without one, and a line says so.
//
// Everything has a limit: what a link does not do within the patience of the
// group breaks it, as does the loss of a member, whatever the link itself has
// noticed. A member that breaks it tells the others, and all abort, since what
// one aborts does not end elsewhere. Each passes that on before it says
// anything else: what it then asks of a member's memory would wait, there, for
// what the device is in until the link ends. From then on values go the other
// ways: what was on its way is read again, since its owner has it until it was
// read.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/comm/peer_group.h"
#include "exec/memory/device.h"

namespace gt::exec::comm {

// All calls come from the communication thread.
class DirectLink {
 public:
  // What people are to know, without a newline at its end.
  using Say = std::function<void(const std::string& line)>;
  // Bytes for another member, or from it.
  struct Move {
    unsigned worker = 0;
    void* data = nullptr;
    size_t bytes = 0;
  };

  // Both outlive it. `say` may be empty.
  DirectLink(PeerGroup& peers, Device& device, Say say)
      : peers_(peers),
        device_(device),
        say_(std::move(say)),
        workers_(peers.workers()) {}

  // Adds this worker's device to its hello, which refers to this.
  void add_to(PeerMessage& hello);
  // Once all have said hello: joins.
  void connect();
  // Takes what a worker says of its device or of the link. Error: an honest
  // worker would not say it.
  Status take(unsigned from, const PeerMessage& message);
  void take_loss(unsigned worker);

  bool is_on() const { return state_ == State::kOn; }
  // Whether values come from the worker, and go to it, by the link.
  bool joins(unsigned worker) const { return is_on() && index_of(worker); }

  // Whether all workers are linked and their sums are the link's own.
  bool adds(unsigned workers) const {
    return is_on() && peers_.has_fast_sums() && members_.size() == workers &&
           workers == peers_.workers();
  }
  // Adds up what all members give, and waits until that is done.
  Status add(const PeerGroup::Awaited& what, const DeviceLink::Sum& sum);
  // Sends and receives at once, and waits until that is done. False: the link
  // is broken, and nothing is known to have come.
  bool move(const PeerGroup::Awaited& what, const std::vector<Move>& sends,
            const std::vector<Move>& receives);
  // Ends the link on all members, and says why.
  void break_off(const std::string& why);
  // This worker needs it no more: waits a moment for the others to say so, too.
  void leave();

 private:
  enum class State : uint8_t { kNone, kJoining, kOn, kLeaving, kOff };
  struct Worker {
    std::string kind, device;  // of its link; "": it has none
    std::string why_none;
    std::optional<bool> is_linked;  // as it says
    bool is_leaving = false;
  };

  bool is_used() const {
    return state_ == State::kJoining || state_ == State::kOn;
  }
  void choose_members();
  std::string reason_without(unsigned worker) const;
  void tell_who_is_left_out() const;
  std::optional<unsigned> index_of(unsigned worker) const;
  template <typename Use>
  void each_other_member(const Use& use) const;
  void tell_members(PeerMessage::Kind kind, std::string_view body);
  Status join();
  Result<std::string> agree_on_id();
  Status try_out();
  Status begin(const std::vector<Move>& sends,
               const std::vector<Move>& receives);
  Status finish(const PeerGroup::Awaited& what);
  void end(const std::string& why);
  void say(const std::string& line) const;

  PeerGroup& peers_;
  Device& device_;
  Say say_;
  std::vector<Worker> workers_;
  std::vector<unsigned> members_;  // ascending
  std::unique_ptr<DeviceLink> link_;
  State state_ = State::kNone;
  std::string id_;   // by which to join, once it was told
  std::string why_;  // it is off
};

}  // namespace gt::exec::comm
