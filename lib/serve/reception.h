// What gt-emit and its clients say to each other, as gt-emit sees it: who is
// here, alive, and within what it may send. Messages have the form of
// net/wire.h. From a client:
//
//     hello    version= table= name= user= seed= history= [fail_fast=1]
//              [replay=0]: it comes; how its program is to be checked
//     input    name= at= [lines=]: what was the input has ended, and this one
//              begins; after so many lines their numbers begin again from 1
//     text     the body goes on with the input, cut anywhere
//     end      no more input
//     taken    bytes=: so many bytes of results, in all, are where they belong
//     beat     the client lives
//
// To a client:
//
//     welcome  name=: it is taken, and its name space
//     room     bytes=: so many bytes of text may be sent, in all
//     results  the body goes on with the results, cut anywhere
//     report   status=: the body is for people
//     bye      status=: all is done; or it ends before its time, the body says
//              why
//     refuse   the body says why
//     beat     gt-emit lives
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/take_front.h"
#include "net/host_state.h"
#include "net/joiner.h"
#include "net/listener.h"

namespace gt::serve {

using ClientId = uint32_t;  // from 1; never given twice

struct ReceptionOptions {
  // With keys: those who may come now, and the user of each, "" if that is not
  // known. A user is then who the key says, and not who the client says.
  std::optional<std::map<std::string, std::string>> users = std::nullopt;
  std::string table;  // digest of the op table that clients must have
  size_t most = 256;  // clients at once
  size_t window = size_t{1}
                  << 20;  // bytes of text that a client may send ahead
  net::Timing timing;
};

// What the client's hello says of it.
struct Guest {
  // Its share and its files go by it. Without keys as it calls itself; "" of
  // one whose key is nobody's.
  std::string user;
  std::string key;  // the public key it has proved to hold, or ""
  int64_t seed = 0;
  uint64_t history = 0;
  bool fails_fast = false;
  bool replays = true;
};

struct ReceptionEvent {
  enum class Kind : uint8_t {
    kCame,     // see guest
    kMessage,  // input, text, end or taken
    kGone,     // its connection ended, or it broke the protocol
    kRefused,  // a hello was, or a key; of several in a second only the first
  };
  Kind kind = Kind::kMessage;
  ClientId client = 0;
  std::string why;
  Guest guest;
  net::Letter letter;
};

class Reception : public net::ListenerState {
 public:
  Reception(ReceptionOptions options, int64_t now);

  bool knows(const std::string& peer) const override {
    return peers_.contains(peer);
  }
  void receive(const std::string& peer, net::Frame frame, int64_t now,
               const std::string& key) override;
  void distrust(const std::string& peer, const std::string& why,
                int64_t now) override;
  void turned_away(const std::string& who, int64_t now) override;
  void link_ended(const std::string& peer) override;
  void undelivered(const std::string& peer) override;
  void tick(int64_t now, bool all_read) override;
  int64_t next_tick() const override { return next_beat_; }
  bool next(Outgoing& out) override { return take_front(outgoing_, out); }

  bool next(ReceptionEvent& event) { return take_front(events_, event); }
  // Sends to a client that is here; to others it is dropped.
  void send(ClientId client, std::string message);
  // Whether the client's connection takes more; results wait else.
  bool is_here(ClientId client) const { return ids_.contains(client); }
  // With keys: who may come from now on. Those who may no longer are lost.
  void set_users(std::map<std::string, std::string> users);
  // The client's program has been read up to there, so that there is room.
  void make_room(ClientId client, uint64_t bytes_read);
  // The last word to a client, which is not listened to any longer.
  void bye(ClientId client, Exit status, std::string_view why);
  // Connections that have had their last word and are still there: who closes
  // first can lose what is not written yet.
  size_t leaving() const { return leaving_.size(); }
  // Nobody is let in any more, and the words say why.
  void close(std::string why) { closed_ = std::move(why); }

 private:
  struct Peer {
    ClientId client = 0;
    std::string key;
    int64_t heard = 0;
    uint64_t sent = 0;  // bytes of text that came
    uint64_t room = 0;  // that may come, as it was told
    bool has_ended = false;
  };
  void take_hello(const std::string& peer, const net::Frame& frame, int64_t now,
                  const std::string& key);
  Status take(Peer& from, const net::Message& message);
  void refuse(const std::string& peer, const std::string& why, int64_t now);
  void tell_refusal(const std::string& why, int64_t now);
  void lose(const std::string& peer, const std::string& why, bool tell);
  void put(const std::string& peer, std::string message);
  void judge(int64_t now);

  ReceptionOptions options_;
  std::unordered_map<std::string, Peer> peers_;
  std::unordered_map<ClientId, std::string> ids_;
  std::unordered_set<std::string> leaving_;
  std::deque<ReceptionEvent> events_;
  std::deque<Outgoing> outgoing_;
  ClientId last_ = 0;
  std::string closed_;
  int64_t next_beat_;
  int64_t judged_;
  std::optional<int64_t> refused_at_;
};

}  // namespace gt::serve
