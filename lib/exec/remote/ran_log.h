// RanLog records what an attached worker ran and when. For gt-route's log it
// makes rows (net/ran.h), which the thread that talks to gt-route takes;
// exchanges also go to the worker's own trace.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "exec/comm/engine.h"
#include "exec/trace/trace.h"
#include "net/ran.h"

namespace gt::exec {

class RanLog final : public comm::Watch {
 public:
  // `is_logged` is true if somebody takes the rows. `trace` may be null.
  RanLog(bool is_logged, Trace* trace) : is_logged_(is_logged), trace_(trace) {}

  bool is_logged() const { return is_logged_; }
  bool is_wanted() const { return is_logged_ || trace_ != nullptr; }

  // For the compute queue's thread: begin_batch() when the lines of a message
  // begin to run, end_batch() when those numbered from `first` to `last` have
  // run. Readers of a row assume that the files which its lines save are
  // written, so the row waits for settle(), which tells up to which line that
  // is so.
  void begin_batch() { begin_ = wall_us(); }
  void end_batch(uint64_t first, uint64_t last);
  void settle(uint64_t last);
  void ran(const comm::ExchangeRun& op, uint64_t begin, uint64_t end,
           const std::vector<comm::Transferred>& read) override;

  // Returns the rows since the last call. Any thread may call it.
  std::string take();

 private:
  void add(const net::RanRow& row);

  const bool is_logged_;
  Trace* const trace_;
  uint64_t begin_ = 0;
  std::deque<net::RanRow> unsettled_;
  std::mutex mutex_;
  std::string rows_;  // guarded by mutex_
};

}  // namespace gt::exec
