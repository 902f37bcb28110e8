#include "serve/client_connections.h"

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
constexpr size_t kMostLastMessages = 256;

}  // namespace

ClientConnections::ClientConnections(ClientConnectionsOptions options,
                                     int64_t now)
    : options_(std::move(options)),
      now_(now),
      next_beat_(now + options_.timing.beat),
      judged_(now) {}

void ClientConnections::put(const std::string& peer, std::string message) {
  outgoing_.push_back({peer, net::Frame(std::move(message))});
}

ClientEvent& ClientConnections::tell(ClientEvent::Kind kind, ClientId client) {
  ClientEvent& event = events_.emplace_back();
  event.kind = kind;
  event.client = client;
  return event;
}

// ---- what comes -------------------------------------------------------------

void ClientConnections::receive(const std::string& peer, net::Frame frame,
                                int64_t now, const std::string& key) {
  now_ = now;
  ClientEntry* entry = clients_.find(peer);
  if (entry == nullptr) {
    const auto hello = net::parse_message(frame.bytes());
    if (hello.ok()) take_hello(peer, hello.value(), now, key);
    return;
  }
  entry->since = now;
  auto owned = net::read_owned_message(std::move(frame));
  // A client with a name that heard nothing for a while asks by a hello whether
  // it is still here.
  if (owned.ok() && owned.value().message.verb == Verb::kHello &&
      !entry->name.empty()) {
    return take_hello(peer, owned.value().message, now, key);
  }
  Status taken =
      owned.ok() ? take(*entry, owned.value().message) : Status(owned.error());
  if (!taken.ok()) return lose(*entry, taken.error().message, true, true);
  const Verb verb = owned.value().message.verb;
  if (verb == Verb::kBeat) return;
  const auto kind = verb == Verb::kBye ? ClientEvent::Kind::kLeft
                                       : ClientEvent::Kind::kMessage;
  tell(kind, entry->client).owned = std::move(owned.value());
}

