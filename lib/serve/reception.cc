#include "serve/reception.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/message.h"
#include "base/printable.h"
#include "base/text.h"
#include "stream/line.h"

namespace gt::serve {
namespace {

using net::Message;
using net::MessageWriter;
using net::Verb;

constexpr int64_t kJudge = 20;            // ms between looks for silent clients
constexpr int64_t kRefusalsApart = 1000;  // ms between events about refusals
constexpr size_t kMostName = 256;         // bytes in the name of an input

// The most messages of a client with a name that are taken before it is told
// so: the client keeps them until then, in case its connection ends.
constexpr uint64_t kMostUntold = 64;
constexpr size_t kMostFarewells = 256;

}  // namespace

Reception::Reception(ReceptionOptions options, int64_t now)
    : options_(std::move(options)),
      now_(now),
      next_beat_(now + options_.timing.beat),
      judged_(now) {}

void Reception::put(const std::string& peer, std::string message) {
  outgoing_.push_back({peer, net::Frame(std::move(message))});
}

ReceptionEvent& Reception::tell(ReceptionEvent::Kind kind, ClientId client) {
  ReceptionEvent& event = events_.emplace_back();
  event.kind = kind;
  event.client = client;
  return event;
}

// ---- what comes -------------------------------------------------------------

void Reception::receive(const std::string& peer, net::Frame frame, int64_t now,
                        const std::string& key) {
  now_ = now;
  Seat* seat = seats_.find(peer);
  if (seat == nullptr) {
    const auto hello = net::parse_message(frame.bytes());
    if (hello.ok()) take_hello(peer, hello.value(), now, key);
    return;
  }
  seat->since = now;
  auto letter = net::read_letter(std::move(frame));
  // A client with a name that heard nothing for a while asks by a hello whether
  // it is still here.
  if (letter.ok() && letter.value().message.verb == Verb::kHello &&
      !seat->name.empty()) {
    return take_hello(peer, letter.value().message, now, key);
  }
  Status taken = letter.ok() ? take(*seat, letter.value().message)
                             : Status(letter.error());
  if (!taken.ok()) return lose(*seat, taken.error().message, true, true);
  const Verb verb = letter.value().message.verb;
  if (verb == Verb::kBeat) return;
  const auto kind = verb == Verb::kBye ? ReceptionEvent::Kind::kLeft
                                       : ReceptionEvent::Kind::kMessage;
  tell(kind, seat->client).letter = std::move(letter.value());
}

Status Reception::take(Seat& from, const Message& message) {
  switch (message.verb) {
    case Verb::kBeat:
    case Verb::kBye:
      return ok_status();
    case Verb::kTaken: {
      net::NumberReader numbers(message);
      (void)numbers.need("bytes");
      (void)numbers.need("reports");
      return numbers.status();
    }
    case Verb::kText:
      from.text += message.body.size();
      if (from.text > from.room) {
        return Error{"it sent more text than there was room for"};
      }
      [[fallthrough]];
    case Verb::kInput:
    case Verb::kEnd:
      if (from.has_ended) return Error{"it sent more behind its end"};
      from.has_ended = message.verb == Verb::kEnd;
      if (net::text(message, "name").size() > kMostName) {
        return Error{"the name of an input is too long"};
      }
      ++from.said;
      if (from.has_ended) tell_room(from);
      return ok_status();
    default:
      return Error{"a client says no " + std::string(name_of(message.verb))};
  }
}

// Other messages than a hello are from a connection that was given up, and are
// ignored.
void Reception::take_hello(const std::string& peer, const Message& hello,
                           int64_t now, const std::string& key) {
  if (hello.verb != Verb::kHello) return;
  auto guest = read_guest(hello, options_.table);
  if (!guest.ok()) return refuse(peer, guest.error().message, now);
  if (!closed_.empty()) return refuse(peer, closed_, now);
  if (options_.users) {
    const auto user = options_.users->find(key);
    guest.value().user = user == options_.users->end() ? "" : user->second.user;
  }
  guest.value().key = key;
  if (guest.value().attaches) return come_back(peer, guest.value(), now);
  admit(peer, guest.value(), now);
}

void Reception::admit(const std::string& peer, const Guest& guest,
                      int64_t now) {
  std::string why;
  if (seats_.size() >= options_.most) {
    why = std::to_string(options_.most) +
          " clients are here already, which is the most";
  } else if (seats_.count(guest.owner()) >= options_.most_of_user) {
    why = std::to_string(options_.most_of_user) +
          " clients of this user are here already, which is the most; one that "
          "is away counts until somebody comes back to it and ends it";
  } else if (!guest.name.empty() && options_.keep == 0) {
    why = "it keeps no clients that are away (--keep 0)";
  } else if (!guest.name.empty() &&
             seats_.find(guest.owner(), guest.name) != nullptr) {
    why = "'" + guest.name + "' is here already; --attach " + guest.name +
          " comes back to it";
  }
  if (!why.empty()) return refuse(peer, why, now);
  Seat& seat = seats_.add(peer, guest);
  seat.room = options_.window;
  welcome(seat, guest, now, false);
}

void Reception::come_back(const std::string& peer, const Guest& guest,
                          int64_t now) {
  Seat* seat = seats_.find(guest.owner(), guest.name);
  if (seat == nullptr) {
    if (say_farewell(peer, guest)) return;
    std::string names;
    for (const std::string& name : seats_.names(guest.owner())) {
      names += (names.empty() ? "; there is " : ", ") + name;
    }
    return refuse(peer, "nobody is kept as '" + guest.name + "'" + names, now);
  }
  const bool goes_on = guest.visit != 0;
  if (goes_on && guest.visit != seat->visit) {
    return refuse(
        peer, "somebody else has come back to '" + guest.name + "' meanwhile",
        now);
  }
  if (!goes_on) {
    if (!seat->peer.empty()) {
      say_bye(seat->peer, Exit::kLost,
              "somebody else has come back to '" + guest.name + "'");
    }
    ++seat->visit;
    seat->has_ended = false;
    seat->said = 0;
    seat->before += seat->text;
    seat->room -= std::exchange(seat->text, 0);
  }
  seats_.move(*seat, peer);
  welcome(*seat, guest, now, true);
}

void Reception::welcome(Seat& seat, const Guest& guest, int64_t now,
                        bool is_back) {
  seat.since = now;
  seat.said_told = seat.said;
  MessageWriter message(Verb::kWelcome);
  message.field("name", "c" + std::to_string(seat.client))
      .field("visit", seat.visit)
      .field("said", seat.said)
      .field("room", seat.room)
      .field("keep",
             static_cast<uint64_t>(seat.name.empty() ? 0 : options_.keep));
  put(seat.peer, message.finish());
  tell(is_back ? ReceptionEvent::Kind::kBack : ReceptionEvent::Kind::kCame,
       seat.client)
      .guest = guest;
}

// Repeats the last message to a visit that lost its connection and may not have
// received it. Returns false if there was none.
bool Reception::say_farewell(const std::string& peer, const Guest& guest) {
  for (const Farewell& farewell : farewells_) {
    if (guest.visit != 0 && farewell.visit == guest.visit &&
        farewell.owner == guest.owner() && farewell.name == guest.name) {
      say_bye(peer, farewell.status, "");
      return true;
    }
  }
  return false;
}

void Reception::refuse(const std::string& peer, const std::string& why,
                       int64_t now) {
  put(peer, MessageWriter(Verb::kRefuse).finish(why));
  tell_refusal("a client is not taken: " + why, now);
}

void Reception::distrust(const std::string& peer, const std::string& why,
                         int64_t now) {
  // The client sent this before it received our last message.
  if (leaving_.contains(peer)) return;
  refuse(peer,
         why +
             "; without keys only the clients of one user are taken (--key "
             "and --allow, or --insecure, admit others)",
         now);
}

void Reception::turned_away(const std::string& who, int64_t now) {
  tell_refusal(
      "a client with key " + who + " is not one of those to be admitted", now);
}

void Reception::tell_refusal(const std::string& why, int64_t now) {
  if (refused_at_ && now - *refused_at_ < kRefusalsApart) return;
  refused_at_ = now;
  tell(ReceptionEvent::Kind::kRefused, 0).why = printable(why);
}

void Reception::link_ended(const std::string& peer) {
  leaving_.erase(peer);
  if (Seat* seat = seats_.find(peer)) {
    lose(*seat, "its connection ended", false, false);
  }
}

void Reception::undelivered(const std::string& peer) {
  if (Seat* seat = seats_.find(peer)) {
    lose(*seat, "what is for it cannot be delivered", false, false);
  }
}

// Gives up the connection, and the client with it, unless it has a name and not
// `for_good`.
void Reception::lose(Seat& seat, const std::string& why, bool tells,
                     bool for_good) {
  const ClientId client = seat.client;
  const bool is_kept = !for_good && !seat.name.empty();
  if (tells && !seat.peer.empty()) {
    say_bye(seat.peer, Exit::kLost, why, is_kept);
  }
  if (is_kept) {
    seats_.leave(seat, now_);
  } else {
    seats_.remove(client);
  }
  tell(is_kept ? ReceptionEvent::Kind::kAway : ReceptionEvent::Kind::kGone,
       client)
      .why = printable(why);
}

void Reception::set_users(std::map<std::string, net::KeyHolder> users) {
  std::vector<Seat*> gone;
  seats_.each([&](Seat& seat) {
    if (!users.contains(seat.key)) gone.push_back(&seat);
  });
  options_.users = std::move(users);
  for (Seat* seat : gone) {
    lose(*seat, "its key is no longer one of those to be admitted", true, true);
  }
}

// ---- what goes --------------------------------------------------------------

void Reception::open(ClientId client) {
  if (Seat* seat = seats_.find(client)) seat->is_open = !seat->peer.empty();
}

void Reception::send(ClientId client, std::string message) {
  const Seat* seat = seats_.find(client);
  if (seat != nullptr && seat->is_open) put(seat->peer, std::move(message));
}

void Reception::make_room(ClientId client, uint64_t bytes_read) {
  Seat* seat = seats_.find(client);
  if (seat == nullptr || seat->peer.empty()) return;
  const uint64_t room = bytes_read + options_.window - seat->before;
  // The client is told when it is worth a message.
  const bool is_much = room - seat->room >= options_.window / 4;
  if (!is_much && seat->said - seat->said_told < kMostUntold) return;
  seat->room = room;
  tell_room(*seat);
}

void Reception::tell_room(Seat& seat) {
  seat.said_told = seat.said;
  MessageWriter message(Verb::kRoom);
  put(seat.peer,
      message.field("bytes", seat.room).field("said", seat.said).finish());
}

void Reception::say_bye(const std::string& peer, Exit status,
                        std::string_view why, bool is_kept) {
  MessageWriter message(Verb::kBye);
  message.field("status", static_cast<uint64_t>(status));
  if (is_kept) message.field("kept", uint64_t{1});
  put(peer, message.finish(net::words(why)));
  if (!is_kept) leaving_.insert(peer);
}

void Reception::bye(ClientId client, Exit status, std::string_view why) {
  Seat* seat = seats_.find(client);
  if (seat == nullptr) return;
  if (!seat->peer.empty()) say_bye(seat->peer, status, why);
  if (!seat->name.empty() && why.empty()) {
    farewells_.push_back({seat->owner, seat->name, seat->visit, status, now_});
    if (farewells_.size() > kMostFarewells) farewells_.pop_front();
  }
  seats_.remove(client);
}

void Reception::part(ClientId client, Exit status) {
  Seat* seat = seats_.find(client);
  if (seat == nullptr || seat->peer.empty()) return;
  say_bye(seat->peer, status, "");
  seats_.leave(*seat, now_);
}

// ---- time -------------------------------------------------------------------

void Reception::tick(int64_t now, bool all_read) {
  now_ = now;
  if (all_read && now - judged_ >= kJudge) judge(now);
  if (now < next_beat_) return;
  next_beat_ = now + options_.timing.beat;
  const net::Frame beat(MessageWriter(Verb::kBeat).finish());
  seats_.each([&](Seat& seat) {
    if (!seat.peer.empty()) outgoing_.push_back({seat.peer, beat});
  });
  while (!farewells_.empty() && now - farewells_[0].since >= options_.keep) {
    farewells_.pop_front();
  }
}

void Reception::judge(int64_t now) {
  const int64_t excused =
      options_.timing.excused(now - std::exchange(judged_, now));
  std::vector<Seat*> late;
  seats_.each([&](Seat& seat) {
    seat.since = std::min(seat.since + excused, now);
    const int64_t limit =
        seat.peer.empty() ? options_.keep : options_.timing.lost;
    if (now - seat.since >= limit) late.push_back(&seat);
  });
  for (Seat* seat : late) {
    if (seat->peer.empty()) {
      lose(*seat,
           "nobody came back to '" + seat->name + "' within " +
               seconds_text(options_.keep),
           false, true);
    } else {
      lose(*seat,
           "nothing was heard of it for " + seconds_text(options_.timing.lost),
           true, false);
    }
  }
}

}  // namespace gt::serve
