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

constexpr int64_t kJudge = 20;            // ms between looks at who is silent
constexpr int64_t kRefusalsApart = 1000;  // ms between events of refusals
constexpr size_t kMostName = 256;         // bytes of an input's name

// A user's name is a word of a path.
bool is_user(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name[0] != '.' &&
         is_name(name) && name.find('/') == std::string_view::npos;
}

Result<Guest> read_guest(const Message& hello, const std::string& table) {
  const auto version = net::number(hello, "version");
  if (!version.ok()) return version.error();
  if (version.value() != net::kWireVersion ||
      net::text(hello, "table") != table) {
    return Error{
        "it is of another version of gt; install the same gt on both sides"};
  }
  net::NumberReader numbers(hello);
  Guest guest;
  guest.user = net::text(hello, "user");
  guest.seed = static_cast<int64_t>(numbers.find("seed"));
  guest.history = numbers.find("history", 1'000'000);
  guest.fails_fast = numbers.find("fail_fast") != 0;
  guest.replays = numbers.find("replay", 1) != 0;
  if (!numbers.status().ok()) return numbers.status().error();
  if (!is_user(guest.user)) {
    return Error{"'" + excerpt(guest.user) + "' is no name for a user"};
  }
  return guest;
}

}  // namespace

Reception::Reception(ReceptionOptions options, int64_t now)
    : options_(std::move(options)),
      next_beat_(now + options_.timing.beat),
      judged_(now) {}

void Reception::put(const std::string& peer, std::string message) {
  outgoing_.push_back({peer, net::Frame(std::move(message))});
}

// ---- what comes -------------------------------------------------------------

void Reception::receive(const std::string& peer, net::Frame frame, int64_t now,
                        const std::string& key) {
  const auto known = peers_.find(peer);
  if (known == peers_.end()) return take_hello(peer, frame, now, key);
  known->second.heard = now;
  auto letter = net::read_letter(std::move(frame));
  Status taken = letter.ok() ? take(known->second, letter.value().message)
                             : Status(letter.error());
  if (!taken.ok()) return lose(peer, taken.error().message, true);
  if (letter.value().message.verb == Verb::kBeat) return;
  ReceptionEvent& event = events_.emplace_back();
  event.client = known->second.client;
  event.letter = std::move(letter.value());
}

