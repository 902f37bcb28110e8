// The client whose program gt-route reads itself, from files or standard input,
// and whose results go to standard output. It never waits: the loop does.
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

  // Dispatches what can be read now, as long as there is room. `host` beats
  // while a line takes its time.
  void read(const std::function<bool()>& has_room, net::Host& host);
  void end_reading() { has_ended_ = true; }
  bool has_ended() const { return has_ended_; }
  // Nothing could be read when it was tried last.
  bool is_idle() const { return is_idle_; }

  // Writes what is due, as much as its reader takes without making us wait;
  // `sink` gets the lines. Error: nothing can be written, and what was due is
  // dropped.
  Status write(const ResultOrder::Sink& sink);
  bool is_written() const { return out_.empty() && client_.results.empty(); }

  // What the loop waits for; `reads`: also for more of the program.
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
  std::string out_;
  size_t written_ = 0;  // of out_
};

}  // namespace gt::route
