// LinkOffers computes which links (memory/device_link.h) the devices of workers
// could have, and which workers they join. Each worker says in its hello what
// it offers, and all workers compute the same result from that.
//
// The members of a link are workers that offer its kind, each with a different
// device. The kind that joins the most workers is taken first, then the kind
// that joins the most of the rest, so each worker is a member of at most one
// link.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exec/comm/exchange.h"
#include "exec/comm/message.h"

namespace gt::exec::comm {

// A link that a worker could have: DeviceLink::kind() and DeviceLink::device().
struct LinkOffer {
  std::string kind, device;
};

// A link of this kind joins these workers, in ascending order.
struct Joint {
  std::string kind;
  Workers members;

  // Returns the worker's index among the members; none if it is not one.
  std::optional<unsigned> index_of(unsigned worker) const;
  bool has(unsigned worker) const { return index_of(worker).has_value(); }
  std::string name() const;  // the kind, as people see it
};

class LinkOffers {
 public:
  explicit LinkOffers(unsigned workers) : workers_(workers) {}

  // Sets what a worker offers, the best first, and, if that is not all it could
  // have, why not.
  void set(unsigned worker, std::vector<LinkOffer> offers, std::string why_not,
           bool has_fast_sums);
  // take() does the same from the worker's hello. Error: no correct worker
  // would send it. add_to() writes a worker's offers into its hello.
  Status take(unsigned worker, const PeerMessage& hello);
  void add_to(unsigned worker, PeerMessage& hello) const;
  // Withdraws this kind from the offers of the members, since they could not be
  // joined by it.
  void withdraw(const Joint& joint);

  // Returns the links of these workers. The first may have a single member, the
  // others have more.
  std::vector<Joint> joints_of(Workers workers) const;
  // Returns the devices of the members, in their order.
  std::vector<std::string> devices_of(const Joint& joint) const;
  bool all_have_fast_sums(const Workers& workers) const;
  // Returns lines for people about the links of all workers. The worker
  // teller() shows them.
  std::vector<std::string> news(const std::vector<Joint>& joints) const;
  unsigned teller() const;

 private:
  struct Worker {
    std::vector<LinkOffer> offers;
    std::string why_not;
    bool has_fast_sums = false;
  };
  const LinkOffer* find(unsigned worker, const std::string& kind) const;
  Joint joint_of(const std::string& kind, const Workers& workers) const;
  Joint best_of(const Workers& workers, const std::vector<Joint>& taken) const;
  std::string reason_without(unsigned worker, const Joint& first) const;
  std::string whose_sums_are_slow(const Joint& first) const;

  std::vector<Worker> workers_;
};

}  // namespace gt::exec::comm
