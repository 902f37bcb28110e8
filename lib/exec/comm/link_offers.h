// Which links (memory/device_link.h) the devices of workers could have, and
// whom they join. Each worker says in its hello what it offers, and from that
// all find the same.
//
// The members of a link are workers that offer its kind, with devices of their
// own. The kind that joins most workers comes first, and then another with most
// of the rest, so each worker is a member of one link at most.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exec/comm/exchange.h"
#include "exec/comm/message.h"

namespace gt::exec::comm {

struct LinkOffer {
  std::string kind, device;
};

// A kind of link, and whom it joins, ascending.
struct Joint {
  std::string kind;
  Workers members;

  // Which member the worker is, from 0; none if it is not one.
  std::optional<unsigned> index_of(unsigned worker) const;
  bool has(unsigned worker) const { return index_of(worker).has_value(); }
  std::string name() const;  // of the kind, for people
};

class LinkOffers {
 public:
  explicit LinkOffers(unsigned workers) : workers_(workers) {}

  // What a worker offers, the best first; and, if that is not all that it could
  // have, why not.
  void set(unsigned worker, std::vector<LinkOffer> offers, std::string why_not,
           bool has_fast_sums);
  // The same by its hello. Error: an honest worker would not say it.
  Status take(unsigned worker, const PeerMessage& hello);
  void add_to(unsigned worker, PeerMessage& hello) const;
  // The members could not be joined: they do not offer that kind any more.
  void withdraw(const Joint& joint);

  // The links of these workers. The first one may have a single member, others
  // have more.
  std::vector<Joint> joints_of(Workers workers) const;
  // The devices of the members.
  std::vector<std::string> devices_of(const Joint& joint) const;
  bool all_have_fast_sums(const Workers& workers) const;
  // What people are to know of the links of all workers, said by `teller()`.
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
