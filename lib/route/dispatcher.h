// The core of gt-route, without sockets: takes the lines of clients one by one,
// and says what is to be sent to which worker (take()) and which results each
// client is owed in what order (Client::results).
//
// A line is decoded to a route (route_builder.h), unless one is found in the
// cache (route_cache.h), and issued (issuer.h) in one total order
// (sequencer.h). Rounds of a loop that do just what the one before did are not
// looked at (loops.h). A line that is wrong is told to people, and its results
// are failures.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "route/client.h"
#include "route/homes.h"
#include "route/issuer.h"
#include "route/loops.h"
#include "route/outbox.h"
#include "route/route_builder.h"
#include "route/route_cache.h"
#include "route/sequencer.h"
#include "stream/line.h"

namespace gt::route {

struct DispatcherOptions {
  uint32_t workers = 1;
  bool caches = true;                   // off: every line is decoded anew
  size_t cache_sets = size_t{1} << 14;  // as LineCache has them
  // Blocks that come again are found, and sent as their number; off: all lines
  // are sent as text.
  bool hot = true;
};

class Dispatcher {
 public:
  // `log` gets each line that is issued; it may be empty.
  explicit Dispatcher(const DispatcherOptions& options,
                      Sequencer::Sink log = {});

  // The lines of the client from now on are of that file, named as the user
  // did.
  void set_file(Client& client, std::string_view name);
  // Takes the client's next line, without its newline, whatever it holds;
  // `number` is its number in the file.
  void line(Client& client, std::string_view text, uint64_t number);
  // Takes a line that cannot be read, since it is too long for example: tells
  // people the message, with its beginning.
  void reject(Client& client, std::string_view beginning,
              const std::string& message, uint64_t number);
  // No more lines come: issues those that wait until their value is read.
  void flush() { issuer_.flush(); }

  // A "#sync" waits for lines that have not left: all bodies are to be taken.
  bool hurries() const { return hurries_; }
  // Whether a worker has done what a "#sync" waits for. What has not left is
  // not done.
  bool has_done(const Awaited& awaited) const {
    return !hurries_ && loads().has_done(awaited.worker, awaited.seq);
  }
  // Forgets users who have nothing under way and are owed nothing.
  void forget_users(Users& users);

  // The round of a loop that the last line ended, if it is recognised: then the
  // caller may count how often its text comes next, and hand in that number
  // with repeat(), not the lines. Else null.
  const Round* round() const { return loops_.repeating(); }
  // Does what `times` more rounds of it do. round() must not be null.
  void repeat(Client& client, uint64_t times);

  // The worker has finished all up to `seq`.
  void done(uint32_t worker, uint64_t seq) {
    sequencer_.loads().done(worker, seq);
  }
  // The worker is lost and the run goes on: values that others hold too are
  // taken from there, and no line is placed on it any longer. Lines with ranks
  // that it plays are still issued to it: their results fail.
  void lose(uint32_t worker);
  // The name spaces of the users of whose lines the worker has some to do; of a
  // stream of one user none.
  std::vector<std::string> users_of(uint32_t worker, const Users& users) const;
  // What is to be sent to the workers now, as Outbox::take().
  std::vector<Outbox::Batch> take(Outbox::Take which) {
    if (which == Outbox::Take::kAll) hurries_ = false;
    return sequencer_.take(which);
  }
  // The ids of blocks that no worker shall keep any longer.
  std::vector<uint64_t> take_forgotten() {
    return sequencer_.outbox().take_forgotten();
  }

  const Outbox& outbox() const { return sequencer_.outbox(); }
  const Loads& loads() const { return sequencer_.loads(); }
  // How many lines were decoded, since the cache had no route of them that
  // held.
  uint64_t decoded() const { return decoded_; }
  // How many numbers (seq) were given out: lines that came, also in recognised
  // rounds, and lines that were inserted.
  uint64_t issued() const { return sequencer_.last_seq(); }
  // How many registers, types, waiting lines and files it keeps, which is what
  // its memory grows by. For tests that it is bounded.
  size_t kept() const {
    return homes_.size() + types_.size() + issuer_.held() + sequencer_.paths();
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

  bool hashes_;  // lines are hashed: something looks them up
  bool hot_;
  TypeIds types_;
  Homes homes_;
  Sequencer sequencer_;
  RouteBuilder builder_;
  RouteCache cache_;
  Issuer issuer_;
  Loops loops_;
  uint64_t decoded_ = 0;
  bool hurries_ = false;
  Line parsed_;  // by decode(), which uses its memory again
};

}  // namespace gt::route
