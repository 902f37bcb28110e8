// How a DirectLink makes its groups.
#include <algorithm>

#include "exec/comm/direct_link.h"

namespace gt::exec::comm {
namespace {

using Kind = PeerMessage::Kind;

// Returns a round as the text of a message, "0,1;2,3".
std::string text_of(const std::vector<Workers>& round) {
  std::string out;
  for (const Workers& set : round) {
    for (const unsigned w : set) out += std::to_string(w) + ",";
    out.back() = ';';
  }
  out.pop_back();
  return out;
}

bool meets(const Workers& a, const Workers& b) {
  return std::any_of(a.begin(), a.end(), [&](unsigned w) {
    return std::binary_search(b.begin(), b.end(), w);
  });
}

}  // namespace

// Splits the sets into rounds of disjoint sets. The result is the same on all
// members, since they get the same sets in the same order.
std::vector<DirectLink::Round> DirectLink::rounds_of(
    const std::vector<Workers>& sets) {
  std::vector<Round> rounds;
  for (const Workers& set : sets) {
    const bool is_linked = std::all_of(
        set.begin(), set.end(), [this](unsigned w) { return joint_.has(w); });
    if (set.size() < 2 || !is_linked || groups_.contains(set)) continue;
    auto round =
        std::find_if(rounds.begin(), rounds.end(), [&](const Round& taken) {
          return std::none_of(taken.begin(), taken.end(),
                              [&](const Workers& t) { return meets(set, t); });
        });
    if (round != rounds.end()) {
      round->push_back(set);
    } else if (done_splits_ + rounds.size() < kMostSplits) {
      rounds.push_back({set});
    } else if (!has_told_limit_) {
      has_told_limit_ = true;
      if (peers_.self() == joint_.members[0]) {
        say("sums of " + list_of(set) +
            " and of more sets of workers are not fast: each worker is in " +
            std::to_string(kMostSplits) + " links");
      }
    }
  }
  return rounds;
}

void DirectLink::split(const PeerGroup::Awaited& what,
                       const std::vector<Workers>& sets) {
  if (!is_on()) return;
  for (const Round& round : rounds_of(sets)) {
    const Status s = make_groups(what, round);
    if (!s.ok()) return break_off(s.error().message);
  }
}

// Makes the groups of a round. All members must take part, even those in none
// of its sets.
Status DirectLink::make_groups(const PeerGroup::Awaited& what,
                               const Round& round) {
  if (Status s = meet(what, text_of(round)); !s.ok()) return s;
  std::vector<unsigned> own;
  for (const Workers& set : round) {
    groups_[set] = static_cast<unsigned>(done_splits_);
    if (!std::binary_search(set.begin(), set.end(), peers_.self())) continue;
    for (const unsigned w : set) own.push_back(*joint_.index_of(w));
  }
  Status s = link_->split(own);
  if (s.ok()) s = finish(what);
  return s.ok() && !own.empty() ? try_group(what) : s;
}

// Waits until all members have reached the round.
Status DirectLink::meet(const PeerGroup::Awaited& what,
                        const std::string& round) {
  const size_t number = done_splits_++;
  tell_members(Kind::kSplit, round);
  each_other_member([&](unsigned m) {
    const PeerGroup::Awaited one{what.line, what.seq,
                                 peers_.name_of(m) + " to come to its groups"};
    (void)peers_.await(
        m, one, [&] { return !is_on() || workers_[m].splits.size() > number; });
  });
  if (!is_on()) return Error{why_};
  Status s = ok_status();
  each_other_member([&](unsigned m) {
    const std::vector<std::string>& said = workers_[m].splits;
    if (said.size() <= number) {
      s = Error{"the worker ends"};
    } else if (said[number] != round) {
      s = Error{"workers differ about who adds up with whom"};
    }
  });
  return s;
}

// Adds a few numbers, so that the group makes its connections now and not with
// its first real sum.
Status DirectLink::try_group(const PeerGroup::Awaited& what) {
  auto* data = static_cast<char*>(device_.allocate(2 * kTrial));
  if (data == nullptr) return Error{"there is no memory to try it"};
  const std::string zeros(kTrial, '\0');
  DeviceLink::Sum sum;
  sum.group = static_cast<unsigned>(done_splits_);
  sum.data = data;
  sum.result = data + kTrial;
  sum.count = kTrial / static_cast<size_t>(size_of(sum.dtype));
  Status s = device_.upload(zeros.data(), data, kTrial);
  if (s.ok()) s = link_->add(sum);
  if (s.ok()) s = finish(what);
  device_.release(data, 2 * kTrial);
  return s;
}

std::optional<unsigned> DirectLink::group_of(const Workers& workers) const {
  if (!is_on() || !peers_.has_fast_sums() || !link_->adds()) {
    return std::nullopt;
  }
  const auto it = groups_.find(workers);
  if (it == groups_.end()) return std::nullopt;
  return it->second;
}

}  // namespace gt::exec::comm
