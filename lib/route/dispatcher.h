// Dispatcher: the core of gt-route, without sockets. It takes the lines of
// clients one by one, and says what is to be sent to which worker (take()) and
// which results each client is owed in what order (Client::users).
//
// A line is decoded to a route (route_builder.h), unless one is found in the
// cache (route_cache.h), and issued (issuer.h) in one total order
// (sequencer.h). Rounds of a loop that do exactly what the one before did are
// not looked at (loops.h). A wrong line is reported to people, and its results
// are failures.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "route/client.h"
#include "route/issuer.h"
#include "route/loops.h"
#include "route/outbox.h"
#include "route/route_builder.h"
#include "route/route_cache.h"
#include "route/sequencer.h"
#include "route/value_locations.h"
#include "stream/line.h"

namespace gt::route {

struct DispatcherOptions {
  uint32_t workers = 1;
  bool caches = true;                   // off: every line is decoded anew
  size_t cache_sets = size_t{1} << 14;  // the number of sets, see LineCache
  // Finds blocks that come again, and sends them as their number; if off, all
  // lines are sent as text.
  bool hot = true;
};

class Dispatcher {
 public:
  // `log` gets each line that is issued; it may be empty.
  explicit Dispatcher(const DispatcherOptions& options,
                      Sequencer::Sink log = {});

  // Says that the client's lines from now on are from that file, as the user
  // spells it.
  void set_file(Client& client, std::string_view name);
  // Takes the client's next line, without its newline, whatever it is. `number`
  // is the line's number in the file.
  void line(Client& client, std::string_view text, uint64_t number);
  // Takes a line that cannot be read, for example since it is too long: tells
  // people the message, with the line's beginning.
  void reject(Client& client, std::string_view beginning,
              const std::string& message, uint64_t number);
  // No more lines come: issues those that wait until their value is read.
  void flush() { issuer_.flush(); }

  // True if a "#sync" waits for lines that have not left: all bodies are to be
  // taken.
  bool hurries() const { return hurries_; }
  // True if a worker has done what a "#sync" waits for. Lines that have not
  // left are not done.
  bool has_done(const Awaited& awaited) const {
    return !hurries_ && loads().has_done(awaited.worker, awaited.seq);
  }
  // Forgets users who have no lines under way and are owed nothing.
  void forget_users(Users& users);
  // The program was cut short: saves that more might have come to
  // (exec/storage/saves.h) are given up.
  void cut_saves(const Client& client);

  // Returns the round of a loop that the last line ended, if it is recognised,
  // else null. The caller may then count how often its text comes next, and
  // pass that number to repeat() instead of the lines.
  const Round* round() const { return loops_.repeating(); }
  // Does what `times` more rounds do. round() must not be null.
  void repeat(Client& client, uint64_t times);

  // The worker has finished all lines up to `seq`.
  void done(uint32_t worker, uint64_t seq) {
    sequencer_.loads().done(worker, seq);
  }
  // The worker is lost and the run goes on: values that other workers hold too
  // are taken from there, and no line is placed on it any longer. Lines with
  // ranks that it plays are still issued to it: their results fail.
  void lose(uint32_t worker);
  // Returns the name spaces of the users whose lines the worker still has to
  // do; none for a stream of one user.
  std::vector<std::string> users_of(uint32_t worker, const Users& users) const;
  // Returns what is to be sent to the workers now, see Outbox::take().
  std::vector<Outbox::Batch> take(Outbox::Take which) {
    if (which == Outbox::Take::kAll) hurries_ = false;
    return sequencer_.take(which);
  }
  // Returns the ids of blocks that no worker needs to keep any longer.
  std::vector<uint64_t> take_forgotten() {
    return sequencer_.outbox().take_forgotten();
  }

  const Outbox& outbox() const { return sequencer_.outbox(); }
  const Loads& loads() const { return sequencer_.loads(); }
  // Returns how many lines were decoded, since the cache had no valid route for
  // them.
  uint64_t decoded() const { return decoded_; }
  // Returns how many numbers (seq) were given out: for lines that came, also in
  // recognised rounds, and for lines that were inserted.
  uint64_t issued() const { return sequencer_.last_seq(); }
  // Returns how many registers, types, waiting lines and files are kept; these
  // are what memory grows by. For tests that it is bounded.
  size_t kept() const {
    return locations_.size() + types_.size() + issuer_.held() +
           sequencer_.paths();
  }

 private:
  static constexpr size_t kMaxTypes = size_t{1} << 14;
  static constexpr size_t kLongLine = size_t{1} << 20;  // bytes

  void comment(Client& client, std::string_view text, std::string_view notes);
  void dispatch(Client& client, const RouteText& line);
  void dispatch_marked(Client& client, const RouteText& line, uint32_t block);
  void decode(Client& client, const RouteText& line, Line& parsed);
  void build(Client& client, const RouteText& line, const Line& parsed);
  void take_route(Client& client, const RouteText& line,
                  std::unique_ptr<Route> route);
  void tell_news(const SourceLine& source);
  void reset_types();
  void reject_line(Client& client, const Error& error, const RouteText& line,
                   const Line& parsed);
  void fail(Client& client, const Name& result, const FailureText& why);
  LoopState loop_state() const;

  bool hashes_;  // lines are hashed, since something looks them up
  bool hot_;
  TypeIds types_;
  ValueLocations locations_;
  Sequencer sequencer_;
  RouteBuilder builder_;
  RouteCache cache_;
  Issuer issuer_;
  Loops loops_;
  uint64_t decoded_ = 0;
  bool hurries_ = false;
  // The line in decode(); a member so that its memory is used again.
  Line parsed_;
};

}  // namespace gt::route
