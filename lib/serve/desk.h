// What gt-emit knows of its clients: each one's program, what of it is under
// way, and what is to be told to it. Knows no socket and no clock: messages
// that are to be sent, and lines that are to go out, are handed out.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/exit.h"
#include "net/joiner.h"
#include "serve/program.h"
#include "serve/reception.h"
#include "serve/scheduler.h"
#include "serve/unread.h"

namespace gt::serve {

struct DeskOptions {
  BlockLimits blocks;
  emit::Quota quota{UINT64_MAX, 1'000'000};
  // Bytes of results that wait for a client to read them, beyond which no more
  // of its program goes out; and those that are sent ahead of its reading.
  uint64_t most_unread = uint64_t{16} << 20;
  uint64_t window = uint64_t{4} << 20;
  std::map<std::string, double> shares;  // by user; 1 for others
  std::string files;  // a directory, where each user has one; "": nobody may
                      // load or save
  // How workers reach that directory, as "tcp://HOST:PORT"; "": by its path.
  std::string lend;
  uint64_t most_history = 1'000'000;  // lines that are kept for gradients
};

class Desk {
 public:
  // What is said to clients (reception.h has what each does).
  struct Out {
    std::function<void(ClientId, std::string)> send;
    // The last word to a client, and to a visit of one that is kept.
    std::function<void(ClientId, Exit)> bye;
    std::function<void(ClientId, Exit)> part;
    // As emit::ProgramOptions::begin_long_work.
    std::function<std::shared_ptr<void>()> begin_long_work;
  };

  Desk(DeskOptions options, Out out);

  void come(ClientId client, const Guest& guest);
  // A client that is kept has a connection again. Returns why it cannot.
  Status come_back(ClientId client, const Guest& guest);
  // What a client said. Returns why it cannot be taken.
  Status take(ClientId client, const net::Message& message);
  // Its connection ended. Its program goes on, and what comes of it is kept.
  void go_away(ClientId client);
  // It said bye, and is kept if it said so when it came.
  void say_goodbye(ClientId client);
  // It is gone: what it has under way is done, and all that it holds is freed.
  void leave(ClientId client);

  // A line of the results, without its LF.
  void take_back(std::string_view line, int64_t now);
  // Checks lines of clients that have no block ready. False: there is nothing
  // to be checked.
  bool work();
  // Appends the block that is to go out next to `out`. False: none is.
  bool next_block(std::string& out, int64_t now);

  // How much text of the client was read (Reception::make_room()).
  template <typename Each>
  void each_room(const Each& each) {
    for (auto& [id, client] : clients_) each(id, client.program->bytes_read());
  }
  template <typename Each>
  void each_client(const Each& each) {
    for (auto& [id, client] : clients_) each(id);
  }
  size_t clients() const { return clients_.size(); }

  // How a client is, for those who watch the run (client_marks.h).
  struct View {
    std::string_view user;
    std::string_view state;  // here, away, ends (its last line went out), gone
    double share = 1;
    size_t blocks = 0;       // under way
    uint64_t under_way = 0;  // nanoseconds of one worker, as estimated
    uint64_t served = 0;     // the same of all that it was given
    bool waits = false;      // a block of it is to go out
    const emit::Usage& usage;
    uint64_t unread = 0;  // bytes of results
  };
  // Calls each(id, view) for every client, by number.
  template <typename Each>
  void each_view(const Each& each) const {
    for (const auto& [id, client] : clients_) each(id, view(id, client));
  }
  const Scheduler& scheduler() const { return scheduler_; }

 private:
  // kRuns: its lines go out. kEnds: its last line did, and it is waited for.
  enum class State : uint8_t { kRuns, kEnds };
  // kAway: it may come back. kGone: it will not, and is owed nothing.
  enum class Presence : uint8_t { kHere, kAway, kGone };
  struct Client {
    explicit Client(uint64_t window) : unread(window) {}
    std::unique_ptr<ClientProgram> program;
    std::string user;
    double share = 1;
    State state = State::kRuns;
    Presence presence = Presence::kHere;
    bool has_name = false;       // it may come back
    bool stays = false;          // also once its program has ended
    bool has_ended = false;      // the visit has sent all of its program
    Exit status = Exit::kDone;   // of this visit
    std::optional<Exit> parted;  // with which it was parted from
    uint64_t syncs = 0;          // that went out
    uint64_t answered = 0;       // and came back
    size_t unsynced = 0;         // blocks behind the last of them
    std::deque<size_t> blocks;   // before each sync that is to come back
    Unread unread;
  };
  View view(ClientId id, const Client& client) const;
  void look(ClientId id, Client& client);
  void give(ClientId id, Client& client, std::string_view result);
  void send_unread(ClientId id, Client& client);
  void tell(ClientId id, Exit status, std::string_view text);
  void take_sync(ClientId id, Client& client, std::string_view word,
                 int64_t now);
  void take_report(const ReportMark& report);
  void begin_input(ClientId id, Client& client, const net::Message& message);
  void end_visit(Client& client);
  void sync(ClientId id, Client& client, std::string& out);
  void end(Client& client, std::string& out);
  void part(ClientId id, Client& client);
  void settle(ClientId id);
  Client* find(ClientId id);
  Client* find(std::string_view space, ClientId& id);

  DeskOptions options_;
  Out out_;
  Scheduler scheduler_;
  std::map<ClientId, Client> clients_;
};

}  // namespace gt::serve
