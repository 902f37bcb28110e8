// Multiplexer: everything that gt-emit knows of its clients: each one's
// program, what of it is under way, and what is to be sent to the client. It
// uses no socket and no clock: messages to be sent go to Out, and lines of the
// stream are taken out by next_block().
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
#include "serve/client_hello.h"
#include "serve/client_table.h"
#include "serve/disk_threads.h"
#include "serve/program.h"
#include "serve/scheduler.h"
#include "serve/unread_results.h"

namespace gt::serve {

struct MultiplexerOptions {
  BlockLimits blocks;
  emit::Quota quota{UINT64_MAX, 1'000'000};
  // The bytes of results that may wait for a client to read them; with more, no
  // more of its program goes out. `window`: those that are sent ahead of its
  // reading.
  uint64_t most_unread = uint64_t{16} << 20;
  uint64_t window = uint64_t{4} << 20;
  std::map<std::string, double> shares;  // by user; others have a share of 1
  // The directory in which each user has one for files; "": nobody may load or
  // save.
  std::string files;
  // The address at which workers reach that directory, "tcp://HOST:PORT"; "":
  // they use its path.
  std::string lend;
  uint64_t most_history = 1'000'000;  // lines that are kept for gradients
  std::function<std::string(const Line&)> region;  // EmitOptions::region
};

class Multiplexer {
 public:
  // The messages to clients (for each see client_connections.h).
  struct Out {
    std::function<void(ClientId, std::string)> send;
    // Send the last message: bye() to a client, part() to one visit of a client
    // that is kept.
    std::function<void(ClientId, Exit)> bye;
    std::function<void(ClientId, Exit)> part;
    // As emit::ProgramOptions::begin_long_work.
    std::function<std::shared_ptr<void>()> begin_long_work;
    // True once lines of clients have been checked for so long that messages
    // may wait; the rest is checked in the next turn.
    ClientProgram::IsLate is_late = [] { return false; };
  };

  // The files of clients are looked at on `disk`, which must outlive the
  // object.
  Multiplexer(MultiplexerOptions options, DiskThreads& disk, Out out);

  // A client has come and said `hello`.
  void come(ClientId client, const ClientHello& hello);
  // A client that is kept has a connection again. Error: why it cannot be
  // continued.
  Status come_back(ClientId client, const ClientHello& hello);
  // Takes a client's message. Error: why it cannot be taken.
  Status take(ClientId client, const net::Message& message);
  // The client's connection ended. Its program goes on, and its results are
  // kept.
  void go_away(ClientId client);
  // The client said bye. It is kept if it asked for that when it came.
  void say_goodbye(ClientId client);
  // The client is gone: what it has under way is done, and everything that it
  // holds is freed.
  void leave(ClientId client);

  // Takes a line of the results, without its LF.
  void take_back(std::string_view line, int64_t now);
  // Checks lines of clients that have no block ready, until it is late. Returns
  // false if there was nothing to check.
  bool work();
  // Appends the block that is to go out next to `out`. Returns false if there
  // is none.
  bool next_block(std::string& out, int64_t now);

  // Calls each(client, bytes) with the number of bytes of text that were read
  // from each client (ClientConnections::make_room()).
  template <typename Each>
  void each_room(const Each& each) {
    for (auto& [id, client] : clients_) each(id, client.program->bytes_read());
  }
  template <typename Each>
  void each_client(const Each& each) {
    for (auto& [id, client] : clients_) each(id);
  }
  size_t clients() const { return clients_.size(); }

  // The state of a client, for those who watch the run (client_marks.h).
  struct View {
    std::string_view user;
    // "here", "away", "ends" (its last line went out) or "gone".
    std::string_view state;
    double share = 1;
    size_t blocks = 0;  // blocks under way
    // Their cost: nanoseconds of one worker, as estimated.
    uint64_t under_way = 0;
    uint64_t served = 0;  // the estimated cost of all blocks that went out
    bool waits = false;   // a block of the client waits to go out
    const emit::Usage& usage;
    uint64_t unread = 0;  // bytes of results
  };
  // Calls each(id, view) for every client, ordered by number.
  template <typename Each>
  void each_view(const Each& each) const {
    for (const auto& [id, client] : clients_) each(id, view(id, client));
  }
  const Scheduler& scheduler() const { return scheduler_; }

 private:
  // kRuns: the client's lines go out. kEnds: its last line went out, and its
  // results are waited for.
  enum class State : uint8_t { kRuns, kEnds };
  // kAway: the client may come back. kGone: it will not, and is owed nothing.
  enum class Presence : uint8_t { kHere, kAway, kGone };
  struct Client {
    explicit Client(uint64_t window) : unread(window) {}
    std::unique_ptr<ClientProgram> program;
    std::string user;
    double share = 1;
    State state = State::kRuns;
    Presence presence = Presence::kHere;
    bool has_name = false;       // the client may come back
    bool stays = false;          // it is kept even when its program has ended
    bool has_ended = false;      // the visit has sent all of its program
    Exit status = Exit::kDone;   // the status of this visit
    std::optional<Exit> parted;  // the status with which the visit was ended
    uint64_t syncs = 0;          // the number of #sync lines that went out
    uint64_t answered = 0;       // and of those that were answered
    size_t unsynced = 0;         // blocks that went out after the last #sync
    // Blocks before each #sync that is not answered.
    std::deque<size_t> blocks;
    UnreadResults unread;
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

  MultiplexerOptions options_;
  DiskThreads& disk_;
  Out out_;
  Scheduler scheduler_;
  std::map<ClientId, Client> clients_;
  ClientId turn_ = 0;  // the client that work() begins with
};

}  // namespace gt::serve
