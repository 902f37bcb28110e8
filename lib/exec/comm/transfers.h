// Records what exchanges read from other workers, and when, for a trace or log.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/comm/exchange_run.h"

namespace gt::exec::comm {

// What a run read from another worker, and when: from the moment it was ready
// until it was used. Times are nanoseconds of the steady clock.
struct Transferred {
  unsigned from = 0;
  uint64_t bytes = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Is told, on the communication thread, which exchange ran and when. An
// exchange counts as begun when its first input from another worker was ready.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual void ran(const ExchangeRun& run, uint64_t begin, uint64_t end,
                   const std::vector<Transferred>& read) = 0;
};

// Records one run at a time. All inputs from one worker count as one transfer,
// from the first that is ready to the last that is used.
class Transfers {
 public:
  // Times are those of the machine that the device stands for, if it keeps any.
  Transfers(Watch& watch, const Device& device)
      : watch_(watch), device_(device) {}

  void begin();
  // Says that an input from another worker is ready. Its bytes count if they
  // are read.
  void arrived(const Input& input, bool is_read);
  // Says that the target's inputs have been used.
  void used(const Target& target);
  // Ends the run and tells the watch of it.
  void end(const ExchangeRun& run);

 private:
  uint64_t now() const;

  Watch& watch_;
  const Device& device_;
  uint64_t began_ = 0;
  bool has_arrived_ = false;
  std::vector<Transferred> read_;
};

}  // namespace gt::exec::comm
