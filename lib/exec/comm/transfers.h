// Notes what exchanges read of other workers, and when, for a trace or log.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/comm/exchange_run.h"

namespace gt::exec::comm {

// What a run read of another worker, and when: from the moment that it was
// there until it was used. Times are nanoseconds of the steady clock.
struct Transferred {
  unsigned from = 0;
  uint64_t bytes = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Is told, on the communication thread, which exchange ran and when. It counts
// as begun when the first that it reads of others was there.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual void ran(const ExchangeRun& run, uint64_t begin, uint64_t end,
                   const std::vector<Transferred>& read) = 0;
};

// Notes one run at a time. What it reads of a worker is one transfer, from the
// first that is there to the last that is used.
class Transfers {
 public:
  explicit Transfers(Watch& watch) : watch_(watch) {}

  void begin();
  // An input of another worker is there; its bytes count if they are read.
  void arrived(const Input& input, bool is_read);
  // The target's inputs have been used.
  void used(const Target& target);
  // The run is over: the watch is told.
  void end(const ExchangeRun& run);

 private:
  Watch& watch_;
  uint64_t began_ = 0;
  bool has_arrived_ = false;
  std::vector<Transferred> read_;
};

}  // namespace gt::exec::comm
