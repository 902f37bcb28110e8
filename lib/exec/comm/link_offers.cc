#include "exec/comm/link_offers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"

namespace gt::exec::comm {

std::optional<unsigned> Joint::index_of(unsigned worker) const {
  const auto it = std::lower_bound(members.begin(), members.end(), worker);
  if (it == members.end() || *it != worker) return std::nullopt;
  return static_cast<unsigned>(it - members.begin());
}

std::string Joint::name() const { return kind.substr(0, kind.find('@')); }

// ---- what workers offer -----------------------------------------------------

void LinkOffers::set(unsigned worker, std::vector<LinkOffer> offers,
                     std::string why_not, bool has_fast_sums) {
  workers_[worker] = {std::move(offers), std::move(why_not), has_fast_sums};
}

Status LinkOffers::take(unsigned worker, const PeerMessage& hello) {
  std::vector<LinkOffer> offers;
  std::string_view kinds = hello.link_kinds;
  std::string_view devices = hello.devices;
  while (!kinds.empty() || !devices.empty()) {
    const std::string_view kind = take_word(kinds, ",");
    const std::string_view device = take_word(devices, ",");
    if (kind.empty() || device.empty()) {
      return Error{"it has not a device for each link"};
    }
    offers.push_back({std::string(kind), std::string(device)});
  }
  set(worker, std::move(offers), std::string(hello.body), hello.has_fast_sums);
  return ok_status();
}

void LinkOffers::add_to(unsigned worker, PeerMessage& hello) const {
  const Worker& own = workers_[worker];
  for (const LinkOffer& offer : own.offers) {
    hello.link_kinds += (hello.link_kinds.empty() ? "" : ",") + offer.kind;
    hello.devices += (hello.devices.empty() ? "" : ",") + offer.device;
  }
  hello.has_fast_sums = own.has_fast_sums;
  hello.body = own.why_not;
}

void LinkOffers::withdraw(const Joint& joint) {
  for (const unsigned w : joint.members) {
    std::erase_if(workers_[w].offers, [&](const LinkOffer& offer) {
      return offer.kind == joint.kind;
    });
  }
}

const LinkOffer* LinkOffers::find(unsigned worker,
                                  const std::string& kind) const {
  const std::vector<LinkOffer>& offers = workers_[worker].offers;
  const auto it =
      std::find_if(offers.begin(), offers.end(),
                   [&](const LinkOffer& offer) { return offer.kind == kind; });
  return it == offers.end() ? nullptr : &*it;
}

std::vector<std::string> LinkOffers::devices_of(const Joint& joint) const {
  std::vector<std::string> devices;
  for (const unsigned m : joint.members) {
    devices.push_back(find(m, joint.kind)->device);
  }
  return devices;
}

bool LinkOffers::all_have_fast_sums(const Workers& workers) const {
  return std::all_of(workers.begin(), workers.end(),
                     [this](unsigned w) { return workers_[w].has_fast_sums; });
}

// ---- whom links join --------------------------------------------------------

Joint LinkOffers::joint_of(const std::string& kind,
                           const Workers& workers) const {
  Joint joint{kind, {}};
  for (const unsigned w : workers) {
    const LinkOffer* offer = find(w, kind);
    if (offer == nullptr) continue;
    const std::vector<std::string> taken = devices_of(joint);
    if (std::find(taken.begin(), taken.end(), offer->device) == taken.end()) {
      joint.members.push_back(w);
    }
  }
  return joint;
}

// Returns the best link among these workers, of a kind that is not taken;
// without members if no worker can have one. Workers that ask for fast sums get
// the best kind of link, whomever it joins, since perhaps only that kind can
// add.
Joint LinkOffers::best_of(const Workers& workers,
                          const std::vector<Joint>& taken) const {
  const bool is_fast = all_have_fast_sums(workers);
  const auto is_taken = [&](const std::string& kind) {
    return std::any_of(taken.begin(), taken.end(),
                       [&](const Joint& joint) { return joint.kind == kind; });
  };
  Joint best;
  for (const unsigned w : workers) {
    for (const LinkOffer& offer : workers_[w].offers) {
      if (is_taken(offer.kind)) continue;
      Joint joint = joint_of(offer.kind, workers);
      if (joint.members.size() > best.members.size()) best = std::move(joint);
      if (is_fast && best.members.size() > 1) return best;
    }
  }
  return best;
}

std::vector<Joint> LinkOffers::joints_of(Workers workers) const {
  std::vector<Joint> joints;
  while (true) {
    Joint best = best_of(workers, joints);
    if (best.members.size() < (joints.empty() ? 1 : 2)) return joints;
    std::erase_if(workers, [&](unsigned w) { return best.has(w); });
    joints.push_back(std::move(best));
  }
}

// ---- what people are told ---------------------------------------------------

// Returns the first worker that could have a link.
unsigned LinkOffers::teller() const {
  const auto first =
      std::find_if(workers_.begin(), workers_.end(), [](const Worker& worker) {
        return !worker.offers.empty() || !worker.why_not.empty();
      });
  return static_cast<unsigned>(first - workers_.begin());
}

// Returns why the worker is not a member of the first link.
std::string LinkOffers::reason_without(unsigned worker,
                                       const Joint& first) const {
  const Worker& left = workers_[worker];
  if (const LinkOffer* offer = find(worker, first.kind); offer != nullptr) {
    const std::vector<std::string> devices = devices_of(first);
    const auto other = std::find(devices.begin(), devices.end(), offer->device);
    const auto at = static_cast<size_t>(other - devices.begin());
    return "its device is that of worker " + std::to_string(first.members[at]) +
           ", too";
  }
  if (!left.why_not.empty()) return left.why_not;
  if (left.offers.empty()) return "it computes on the host";
  return "it has " + Joint{left.offers[0].kind, {}}.name() + ", and worker " +
         std::to_string(first.members[0]) + " has " + first.name();
}

std::string LinkOffers::whose_sums_are_slow(const Joint& first) const {
  Workers unasked, unlinked;
  for (unsigned w = 0; w < workers_.size(); ++w) {
    if (!workers_[w].has_fast_sums) unasked.push_back(w);
    if (!first.has(w)) unlinked.push_back(w);
  }
  if (unasked.size() == workers_.size()) return "";
  if (!unasked.empty()) {
    return "sums are not fast: " + list_of(unasked) +
           (unasked.size() == 1 ? " is" : " are") + " not asked for that";
  }
  if (first.members.size() < 2) {
    return "sums are not fast: no workers are linked";
  }
  if (unlinked.empty()) return "";
  return "sums of " + list_of(unlinked) +
         " with others are not fast, without a link";
}

std::vector<std::string> LinkOffers::news(
    const std::vector<Joint>& joints) const {
  const Joint first = joints.empty() ? Joint{} : joints[0];
  std::map<std::string, Workers> reasons;
  for (unsigned w = 0; w < workers_.size(); ++w) {
    if (first.has(w)) continue;
    const auto joint =
        std::find_if(joints.begin(), joints.end(),
                     [w](const Joint& one) { return one.has(w); });
    const bool is_alone = joint == joints.end();
    reasons[(is_alone ? ": " : " to all others: ") +
            reason_without(is_alone ? w : joint->members[0], first)]
        .push_back(w);
  }
  std::vector<std::string> news;
  for (const auto& [reason, workers] : reasons) {
    news.push_back("the values of " + list_of(workers) +
                   " cross through the host" + reason);
  }
  if (std::string slow = whose_sums_are_slow(first); !slow.empty()) {
    news.push_back(std::move(slow));
  }
  return news;
}

}  // namespace gt::exec::comm
