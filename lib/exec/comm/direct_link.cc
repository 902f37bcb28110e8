#include "exec/comm/direct_link.h"

#include <algorithm>

#include "base/text.h"

namespace gt::exec::comm {
namespace {

using Kind = PeerMessage::Kind;
using std::chrono::milliseconds;

// How long a worker that is done waits for others to be.
constexpr milliseconds kLeave{5000};

}  // namespace

// ---- who the members are ----------------------------------------------------

void DirectLink::add_to(PeerMessage& hello) {
  Worker& own = workers_[peers_.self()];
  auto made = device_.make_link();
  if (made.ok() && made.value() != nullptr) {
    link_ = std::move(made.value());
    own.kind = link_->kind();
    own.device = link_->device();
  } else if (!made.ok()) {
    own.why_none = made.error().message;
  }
  hello.link_kind = own.kind;
  hello.device = own.device;
  own.has_fast_sums = peers_.has_fast_sums();
  hello.has_fast_sums = own.has_fast_sums;
  hello.body = own.why_none;
}

void DirectLink::choose_members() {
  const Worker* first = nullptr;
  for (unsigned w = 0; w < workers_.size(); ++w) {
    const Worker& worker = workers_[w];
    if (worker.kind.empty()) continue;
    if (first == nullptr) first = &worker;
    const bool is_taken = std::any_of(
        members_.begin(), members_.end(),
        [&](unsigned m) { return workers_[m].device == worker.device; });
    if (worker.kind == first->kind && !is_taken) members_.push_back(w);
  }
}

std::optional<unsigned> DirectLink::index_of(unsigned worker) const {
  const auto it = std::lower_bound(members_.begin(), members_.end(), worker);
  if (it == members_.end() || *it != worker) return std::nullopt;
  return static_cast<unsigned>(it - members_.begin());
}

// Why the worker is no member; "" if it is one.
std::string DirectLink::reason_without(unsigned worker) const {
  const Worker& left = workers_[worker];
  if (index_of(worker)) return "";
  if (!left.why_none.empty()) return left.why_none;
  if (left.kind.empty()) return "it computes on the host";
  for (const unsigned m : members_) {
    if (workers_[m].device == left.device) {
      return "its device is that of worker " + std::to_string(m) + ", too";
    }
  }
  return "it has " + left.kind + ", and worker " + std::to_string(members_[0]) +
         " has " + workers_[members_[0]].kind;
}

// Said by the first worker that could have a link, so once.
void DirectLink::tell_who_is_left_out() const {
  const auto first =
      std::find_if(workers_.begin(), workers_.end(), [](const Worker& worker) {
        return !worker.kind.empty() || !worker.why_none.empty();
      });
  if (first - workers_.begin() != peers_.self()) return;
  std::map<std::string, std::vector<unsigned>> reasons;
  for (unsigned w = 0; w < workers_.size(); ++w) {
    const std::string reason = reason_without(w);
    if (!reason.empty()) reasons[reason].push_back(w);
  }
  for (const auto& [reason, workers] : reasons) {
    say("the values of " + list_of(workers) +
        " cross through the host: " + reason);
  }
  tell_whose_sums_are_slow();
}

void DirectLink::tell_whose_sums_are_slow() const {
  Workers unasked, unlinked;
  for (unsigned w = 0; w < workers_.size(); ++w) {
    if (!workers_[w].has_fast_sums) unasked.push_back(w);
    if (!index_of(w)) unlinked.push_back(w);
  }
  if (unasked.size() == workers_.size()) return;
  if (!unasked.empty()) {
    say("sums are not fast: " + list_of(unasked) +
        (unasked.size() == 1 ? " is" : " are") + " not asked for that");
  } else if (members_.size() < 2) {
    say("sums are not fast: no workers are linked");
  } else if (!unlinked.empty()) {
    say("sums of " + list_of(unlinked) +
        " with others are not fast, without a link");
  }
}

// ---- joining ----------------------------------------------------------------

void DirectLink::tell_members(Kind kind, std::string_view body) {
  PeerMessage message;
  message.kind = kind;
  message.body = body.substr(0, kMaxData);
  each_other_member([&](unsigned m) { peers_.send(m, message); });
}

void DirectLink::connect() {
  choose_members();
  tell_who_is_left_out();
  if (members_.size() < 2 || !index_of(peers_.self())) return;
  state_ = State::kJoining;
  const Status joined = join();
  if (!joined.ok()) return break_off(joined.error().message);
  tell_members(Kind::kLinked, "");
  each_other_member([this](unsigned m) {
    const PeerGroup::Awaited what{0, 0, peers_.name_of(m) + " to be linked"};
    (void)peers_.await(m, what,
                       [&] { return workers_[m].is_linked || !why_.empty(); });
  });
  if (state_ != State::kJoining || peers_.is_aborted()) return;
  state_ = State::kOn;
  groups_[members_] = 0;
  splits_ = members_.size() > 2 &&
            std::all_of(members_.begin(), members_.end(), [this](unsigned m) {
              return workers_[m].has_fast_sums;
            });
}

Status DirectLink::join() {
  const auto id = agree_on_id();
  if (!id.ok()) return id.error();
  Status s = link_->join(id.value(), static_cast<unsigned>(members_.size()),
                         *index_of(peers_.self()));
  if (s.ok()) s = finish({0, 0, list_of(members_) + " to join a link"});
  return s.ok() ? try_out() : s;
}

Result<std::string> DirectLink::agree_on_id() {
  const unsigned first = members_[0];
  if (first == peers_.self()) {
    auto id = link_->make_id();
    if (!id.ok()) return id.error();
    PeerMessage message;
    message.kind = Kind::kLink;
    message.link = id.value();
    each_other_member([&](unsigned m) { peers_.send(m, message); });
    return id;
  }
  const Fault fault =
      peers_.await(first, {0, 0, "to hear how devices are linked"},
                   [this] { return !id_.empty() || state_ == State::kOff; });
  if (fault != nullptr) return Error{*fault};
  if (state_ == State::kOff) return Error{why_};
  return id_;
}

// Connections are made now, not by the first value that crosses.
Status DirectLink::try_out() {
  const size_t bytes = 2 * kTrial * members_.size();
  auto* data = static_cast<char*>(device_.allocate(bytes));
  if (data == nullptr) return Error{"there is no memory to try it"};
  std::vector<Move> sends, receives;
  each_other_member([&](unsigned m) {
    const size_t at = 2 * kTrial * *index_of(m);
    sends.push_back({m, data + at, kTrial});
    receives.push_back({m, data + at + kTrial, kTrial});
  });
  const std::string zeros(bytes, '\0');
  Status s = device_.upload(zeros.data(), data, bytes);
  if (s.ok()) s = begin(sends, receives);
  if (s.ok()) s = finish({0, 0, list_of(members_) + " to try a link"});
  device_.release(data, bytes);
  return s;
}

// ---- moving -----------------------------------------------------------------

Status DirectLink::begin(const std::vector<Move>& sends,
                         const std::vector<Move>& receives) {
  const auto by_member = [this](const std::vector<Move>& moves) {
    std::vector<DeviceLink::Move> out;
    for (const Move& m : moves) {
      out.push_back({*index_of(m.worker), m.data, m.bytes});
    }
    return out;
  };
  return link_->move(by_member(sends), by_member(receives));
}

// Waits for what the link has begun.
Status DirectLink::finish(const PeerGroup::Awaited& what) {
  const auto end = PeerGroup::Clock::now() + peers_.patience();
  Status status = Error{"the worker ends"};
  peers_.await_device(what, [&] {
    if (state_ == State::kOff) {
      status = Error{why_};
      return true;
    }
    const auto done = link_->is_done();
    if (done.ok() && !done.value() && PeerGroup::Clock::now() < end) {
      return false;
    }
    if (!done.ok()) {
      status = done.error();
    } else if (done.value()) {
      status = ok_status();
    } else {
      status = Error{workers_[peers_.self()].kind + " has done nothing for " +
                     seconds_text(peers_.patience().count())};
    }
    return true;
  });
  return status;
}

bool DirectLink::move(const PeerGroup::Awaited& what,
                      const std::vector<Move>& sends,
                      const std::vector<Move>& receives) {
  Status s = begin(sends, receives);
  if (s.ok()) s = finish(what);
  if (!s.ok()) break_off(s.error().message);
  return s.ok();
}

Status DirectLink::add(const PeerGroup::Awaited& what,
                       const DeviceLink::Sum& sum) {
  Status s = link_->add(sum);
  if (s.ok()) s = finish(what);
  if (!s.ok()) break_off(s.error().message);
  return s;
}

// ---- its end ----------------------------------------------------------------

// The first member says it, so once; and what has no text people know anyway.
void DirectLink::end(const std::string& why) {
  const bool is_told = is_used() && !why.empty() && !peers_.is_aborted() &&
                       peers_.self() == members_[0];
  if (is_told) {
    say(std::string("devices are ") +
        (state_ == State::kOn ? "linked no more" : "not linked") +
        ", so values cross through the host: " + why);
  }
  state_ = State::kOff;
  why_ = why.empty() ? "a worker is lost" : why;
  link_->cancel();
}

void DirectLink::break_off(const std::string& why) {
  if (state_ == State::kNone || state_ == State::kOff) return;
  end(why);
  tell_members(Kind::kUnlinked, why);
}

void DirectLink::take_loss(unsigned worker) {
  if (is_used() && index_of(worker)) break_off("");
}

Status DirectLink::take(unsigned from, const PeerMessage& message) {
  Worker& other = workers_[from];
  switch (message.kind) {
    case Kind::kHello:
      other.kind = message.link_kind;
      other.device = message.device;
      other.why_none = message.body;
      other.has_fast_sums = message.has_fast_sums;
      return ok_status();
    case Kind::kLink:
      id_ = message.link;
      return ok_status();
    case Kind::kLinked:
      other.is_linked = true;
      return ok_status();
    case Kind::kSplit:
      if (other.splits.size() == kMostSplits) {
        return Error{"it makes too many groups"};
      }
      other.splits.emplace_back(message.body);
      return ok_status();
    case Kind::kLeaving:
      other.is_leaving = true;
      return ok_status();
    default:
      break;
  }
  other.is_linked = false;
  if (is_used()) break_off(std::string(message.body));
  return ok_status();
}

void DirectLink::leave() {
  if (state_ != State::kOn) {
    if (state_ == State::kJoining) end("the worker ends");
    return;
  }
  state_ = State::kLeaving;
  tell_members(Kind::kLeaving, "");
  const auto last = PeerGroup::Clock::now() + kLeave;
  const auto is_waited_for = [this](unsigned m) {
    return m != peers_.self() && !workers_[m].is_leaving &&
           workers_[m].is_linked.value_or(false) && peers_.loss(m) == nullptr;
  };
  const auto all_leave = [&] {
    return std::none_of(members_.begin(), members_.end(), is_waited_for);
  };
  while (!all_leave() && PeerGroup::Clock::now() < last) {
    peers_.listen_for(milliseconds(20));
  }
  const bool is_whole =
      std::all_of(members_.begin(), members_.end(), [this](unsigned m) {
        return m == peers_.self() || workers_[m].is_leaving;
      });
  if (!is_whole || !link_->leave().ok()) return break_off("a worker has left");
  for (auto done = link_->is_done(); PeerGroup::Clock::now() < last;
       done = link_->is_done()) {
    if (!done.ok() || done.value()) break;
    peers_.listen_for(milliseconds(1));
  }
  end("the worker ends");
}

void DirectLink::say(const std::string& line) const {
  if (say_) say_(line);
}

}  // namespace gt::exec::comm
