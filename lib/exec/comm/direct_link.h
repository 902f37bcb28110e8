// The link between the devices of workers (memory/device_link.h): who its
// members are, how they join, and how they part.
//
// Who they are follows from what workers offer (link_offers.h). The first
// member makes the word by which all join. Each then tries the link with all
// others, and tells them how that went; only if it went well for all is there a
// link. If not, they try again with the kinds that are left. Values of other
// workers go the ways that there are without a link, and a line says so.
//
// Where all members are asked for fast sums, and their link adds, they also
// make groups of themselves, each a link of its own for the sums of its
// members: when a mesh is declared, for the workers along each of its axes, and
// never for a sum. That has its place in the order of exchanges (engine.h), the
// same on all members, and they meet there in messages first. So no member
// begins it while another is in something that comes before, and it waits for
// nothing that comes later. A group of a set of workers is made once, for all
// name spaces and meshes, and stays; a member has kMostSplits of them at most.
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
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/comm/link_offers.h"
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
        offers_(peers.workers()),
        workers_(peers.workers()) {}

  // Adds this worker's links to its hello, which refers to this.
  void add_to(PeerMessage& hello);
  // Once all have said hello: joins.
  void connect();
  // Takes what a worker says of its device or of the link. Error: an honest
  // worker would not say it.
  Status take(unsigned from, const PeerMessage& message);
  void take_loss(unsigned worker);

  bool is_on() const { return state_ == State::kOn; }
  // Whether values come from the worker, and go to it, by the link.
  bool joins(unsigned worker) const { return is_on() && joint_.has(worker); }

  // Any thread, once it is connected: whether members make groups.
  bool splits() const { return splits_; }
  // Makes groups for these sets of workers, as far as their workers are members
  // and they have none.
  void split(const PeerGroup::Awaited& what, const std::vector<Workers>& sets);
  // The group (DeviceLink::Sum) that adds up what these workers give; none if
  // the link does not.
  std::optional<unsigned> group_of(const Workers& workers) const;
  // Adds up what members of a group give, and waits until that is done.
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
    // As it says, of the link that it is at: how many it has been at before,
    // why the last of them has ended ("": a worker was lost), and by which word
    // to join.
    unsigned ended = 0;
    std::string why_ended, id;
    bool is_linked = false;
    bool is_leaving = false;
    std::vector<std::string> splits;  // that it said it has come to
  };

  // Sets of workers of which none has a worker of another: one split makes
  // them.
  using Round = std::vector<Workers>;

  static constexpr size_t kMostSplits = 32;
  // Bytes that members send each other at first, or add up in a group.
  static constexpr size_t kTrial = 64;

  bool is_used() const {
    return state_ == State::kJoining || state_ == State::kOn;
  }
  bool choose(const Workers& workers);
  void try_to_link();
  void await_ends();
  bool has_ended(unsigned worker) const;
  template <typename Use>
  void each_other_member(const Use& use) const {
    for (const unsigned m : joint_.members) {
      if (m != peers_.self()) use(m);
    }
  }
  void tell_members(PeerMessage::Kind kind, std::string_view body);
  Status join();
  Result<std::string> agree_on_id();
  Status try_out();
  std::vector<Round> rounds_of(const std::vector<Workers>& sets);
  Status make_groups(const PeerGroup::Awaited& what, const Round& round);
  Status meet(const PeerGroup::Awaited& what, const std::string& round);
  Status try_group(const PeerGroup::Awaited& what);
  Status begin(const std::vector<Move>& sends,
               const std::vector<Move>& receives);
  Status finish(const PeerGroup::Awaited& what);
  void end(const std::string& why);
  Error why_off() const;
  void say(const std::string& line) const;

  PeerGroup& peers_;
  Device& device_;
  Say say_;
  LinkOffers offers_;
  std::vector<Worker> workers_;
  std::vector<std::unique_ptr<DeviceLink>> links_;  // that it could have
  Joint joint_;                                     // of the link that it is at
  DeviceLink* link_ = nullptr;                      // that one
  unsigned attempt_ = 0;  // how many it has been at before
  bool splits_ = false;
  std::map<Workers, unsigned> groups_;  // of which the 0th is of all members
  size_t done_splits_ = 0;
  bool has_told_limit_ = false;
  State state_ = State::kNone;
  std::string why_;  // it is off; "": a worker is lost
};

}  // namespace gt::exec::comm