Status ClientConnections::take(ClientEntry& from, const Message& message) {
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
      if (message.text("name").size() > kMostName) {
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
void ClientConnections::take_hello(const std::string& peer,
                                   const Message& message, int64_t now,
                                   const std::string& key) {
  if (message.verb != Verb::kHello) return;
  auto hello = read_client_hello(message, options_.table);
  if (!hello.ok()) return refuse(peer, hello.error().message, now);
  if (!closed_.empty()) return refuse(peer, closed_, now);
  if (options_.users) {
    const auto user = options_.users->find(key);
    hello.value().user = user == options_.users->end() ? "" : user->second.user;
  }
  hello.value().key = key;
  if (hello.value().attaches) return come_back(peer, hello.value(), now);
  admit(peer, hello.value(), now);
}

void ClientConnections::admit(const std::string& peer, const ClientHello& hello,
                              int64_t now) {
  std::string why;
  if (clients_.size() >= options_.most) {
    why = std::to_string(options_.most) +
          " clients are here already, which is the most";
  } else if (clients_.count(hello.owner()) >= options_.most_of_user) {
    why = std::to_string(options_.most_of_user) +
          " clients of this user are here already, which is the most; one that "
          "is away counts until somebody comes back to it and ends it";
  } else if (!hello.name.empty() && options_.keep == 0) {
    why = "it keeps no clients that are away (--keep 0)";
  } else if (!hello.name.empty() &&
             clients_.find(hello.owner(), hello.name) != nullptr) {
    why = "'" + hello.name + "' is here already; --attach " + hello.name +
          " comes back to it";
  }
  if (!why.empty()) return refuse(peer, why, now);
  ClientEntry& entry = clients_.add(peer, hello);
  entry.room = options_.window;
  welcome(entry, hello, now, false);
}

void ClientConnections::come_back(const std::string& peer,
                                  const ClientHello& hello, int64_t now) {
  ClientEntry* entry = clients_.find(hello.owner(), hello.name);
  if (entry == nullptr) {
    if (repeat_last_message(peer, hello)) return;
    std::string names;
    for (const std::string& name : clients_.names(hello.owner())) {
      names += (names.empty() ? "; there is " : ", ") + name;
    }
    return refuse(peer, "nobody is kept as '" + hello.name + "'" + names, now);
  }
  const bool goes_on = hello.visit != 0;
  if (goes_on && hello.visit != entry->visit) {
    return refuse(
        peer, "somebody else has come back to '" + hello.name + "' meanwhile",
        now);
  }
  if (!goes_on) {
    if (!entry->peer.empty()) {
      say_bye(entry->peer, Exit::kLost,
              "somebody else has come back to '" + hello.name + "'");
    }
    ++entry->visit;
    entry->has_ended = false;
    entry->said = 0;
    entry->before += entry->text;
    entry->room -= std::exchange(entry->text, 0);
  }
  clients_.move(*entry, peer);
  welcome(*entry, hello, now, true);
}

void ClientConnections::welcome(ClientEntry& entry, const ClientHello& hello,
                                int64_t now, bool is_back) {
  entry.since = now;
  entry.said_told = entry.said;
  MessageWriter message(Verb::kWelcome);
  message.field("name", "c" + std::to_string(entry.client))
      .field("visit", entry.visit)
      .field("said", entry.said)
      .field("room", entry.room)
      .field("keep",
             static_cast<uint64_t>(entry.name.empty() ? 0 : options_.keep));
  put(entry.peer, message.finish());
  tell(is_back ? ClientEvent::Kind::kBack : ClientEvent::Kind::kCame,
       entry.client)
      .hello = hello;
}

// Repeats the last message to a visit that lost its connection and may not have
// received it. Returns false if there was none.
bool ClientConnections::repeat_last_message(const std::string& peer,
                                            const ClientHello& hello) {
  for (const LastMessage& last : last_messages_) {
    if (hello.visit != 0 && last.visit == hello.visit &&
        last.owner == hello.owner() && last.name == hello.name) {
      say_bye(peer, last.status, "");
      return true;
    }
  }
  return false;
}

void ClientConnections::refuse(const std::string& peer, const std::string& why,
                               int64_t now) {
  put(peer, MessageWriter(Verb::kRefuse).finish(why));
  tell_refusal("a client is not taken: " + why, now);
}

void ClientConnections::distrust(const std::string& peer,
                                 const std::string& why, int64_t now) {
  // The client sent this before it received our last message.
  if (leaving_.contains(peer)) return;
  refuse(peer,
         why +
             "; without keys only the clients of one user are taken (--key "
             "and --allow, or --insecure, admit others)",
         now);
}

void ClientConnections::turned_away(const std::string& who, int64_t now) {
  tell_refusal(
      "a client with key " + who + " is not one of those to be admitted", now);
}

void ClientConnections::tell_refusal(const std::string& why, int64_t now) {
  if (refused_at_ && now - *refused_at_ < kRefusalsApart) return;
  refused_at_ = now;
  tell(ClientEvent::Kind::kRefused, 0).why = printable(why);
}

void ClientConnections::link_ended(const std::string& peer) {
  leaving_.erase(peer);
  if (ClientEntry* entry = clients_.find(peer)) {
    lose(*entry, "its connection ended", false, false);
  }
}

void ClientConnections::undelivered(const std::string& peer) {
  if (ClientEntry* entry = clients_.find(peer)) {
    lose(*entry, "what is for it cannot be delivered", false, false);
  }
}

// Gives up the connection, and the client with it, unless it has a name and not
// `for_good`.
void ClientConnections::lose(ClientEntry& entry, const std::string& why,
                             bool tells, bool for_good) {
  const ClientId client = entry.client;
  const bool is_kept = !for_good && !entry.name.empty();
  if (tells && !entry.peer.empty()) {
    say_bye(entry.peer, Exit::kLost, why, is_kept);
  }
  if (is_kept) {
    clients_.leave(entry, now_);
  } else {
    clients_.remove(client);
  }
  tell(is_kept ? ClientEvent::Kind::kAway : ClientEvent::Kind::kGone, client)
      .why = printable(why);
}

void ClientConnections::set_users(std::map<std::string, net::KeyHolder> users) {
  std::vector<ClientEntry*> gone;
  clients_.each([&](ClientEntry& entry) {
    if (!users.contains(entry.key)) gone.push_back(&entry);
  });
  options_.users = std::move(users);
  for (ClientEntry* entry : gone) {
    lose(*entry, "its key is no longer one of those to be admitted", true,
         true);
  }
}

// ---- what goes --------------------------------------------------------------

void ClientConnections::open(ClientId client) {
  if (ClientEntry* entry = clients_.find(client))
    entry->is_open = !entry->peer.empty();
}

void ClientConnections::send(ClientId client, std::string message) {
  const ClientEntry* entry = clients_.find(client);
  if (entry != nullptr && entry->is_open) put(entry->peer, std::move(message));
}

void ClientConnections::make_room(ClientId client, uint64_t bytes_read) {
  ClientEntry* entry = clients_.find(client);
  if (entry == nullptr || entry->peer.empty()) return;
  // A line whose end has not come counts as read, and once that has come only
  // when it is taken. The client may have used the room that it was told of, so
  // none is taken back.
  const uint64_t room =
      std::max(entry->room, bytes_read + options_.window - entry->before);
  // The client is told when it is worth a message.
  const bool is_much = room - entry->room >= options_.window / 4;
  if (!is_much && entry->said - entry->said_told < kMostUntold) return;
  entry->room = room;
  tell_room(*entry);
}

void ClientConnections::tell_room(ClientEntry& entry) {
  entry.said_told = entry.said;
  MessageWriter message(Verb::kRoom);
  put(entry.peer,
      message.field("bytes", entry.room).field("said", entry.said).finish());
}

void ClientConnections::say_bye(const std::string& peer, Exit status,
                                std::string_view why, bool is_kept) {
  MessageWriter message(Verb::kBye);
  message.field("status", static_cast<uint64_t>(status));
  if (is_kept) message.field("kept", uint64_t{1});
  put(peer, message.finish(net::words(why)));
  if (!is_kept) leaving_.insert(peer);
}

void ClientConnections::bye(ClientId client, Exit status,
                            std::string_view why) {
  ClientEntry* entry = clients_.find(client);
  if (entry == nullptr) return;
  if (!entry->peer.empty()) say_bye(entry->peer, status, why);
  if (!entry->name.empty() && why.empty()) {
    last_messages_.push_back(
        {entry->owner, entry->name, entry->visit, status, now_});
    if (last_messages_.size() > kMostLastMessages) last_messages_.pop_front();
  }
  clients_.remove(client);
}

void ClientConnections::part(ClientId client, Exit status) {
  ClientEntry* entry = clients_.find(client);
  if (entry == nullptr || entry->peer.empty()) return;
  say_bye(entry->peer, status, "");
  clients_.leave(*entry, now_);
}

// ---- time -------------------------------------------------------------------

void ClientConnections::tick(int64_t now, bool all_read) {
  now_ = now;
  if (all_read && now - judged_ >= kJudge) judge(now);
  if (now < next_beat_) return;
  next_beat_ = now + options_.timing.beat;
  const net::Frame beat(MessageWriter(Verb::kBeat).finish());
  clients_.each([&](ClientEntry& entry) {
    if (!entry.peer.empty()) outgoing_.push_back({entry.peer, beat});
  });
  while (!last_messages_.empty() &&
         now - last_messages_[0].since >= options_.keep) {
    last_messages_.pop_front();
  }
}

void ClientConnections::judge(int64_t now) {
  const int64_t excused =
      options_.timing.excused(now - std::exchange(judged_, now));
  std::vector<ClientEntry*> late;
  clients_.each([&](ClientEntry& entry) {
    entry.since = std::min(entry.since + excused, now);
    const int64_t limit =
        entry.peer.empty() ? options_.keep : options_.timing.lost;
    if (now - entry.since >= limit) late.push_back(&entry);
  });
  for (ClientEntry* entry : late) {
    if (entry->peer.empty()) {
      lose(*entry,
           "nobody came back to '" + entry->name + "' within " +
               seconds_text(options_.keep),
           false, true);
    } else {
      lose(*entry,
           "nothing was heard of it for " + seconds_text(options_.timing.lost),
           true, false);
    }
  }
}

}  // namespace gt::serve
