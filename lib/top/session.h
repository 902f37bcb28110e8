// Session: watches one gt-route. It asks for the state again and again, and
// keeps a Model of it. It waits for gt-route, for signals and for one more
// descriptor, and uses no time while nothing comes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/interrupts.h"
#include "net/poller.h"
#include "net/socket.h"
#include "net/watcher.h"
#include "top/model.h"
#include "top/top.h"

namespace gt::top {

class Session {
 public:
  // The options outlive it.
  explicit Session(const TopOptions& options);
  // Begins to connect. Error: the endpoint is not valid.
  Status begin();

  // Waits until a state came, the watching is over, a signal came, `fd` (if it
  // is not negative) can be read, or the time `until` has come. Looks at all of
  // these at least once.
  void wait(int64_t until, int fd = -1);
  // True if the last wait() saw a new state.
  bool is_new() const { return is_new_; }
  // True if nothing more comes.
  bool is_over() const { return is_over_; }
  bool is_interrupted() const { return is_interrupted_; }
  // True if it is over because the run has ended.
  bool has_ended() const { return has_ended_; }
  // status() is the status of gt-top when it is over. why() is the message: an
  // error, unless the run has ended.
  Exit status() const;
  const std::string& why() const { return why_; }
  // Returns for how many milliseconds nothing was heard although gt-route was
  // asked.
  int64_t silence() const;

  const Model& model() const { return model_; }

 private:
  void take(net::WatchEvent event);

  const TopOptions& options_;
  net::Interrupts interrupts_;
  net::Context context_;
  std::unique_ptr<net::Watcher> watcher_;
  net::Poller poller_;
  Model model_;
  int64_t interval_;  // milliseconds between two requests
  int64_t next_ = 0;  // the time of the next request
  bool is_new_ = false;
  bool is_over_ = false;
  bool has_ended_ = false;
  bool is_interrupted_ = false;
  std::string why_;
};

}  // namespace gt::top
