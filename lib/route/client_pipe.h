// ClientPipe: reads the program of the client from files or standard input, and
// writes its results to standard output. It never waits for either: the loop
// does, and then calls it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/host.h"
#include "net/poller.h"
#include "route/client.h"
#include "route/dispatcher.h"
#include "route/input.h"

namespace gt::route {

class ClientPipe {
 public:
  // Client and dispatcher outlive it. With `fail_fast` it reads no more after
  // the first failure.
  ClientPipe(Client& client, Dispatcher& dispatcher,
             std::vector<std::string> files, bool fail_fast);

  // Reads and dispatches the lines that are there while has_room() is true, up
  // to some thousand in a call. Rounds of a loop that the dispatcher recognises
  // are taken together. `host` gives signs of life while a very long line is
  // dispatched. An input that cannot be read is reported to people, and reading
  // goes on with the next one.
  void read(const std::function<bool()>& has_room, net::Host& host);
  // Reads no more, though the input may have more.
  void end_reading() { has_ended_ = true; }
  bool has_ended() const { return has_ended_; }
  // True if the last read() found no line: the input is slower than gt-route.
  bool is_idle() const { return is_idle_; }

  // Writes the results that are due, as far as standard output takes them
  // without waiting. `sink` gets each line. Error: standard output cannot be
  // written; what was due is dropped.
  Status write(const IsDone& is_done, const ResultOrder::Sink& sink);
  // Returns the bytes of results that have left.
  uint64_t written() const { return all_written_; }
  // True if the client has all results that it is owed so far.
  bool is_written() const {
    return out_.empty() && client_.reports.empty() && client_.users.empty();
  }

  // Adds standard output if results wait for it, and the input if `reads` and
  // the last read() found no line.
  void add_to(net::Poller& poller, bool reads) const;

 private:
  bool take(RouteInput::Item item, std::string_view line, net::Host& host);
  bool repeat_rounds();
  void end_input();
  bool has_stopped() const {
    return fail_fast_ && client_.status != Exit::kDone;
  }

  Client& client_;
  Dispatcher& dispatcher_;
  RouteInput input_;
  bool fail_fast_;
  bool is_idle_ = false;
  bool has_ended_ = false;
  bool has_unread_ = false;  // an input could not be read to its end
  std::string out_;          // results on their way to standard output
  size_t written_ = 0;       // bytes of out_ that were written
  uint64_t all_written_ = 0;
};

}  // namespace gt::route
