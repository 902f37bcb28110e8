// DirectLink manages the link between the devices of workers
// (memory/device_link.h): which workers are its members, how they join it, and
// how they leave it.
//
// The members follow from what the workers offer (link_offers.h). The first
// member makes the id by which all join. Each member then tries the link with
// all others and tells them the outcome; only if it worked for all is there a
// link. If not, they try again with the kinds of links that are left. Without a
// link, values go the other ways, and a line for people says so.
//
// If all members were started with fast sums and their link can add, they also
// make groups, each a link of its own for the sums of its members. Groups are
// made when a mesh is declared, for the workers along each of its axes, and
// never in the middle of a sum. Making them has a place in the order of
// exchanges (engine.h) that is the same on all members, and the members first
// meet there by messages. So no member begins it while another is busy with
// something earlier, and it waits for nothing later. A group of a set of
// workers is made once, for all name spaces and meshes, and is kept; a member
// has at most kMostSplits of them.
//
// Every wait is limited: an operation that a link does not finish within the
// patience of the group breaks the link, as does the loss of a member, whatever
// the link itself has noticed. A member that breaks it tells the others, and
// all abort, since an operation that one member aborts does not end on the
// others. Each member passes this on before any other message: a request for
// another member's memory would wait there for an operation that ends only with
// the link. From then on values go the other ways. Values that were under way
// are read again, since an owner keeps a value until it was read.
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
  // Shows people a line, which has no newline at its end.
  using Say = std::function<void(const std::string& line)>;
  // Bytes to send to another member or to receive from it.
  struct Move {
    unsigned worker = 0;
    void* data = nullptr;
    size_t bytes = 0;
  };

  // `peers` and `device` must outlive the object. `say` may be empty.
  DirectLink(PeerGroup& peers, Device& device, Say say)
      : peers_(peers),
        device_(device),
        say_(std::move(say)),
        offers_(peers.workers()),
        workers_(peers.workers()) {}

  // Adds this worker's links to its hello, which then refers to this object.
  void add_to(PeerMessage& hello);
  // Joins the link. Must be called once all workers have said hello.
  void connect();
  // Handles a message from a worker about its device or the link. Error: no
  // correct worker would send it.
  Status take(unsigned from, const PeerMessage& message);
  // Breaks the link if a lost worker is a member.
  void take_loss(unsigned worker);

  bool is_on() const { return state_ == State::kOn; }
  // True if values go to and come from this worker by the link.
  bool joins(unsigned worker) const { return is_on() && joint_.has(worker); }

  // After connect(): true if the members make groups. Any thread may call it.
  bool splits() const { return splits_; }
  // Makes groups for those of these sets whose workers are all members and that
  // have no group yet. `what` is what the wait is called.
  void split(const PeerGroup::Awaited& what, const std::vector<Workers>& sets);
  // Returns the group (DeviceLink::Sum) that adds the values of these workers;
  // none if the link does not add them.
  std::optional<unsigned> group_of(const Workers& workers) const;
  // Adds the values of a group's members, and waits until that is done.
  Status add(const PeerGroup::Awaited& what, const DeviceLink::Sum& sum);
  // Sends and receives at once, and waits until that is done. False if the link
  // broke; then nothing is known to have arrived.
  bool move(const PeerGroup::Awaited& what, const std::vector<Move>& sends,
            const std::vector<Move>& receives);
  // Ends the link on all members, with this reason.
  void break_off(const std::string& why);
  // Leaves the link, which this worker no longer needs. Waits a short time for
  // the other members to leave too.
  void leave();

 private:
  enum class State : uint8_t { kNone, kJoining, kOn, kLeaving, kOff };
  struct Worker {
    // What the worker has said of its current link: how many links it has ended
    // before, why the last of them ended ("": a worker was lost), and the id to
    // join by.
    unsigned ended = 0;
    std::string why_ended, id;
    bool is_linked = false;
    bool is_leaving = false;
    // The rounds of groups that it said it has reached.
    std::vector<std::string> splits;
  };

  // Disjoint sets of workers, so that one split() makes all their groups.
  using Round = std::vector<Workers>;

  static constexpr size_t kMostSplits = 32;
  // Bytes that members send each other, or add in a group, to try a new link.
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
  // Links that the device could have.
  std::vector<std::unique_ptr<DeviceLink>> links_;
  Joint joint_;                 // the link that is tried or used
  DeviceLink* link_ = nullptr;  // the one in links_ of that kind
  unsigned attempt_ = 0;        // how many links were tried before
  bool splits_ = false;
  std::map<Workers, unsigned> groups_;  // group 0 is that of all members
  size_t done_splits_ = 0;
  bool has_told_limit_ = false;
  State state_ = State::kNone;
  std::string why_;  // why the link is off; "": a worker is lost
};

}  // namespace gt::exec::comm
