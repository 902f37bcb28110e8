// What gt-emit and its clients say to each other, as gt-emit sees it: who is
// here, alive, and within what it may send. Messages have the form of
// net/wire.h. From a client:
//
//     hello    version= table= user= seed= history= [fail_fast=1] [replay=0]:
//              it comes; how its program is to be checked.
//              [keep=NAME [attach=1] [stay=1]] [visit= results= reports=]: it
//              is kept under that name when its connection ends, it comes back,
//              it is kept also when its program has ended (guest.h)
//     input    name= at= [lines=]: what was the input has ended, and this one
//              begins; after so many lines their numbers begin again from 1
//     text     the body goes on with the input, cut anywhere
//     end      no more input
//     taken    bytes= reports=: so many bytes of results, and so many reports,
//              in all, are where they belong
//     bye      it leaves; it is kept if its hello had stay=1
//     beat     the client lives
//
// To a client:
//
//     welcome  name= visit= said= room= keep=: it is taken, and its name
//              space; the number of its visit, and how many messages (input,
//              text, end) of that were taken; bytes of text that it may send,
//              in all; for how many milliseconds it is kept without a
//              connection
//     room     bytes= said=: so many bytes of text may be sent, in all, and so
//              many messages were taken
//     results  the body goes on with the results, cut anywhere
//     report   status=: the body is for people
//     bye      status=: all is done; or it ends before its time, the body says
//              why; [kept=1]: only the connection does, and it may say hello
//              again
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
#include <unordered_set>

#include "base/take_front.h"
#include "net/host_state.h"
#include "net/joiner.h"
#include "net/keys.h"
#include "net/listener.h"
#include "serve/seats.h"

namespace gt::serve {

struct ReceptionOptions {
  // With keys: those who may come now, and whose each is. A user is then who
  // the key says, and not who the client says.
  std::optional<std::map<std::string, net::KeyHolder>> users = std::nullopt;
  std::string table;  // digest of the op table that clients must have
  size_t most = 256;  // clients at once, those that are away included
  size_t most_of_user = SIZE_MAX;  // of them, those of one user
  size_t window = size_t{1}
                  << 20;  // bytes of text that a client may send ahead
  // Milliseconds for which a client with a name is kept when it is away; 0:
  // none is.
  int64_t keep = 0;
  net::Timing timing;
};

struct ReceptionEvent {
  enum class Kind : uint8_t {
    kCame,     // see guest; open() lets it have results
    kBack,     // so does one that was kept, on a new connection
    kMessage,  // input, text, end or taken
    kAway,     // its connection ended, and it is kept
    kLeft,     // it said bye
    kGone,  // its connection ended, it broke the protocol, or it was kept and
            // nobody came back to it
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
    return seats_.find(peer) != nullptr;
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
  // What is sent to the client from now on goes out. To be called at kCame and
  // kBack: what was sent before was meant for another connection.
  void open(ClientId client);
  // Sends to a client that is here; to others it is dropped.
  void send(ClientId client, std::string message);
  // With keys: who may come from now on. Those who may no longer are lost.
  void set_users(std::map<std::string, net::KeyHolder> users);
  // The client's program has been read up to there, so that there is room.
  void make_room(ClientId client, uint64_t bytes_read);
  // The last word to a client, which is not listened to any longer: it has all
  // that it is owed, or `why` says why it does not get it.
  void bye(ClientId client, Exit status, std::string_view why);
  // The last word to a visit of a client that is kept.
  void part(ClientId client, Exit status);
  // Connections that have had their last word and are still there: who closes
  // first can lose what is not written yet.
  size_t leaving() const { return leaving_.size(); }
  // Nobody is let in any more, and the words say why.
  void close(std::string why) { closed_ = std::move(why); }

 private:
  // What was said to a client that had a name, should it not have heard it.
  struct Farewell {
    std::string owner, name;
    uint64_t visit;
    Exit status;
    int64_t since;
  };

  void take_hello(const std::string& peer, const net::Message& hello,
                  int64_t now, const std::string& key);
  void admit(const std::string& peer, const Guest& guest, int64_t now);
  void come_back(const std::string& peer, const Guest& guest, int64_t now);
  bool say_farewell(const std::string& peer, const Guest& guest);
  void welcome(Seat& seat, const Guest& guest, int64_t now, bool is_back);
  Status take(Seat& from, const net::Message& message);
  void tell_room(Seat& seat);
  void refuse(const std::string& peer, const std::string& why, int64_t now);
  void tell_refusal(const std::string& why, int64_t now);
  void lose(Seat& seat, const std::string& why, bool tells, bool for_good);
  void say_bye(const std::string& peer, Exit status, std::string_view why,
               bool is_kept = false);
  void put(const std::string& peer, std::string message);
  ReceptionEvent& tell(ReceptionEvent::Kind kind, ClientId client);
  void judge(int64_t now);

  ReceptionOptions options_;
  Seats seats_;
  std::unordered_set<std::string> leaving_;
  std::deque<Farewell> farewells_;  // the oldest first
  std::deque<ReceptionEvent> events_;
  std::deque<Outgoing> outgoing_;
  std::string closed_;
  int64_t now_;  // as it was passed in last
  int64_t next_beat_;
  int64_t judged_;
  std::optional<int64_t> refused_at_;
};

}  // namespace gt::serve
