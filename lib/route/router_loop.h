// What gt-route does between two waits; see router.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "net/poller.h"
#include "route/client.h"
#include "route/client_pipe.h"
#include "route/crew.h"
#include "route/dispatcher.h"
#include "route/interrupts.h"
#include "route/router.h"
#include "route/run_recorder.h"

namespace gt::route {

class RouterLoop {
 public:
  RouterLoop(const RouterOptions& options, Client::Say say);
  Exit run();

 private:
  bool is_over() const;
  bool has_room() const;
  std::optional<uint32_t> who_is_full() const;
  void note_full();
  void flush_log();
  void wait();
  void send_bodies();
  void write_results();
  void take_signals();
  Exit end();

  const RouterOptions& options_;
  Interrupts interrupts_;  // before all that starts threads
  RunRecorder log_;
  ResultSources sources_;
  Client client_;
  Dispatcher dispatcher_;
  ClientPipe pipe_;
  Crew crew_;
  net::Poller poller_;
  int64_t next_flush_ = 0;  // of the log
  int64_t full_since_ = 0;  // 0: it is not
  bool is_interrupted_ = false;
  int64_t drained_by_ = 0;  // not 0: then it ends, whoever is at work
  bool killed_ = false;
};

}  // namespace gt::route