Status Reception::take(Peer& from, const Message& message) {
  switch (message.verb) {
    case Verb::kBeat:
      return ok_status();
    case Verb::kTaken: {
      const auto bytes = net::number(message, "bytes");
      return bytes.ok() ? ok_status() : Status(bytes.error());
    }
    case Verb::kText:
      from.sent += message.body.size();
      if (from.sent > from.room) {
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
      return ok_status();
    default:
      return Error{"a client says no " + std::string(name_of(message.verb))};
  }
}

void Reception::take_hello(const std::string& peer, const net::Frame& frame,
                           int64_t now, const std::string& key) {
  const auto hello = net::parse_message(frame.bytes());
  if (!hello.ok() || hello.value().verb != Verb::kHello) return;
  auto guest = read_guest(hello.value(), options_.table);
  if (!guest.ok()) return refuse(peer, guest.error().message, now);
  if (!closed_.empty()) return refuse(peer, closed_, now);
  if (peers_.size() >= options_.most) {
    return refuse(peer,
                  std::to_string(options_.most) +
                      " clients are here already, which is the most",
                  now);
  }
  if (options_.users) {
    const auto user = options_.users->find(key);
    guest.value().user = user == options_.users->end() ? "" : user->second;
    if (!guest.value().user.empty() && !is_user(guest.value().user)) {
      return refuse(peer, "the name of its key's user is no name", now);
    }
  }
  guest.value().key = key;
  Peer& taken = peers_[peer];
  taken.client = ++last_;
  taken.key = key;
  taken.heard = now;
  ids_[taken.client] = peer;
  MessageWriter welcome(Verb::kWelcome);
  welcome.field("name", "c" + std::to_string(taken.client));
  put(peer, welcome.finish());
  ReceptionEvent& event = events_.emplace_back();
  event.kind = ReceptionEvent::Kind::kCame;
  event.client = taken.client;
  event.guest = std::move(guest.value());
  make_room(taken.client, 0);
}

void Reception::refuse(const std::string& peer, const std::string& why,
                       int64_t now) {
  put(peer, MessageWriter(Verb::kRefuse).finish(why));
  tell_refusal("a client is not taken: " + why, now);
}

void Reception::distrust(const std::string& peer, const std::string& why,
                         int64_t now) {
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
  ReceptionEvent& event = events_.emplace_back();
  event.kind = ReceptionEvent::Kind::kRefused;
  event.why = printable(why);
}

void Reception::link_ended(const std::string& peer) {
  leaving_.erase(peer);
  if (knows(peer)) lose(peer, "its connection ended", false);
}

void Reception::undelivered(const std::string& peer) {
  if (knows(peer)) lose(peer, "what is for it cannot be delivered", false);
}

void Reception::lose(const std::string& peer, const std::string& why,
                     bool tell) {
  const std::string id = peer;  // may be the map's own key
  const ClientId client = peers_.at(id).client;
  peers_.erase(id);
  ids_.erase(client);
  if (tell) {
    MessageWriter bye(Verb::kBye);
    bye.field("status", static_cast<uint64_t>(Exit::kLost));
    put(id, bye.finish(net::words(why)));
  }
  ReceptionEvent& event = events_.emplace_back();
  event.kind = ReceptionEvent::Kind::kGone;
  event.client = client;
  event.why = printable(why);
}

void Reception::set_users(std::map<std::string, std::string> users) {
  std::vector<std::string> gone;
  for (const auto& [id, peer] : peers_) {
    if (!users.contains(peer.key)) gone.push_back(id);
  }
  options_.users = std::move(users);
  for (const std::string& id : gone) {
    lose(id, "its key is no longer one of those to be admitted", true);
  }
}

// ---- what goes --------------------------------------------------------------

void Reception::send(ClientId client, std::string message) {
  if (const auto at = ids_.find(client); at != ids_.end()) {
    put(at->second, std::move(message));
  }
}

void Reception::make_room(ClientId client, uint64_t bytes_read) {
  const auto at = ids_.find(client);
  if (at == ids_.end()) return;
  Peer& peer = peers_.at(at->second);
  const uint64_t room = bytes_read + options_.window;
  // Told when it is worth a message.
  if (room - peer.room < options_.window / 4) return;
  peer.room = room;
  MessageWriter message(Verb::kRoom);
  put(at->second, message.field("bytes", room).finish());
}

void Reception::bye(ClientId client, Exit status, std::string_view why) {
  const auto at = ids_.find(client);
  if (at == ids_.end()) return;
  MessageWriter message(Verb::kBye);
  message.field("status", static_cast<uint64_t>(status));
  put(at->second, message.finish(net::words(why)));
  peers_.erase(at->second);
  leaving_.insert(std::move(at->second));
  ids_.erase(at);
}

// ---- time -------------------------------------------------------------------

void Reception::tick(int64_t now, bool all_read) {
  if (all_read && now - judged_ >= kJudge) judge(now);
  if (now < next_beat_) return;
  next_beat_ = now + options_.timing.beat;
  const net::Frame beat(MessageWriter(Verb::kBeat).finish());
  for (const auto& [id, peer] : peers_) outgoing_.push_back({id, beat});
}

void Reception::judge(int64_t now) {
  const int64_t excused =
      options_.timing.excused(now - std::exchange(judged_, now));
  std::vector<std::string> silent;
  for (auto& [id, peer] : peers_) {
    peer.heard = std::min(peer.heard + excused, now);
    if (now - peer.heard >= options_.timing.lost) silent.push_back(id);
  }
  for (const std::string& id : silent) {
    lose(id,
         "nothing was heard of it for " + seconds_text(options_.timing.lost),
         true);
  }
}

}  // namespace gt::serve
