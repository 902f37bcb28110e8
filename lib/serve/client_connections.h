// ClientConnections: gt-emit's side of the connections with its clients: it
// knows who is here and alive, and what each client may send. The messages have
// the form of net/wire.h. A client sends:
//
//     hello    version= table= user= seed= history= [fail_fast=1] [replay=0]:
//              the client comes; how its program is to be checked.
//              [keep=NAME [attach=1] [stay=1]] [visit= results= reports=]: the
//              client is kept under that name when its connection ends, it
//              comes back, it is kept even when its program has ended
//              (client_hello.h)
//     input    name= at= [lines=]: the last input has ended, and this one
//              begins; after `lines` lines their numbers begin again from 1
//     text     the body is the next part of the input, cut anywhere
//     end      there is no more input
//     taken    bytes= reports=: how many bytes of results, and how many
//              reports, the client has delivered so far
//     bye      the client leaves; it is kept if its hello had stay=1
//     beat     a sign of life
//
// A client is sent:
//
//     welcome  name= visit= said= room= keep=: the client is admitted. Its name
//              space; the number of its visit, and how many messages (input,
//              text, end) of that visit were taken; the bytes of text that it
//              may send in all; the milliseconds for which it is kept without a
//              connection
//     room     bytes= said=: the bytes of text that it may send in all, and how
//              many messages were taken
//     results  the body is the next part of the results, cut anywhere
//     report   status=: the body is a message for people
//     bye      status=: everything is done; or it ends before its time, and the
//              body says why; [kept=1]: only the connection ends, and the
//              client may say hello again
//     refuse   the client is not admitted, and the body says why
//     beat     a sign of life
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/take_front.h"
#include "net/joiner.h"
#include "net/keys.h"
#include "net/listener.h"
#include "net/timing.h"
#include "serve/client_table.h"

namespace gt::serve {

struct ClientConnectionsOptions {
  // With keys: who is admitted now, and which user each key belongs to. The
  // user is then the one that the key says, not the one that the client says.
  std::optional<std::map<std::string, net::KeyHolder>> users = std::nullopt;
  std::string table;  // digest of the op table that clients must have
  size_t most = 256;  // clients at once, including those that are away
  size_t most_of_user = SIZE_MAX;  // clients of one user at once
  size_t window = size_t{1}
                  << 20;  // bytes of text that a client may send ahead
  // The milliseconds for which a client with a name is kept while it is away;
  // 0: none is kept.
  int64_t keep = 0;
  net::Timing timing;
};

struct ClientEvent {
  enum class Kind : uint8_t {
    kCame,     // a client came, see hello; open() lets it have results
    kBack,     // the same for a client that was kept, on a new connection
    kMessage,  // input, text, end or taken
    kAway,     // the client's connection ended, and it is kept
    kLeft,     // the client said bye
    // The client's connection ended, it broke the protocol, or it was kept and
    // nobody came back to it.
    kGone,
    // A hello or a key was refused; of several in a second only the first.
    kRefused,
  };
  Kind kind = Kind::kMessage;
  ClientId client = 0;
  std::string why;
  ClientHello hello;
  net::OwnedMessage owned;
};

class ClientConnections : public net::ListenerState {
 public:
  ClientConnections(ClientConnectionsOptions options, int64_t now);

  bool knows(const std::string& peer) const override {
    return clients_.find(peer) != nullptr;
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

  bool next(ClientEvent& event) { return take_front(events_, event); }
  // Lets messages to the client go out from now on. To be called at kCame and
  // kBack: messages sent before were meant for another connection.
  void open(ClientId client);
  // Sends to a client that is here. For others the message is dropped.
  void send(ClientId client, std::string message);
  // With keys: sets who is admitted from now on. Clients that no longer are get
  // disconnected.
  void set_users(std::map<std::string, net::KeyHolder> users);
  // Makes room for more text, since the client's program has been read up to
  // there.
  void make_room(ClientId client, uint64_t bytes_read);
  // Sends the last message to a client, and ignores it from now on: the client
  // has everything that it is owed, or `why` says why it does not get it.
  void bye(ClientId client, Exit status, std::string_view why);
  // Sends the last message to a visit of a client that is kept.
  void part(ClientId client, Exit status);
  // Returns the number of connections that had their last message and are still
  // there: the side that closes first can lose what is not written yet.
  size_t leaving() const { return leaving_.size(); }
  // Admits nobody any more; `why` is the reason that is told.
  void close(std::string why) { closed_ = std::move(why); }

 private:
  // The last message to a client that had a name, in case the client has not
  // received it.
  struct LastMessage {
    std::string owner, name;
    uint64_t visit;
    Exit status;
    int64_t since;
  };

  void take_hello(const std::string& peer, const net::Message& message,
                  int64_t now, const std::string& key);
  void admit(const std::string& peer, const ClientHello& hello, int64_t now);
  void come_back(const std::string& peer, const ClientHello& hello,
                 int64_t now);
  bool repeat_last_message(const std::string& peer, const ClientHello& hello);
  void welcome(ClientEntry& entry, const ClientHello& hello, int64_t now,
               bool is_back);
  Status take(ClientEntry& from, const net::Message& message);
  void tell_room(ClientEntry& entry);
  void refuse(const std::string& peer, const std::string& why, int64_t now);
  void tell_refusal(const std::string& why, int64_t now);
  void lose(ClientEntry& entry, const std::string& why, bool tells,
            bool for_good);
  void say_bye(const std::string& peer, Exit status, std::string_view why,
               bool is_kept = false);
  void put(const std::string& peer, std::string message);
  ClientEvent& tell(ClientEvent::Kind kind, ClientId client);
  void judge(int64_t now);

  ClientConnectionsOptions options_;
  ClientTable clients_;
  std::unordered_set<std::string> leaving_;
  std::deque<LastMessage> last_messages_;  // the oldest first
  std::deque<ClientEvent> events_;
  std::deque<Outgoing> outgoing_;
  std::string closed_;
  int64_t now_;  // the time that was passed in last
  int64_t next_beat_;
  int64_t judged_;
  std::optional<int64_t> refused_at_;
};

}  // namespace gt::serve
