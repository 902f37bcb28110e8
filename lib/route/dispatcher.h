// The core of gt-route, without sockets: takes streams line by line and says
// what is to be sent to which worker, and which results are owed in what order.
// A line is decoded, or was before (route_builder.h, route_cache.h), and issued
// (issuer.h) in one total order (sequencer.h); rounds of a loop that do just
// what the one before did are not looked at (loops.h).
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
  bool caches = true;  // off: every line is decoded anew
  size_t cache_sets = size_t{1} << 14;
  bool hot = true;  // blocks that come again are found
};

class Dispatcher {
 public:
  // `log` may be empty.
  explicit Dispatcher(const DispatcherOptions& options,
                      Sequencer::Sink log = {});

  // Later lines of the client are of that file, as it named it.
  void set_file(Client& client, std::string_view name);
  // One line without its newline, whatever it holds, and its number in the
  // file.
  void line(Client& client, std::string_view text, uint64_t number);
  // A line that cannot be read, too long for example.
  void reject(Client& client, std::string_view beginning,
              const std::string& message, uint64_t number);
  // No more lines come: those that wait for a reader need wait no more.
  void flush() { issuer_.flush(); }

  // The round that the last line ended, if another one of its text would do
  // just the same; else null.
  const Round* round() const { return loops_.repeating(); }
  // So many more of it came.
  void repeat(Client& client, uint64_t times);

  // A worker has finished all up to `seq`.
  void done(uint32_t worker, uint64_t seq) {
    sequencer_.loads().done(worker, seq);
  }
  // The worker is lost and the run goes on: it is given nothing more that any
  // worker could do.
  void lose(uint32_t worker);
  // Bodies that leave.
  std::vector<Outbox::Batch> take(Outbox::Take which) {
    return sequencer_.take(which);
  }
  // Blocks that workers shall not keep any longer.
  std::vector<uint64_t> take_forgotten() {
    return sequencer_.outbox().take_forgotten();
  }

  const Outbox& outbox() const { return sequencer_.outbox(); }
  const Loads& loads() const { return sequencer_.loads(); }
  uint64_t decoded() const { return decoded_; }
  uint64_t issued() const { return sequencer_.last_seq(); }
  // Registers, types and lines that it has room for: what its memory grows by.
  size_t kept() const {
    return homes_.size() + types_.size() + issuer_.held() + sequencer_.paths();
  }

 private:
  static constexpr size_t kMaxTypes = size_t{1} << 14;
  static constexpr size_t kLongLine = size_t{1} << 20;

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

  bool hashes_;
  bool hot_;
  TypeIds types_;
  Homes homes_;
  Sequencer sequencer_;
  RouteBuilder builder_;
  RouteCache cache_;
  Issuer issuer_;
  Loops loops_;
  uint64_t decoded_ = 0;
  Line parsed_;  // of decode(): its memory is used again
};

}  // namespace gt::route
