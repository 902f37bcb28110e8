#include "exec/comm/direct_link.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/text.h"

namespace gt::exec::comm {
namespace {

using Kind = PeerMessage::Kind;
using std::chrono::milliseconds;

// How long a worker that leaves waits for the others to leave.
constexpr milliseconds kLeave{5000};

}  // namespace

// ---- who the members are ----------------------------------------------------

void DirectLink::add_to(PeerMessage& hello) {
  std::vector<LinkOffer> offers;
  std::string why_not;
  for (auto& made : device_.make_links()) {
    if (made.ok()) {
      offers.push_back({made.value()->kind(), made.value()->device()});
      links_.push_back(std::move(made.value()));
    } else if (why_not.empty()) {
      why_not = made.error().message;
    }
  }
  offers_.set(peers_.self(), std::move(offers), std::move(why_not),
              peers_.has_fast_sums());
  offers_.add_to(peers_.self(), hello);
}

// Chooses the link among these workers of which this one is a member. False if
// there is none.
bool DirectLink::choose(const Workers& workers) {
  for (Joint& joint : offers_.joints_of(workers)) {
    if (!joint.has(peers_.self()) || joint.members.size() < 2) continue;
    joint_ = std::move(joint);
    link_ = std::find_if(links_.begin(), links_.end(), [this](const auto& own) {
              return own->kind() == joint_.kind;
            })->get();
    return true;
  }
  joint_ = {};
  link_ = nullptr;
  return false;
}

// ---- joining ----------------------------------------------------------------

void DirectLink::tell_members(Kind kind, std::string_view body) {
  PeerMessage message;
  message.kind = kind;
  message.body = body.substr(0, kMaxData);
  each_other_member([&](unsigned m) { peers_.send(m, message); });
}

void DirectLink::connect() {
  Workers workers(workers_.size());
  std::iota(workers.begin(), workers.end(), 0U);
  if (offers_.teller() == peers_.self()) {
    const auto news = offers_.news(offers_.joints_of(workers));
    for (const std::string& line : news) say(line);
  }
  Joint failed;  // the first attempt, if it failed and this worker reports that
  std::string why;
  for (; choose(workers); ++attempt_) {
    try_to_link();
    if (is_on() || peers_.is_aborted()) break;
    if (attempt_ == 0 && peers_.self() == joint_.members[0] && !why_.empty()) {
      failed = joint_;
      why = why_;
    }
    await_ends();
    workers = joint_.members;
    offers_.withdraw(joint_);
  }
  std::erase_if(links_,
                [this](const auto& link) { return link.get() != link_; });
  if (why.empty() || peers_.is_aborted()) return;
  say("devices are " +
      (is_on() ? "linked by " + joint_.name() + ", not by " + failed.name()
               : "not linked, so values cross through the host") +
      ": " + why);
}

bool DirectLink::has_ended(unsigned worker) const {
  return workers_[worker].ended > attempt_ || peers_.loss(worker) != nullptr;
}

void DirectLink::try_to_link() {
  state_ = State::kJoining;
  why_.clear();
  each_other_member([this](unsigned m) {
    if (has_ended(m)) break_off(workers_[m].why_ended);
  });
  if (state_ == State::kOff) return;
  if (const Status s = join(); !s.ok()) return break_off(s.error().message);
  tell_members(Kind::kLinked, "");
  each_other_member([this](unsigned m) {
    const PeerGroup::Awaited what{0, 0, peers_.name_of(m) + " to be linked"};
    (void)peers_.await(m, what, [&] {
      return workers_[m].is_linked || state_ == State::kOff;
    });
  });
  if (state_ != State::kJoining || peers_.is_aborted()) return;
  state_ = State::kOn;
  groups_[joint_.members] = 0;
  const bool is_fast = offers_.all_have_fast_sums(joint_.members);
  splits_ = joint_.members.size() > 2 && is_fast && link_->adds();
  if (is_fast && !link_->adds() && peers_.self() == joint_.members[0]) {
    say("sums of " + list_of(joint_.members) +
        " are not fast: " + joint_.name() + " add nothing up");
  }
}

// Waits until all members know that the link has ended; later messages of
// theirs are about the next one.
void DirectLink::await_ends() {
  each_other_member([this](unsigned m) {
    const PeerGroup::Awaited what{0, 0, peers_.name_of(m) + " to be unlinked"};
    (void)peers_.await(m, what, [&] { return has_ended(m); });
  });
}

Status DirectLink::join() {
  const auto id = agree_on_id();
  if (!id.ok()) return id.error();
  Status s = link_->join(id.value(), offers_.devices_of(joint_),
                         *joint_.index_of(peers_.self()));
  if (s.ok()) s = finish({0, 0, list_of(joint_.members) + " to join a link"});
  return s.ok() ? try_out() : s;
}

Result<std::string> DirectLink::agree_on_id() {
  const unsigned first = joint_.members[0];
  const std::string& id = workers_[first].id;
  if (first == peers_.self()) {
    auto made = link_->make_id();
    if (!made.ok()) return made.error();
    PeerMessage message;
    message.kind = Kind::kLink;
    message.link = made.value();
    each_other_member([&](unsigned m) { peers_.send(m, message); });
    return made;
  }
  const Fault fault =
      peers_.await(first, {0, 0, "to hear how devices are linked"},
                   [&] { return !id.empty() || state_ == State::kOff; });
  if (fault != nullptr) return Error{*fault};
  if (state_ == State::kOff) return why_off();
  return id;
}

// Sends a few bytes between all members, so that the link makes its connections
// now and not when the first value crosses.
Status DirectLink::try_out() {
  const size_t bytes = 2 * kTrial * joint_.members.size();
  auto* data = static_cast<char*>(device_.allocate(bytes));
  if (data == nullptr) return Error{"there is no memory to try it"};
  std::vector<Move> sends, receives;
  each_other_member([&](unsigned m) {
    const size_t at = 2 * kTrial * *joint_.index_of(m);
    sends.push_back({m, data + at, kTrial});
    receives.push_back({m, data + at + kTrial, kTrial});
  });
  const std::string zeros(bytes, '\0');
  Status s = device_.upload(zeros.data(), data, bytes);
  if (s.ok()) s = begin(sends, receives);
  if (s.ok()) s = finish({0, 0, list_of(joint_.members) + " to try a link"});
  device_.release(data, bytes);
  return s;
}

// ---- moving -----------------------------------------------------------------

Status DirectLink::begin(const std::vector<Move>& sends,
                         const std::vector<Move>& receives) {
  const auto by_member = [this](const std::vector<Move>& moves) {
    std::vector<DeviceLink::Move> out;
    for (const Move& m : moves) {
      out.push_back({*joint_.index_of(m.worker), m.data, m.bytes});
    }
    return out;
  };
  return link_->move(by_member(sends), by_member(receives));
}

// Waits until the link's operation is done.
Status DirectLink::finish(const PeerGroup::Awaited& what) {
  using Look = PeerGroup::Look;
  auto end = PeerGroup::Clock::now() + peers_.patience();
  uint64_t progress = link_->progress();
  Status status = Error{"the worker ends"};
  peers_.await_device(what, [&] {
    if (state_ == State::kOff) {
      status = why_off();
      return Look::kDone;
    }
    const auto done = link_->is_done();
    const uint64_t before = std::exchange(progress, link_->progress());
    if (!done.ok()) {
      status = done.error();
    } else if (done.value()) {
      status = ok_status();
    } else if (progress != before) {
      end = PeerGroup::Clock::now() + peers_.patience();
      return Look::kMoved;
    } else if (PeerGroup::Clock::now() < end) {
      return Look::kStill;
    } else {
      status = Error{joint_.name() + ": nothing was done for " +
                     seconds_text(peers_.patience().count())};
    }
    return Look::kDone;
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

// Ends the link and tells people why. Only the first member tells, so that it
// is told once. Nothing is told if `why` is empty, since then a worker was
// lost, which is reported anyway, nor while members still join, since connect()
// tells how that went.
void DirectLink::end(const std::string& why) {
  const bool is_told = is_on() && !why.empty() && !peers_.is_aborted() &&
                       peers_.self() == joint_.members[0];
  if (is_told) {
    say("devices are linked no more, so values cross through the host: " + why);
  }
  state_ = State::kOff;
  why_ = why;
  link_->cancel();
}

Error DirectLink::why_off() const {
  return Error{why_.empty() ? "a worker is lost" : why_};
}

void DirectLink::break_off(const std::string& why) {
  if (state_ == State::kNone || state_ == State::kOff) return;
  end(why);
  tell_members(Kind::kUnlinked, why);
}

void DirectLink::take_loss(unsigned worker) {
  if (is_used() && joint_.has(worker)) break_off("");
}

Status DirectLink::take(unsigned from, const PeerMessage& message) {
  Worker& other = workers_[from];
  switch (message.kind) {
    case Kind::kHello:
      return offers_.take(from, message);
    case Kind::kLink:
      other.id = message.link;
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
  ++other.ended;
  other.is_linked = false;
  other.id.clear();
  other.why_ended = message.body;
  if (is_used() && joint_.has(from) && has_ended(from)) {
    break_off(other.why_ended);
  }
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
           workers_[m].is_linked && peers_.loss(m) == nullptr;
  };
  const auto all_leave = [&] {
    return std::none_of(joint_.members.begin(), joint_.members.end(),
                        is_waited_for);
  };
  while (!all_leave() && PeerGroup::Clock::now() < last) {
    peers_.listen_for(milliseconds(20));
  }
  const bool is_whole = std::all_of(
      joint_.members.begin(), joint_.members.end(), [this](unsigned m) {
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
