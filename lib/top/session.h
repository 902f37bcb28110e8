// One watched gt-route: asks for its state again and again, and keeps a Model
// of it. Waits for it, for signals and for one descriptor more, and for nothing
// else, so that it uses no time while nothing comes.
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
  // Begins to connect. Error: the endpoint is none.
  Status begin();

  // Waits until a state came, the watching is over, a signal came, `fd` (if it
  // is not negative) can be read, or that time has come; not less than once.
  void wait(int64_t until, int fd = -1);
  // Whether that call saw a new state.
  bool is_new() const { return is_new_; }
  // Whether nothing more comes.
  bool is_over() const { return is_over_; }
  bool is_interrupted() const { return is_interrupted_; }
  // Whether it is over since the run has ended.
  bool has_ended() const { return has_ended_; }
  // The status of gt-top when it is over, and what there is to say: an error
  // unless the run has ended.
  Exit status() const;
  const std::string& why() const { return why_; }
  // For how long nothing was heard though it was asked; milliseconds.
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
  int64_t interval_;  // milliseconds between two questions
  int64_t next_ = 0;  // when it is to ask again
  bool is_new_ = false;
  bool is_over_ = false;
  bool has_ended_ = false;
  bool is_interrupted_ = false;
  std::string why_;
};

}  // namespace gt::top
