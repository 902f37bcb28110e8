// What a worker ran and when, as it tells gt-route for the log of a run, and
// the offset of the worker's clock from gt-route's. The body of a `ran` message
// has one row a line, with times in microseconds since 1970 by the worker's
// clock:
//
//     compute FIRST LAST BEGIN END
//     comm SEQ SEQ BEGIN END
//     transfer SEQ FROM BYTES BEGIN END NAME
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gt::net {

// A row: instructions that compute ran, an exchange, or what an exchange read.
struct RanRow {
  enum class Kind : uint8_t { kCompute, kComm, kTransfer };
  Kind kind = Kind::kCompute;
  uint64_t first = 0;  // the instructions by seq, first to last
  uint64_t last = 0;
  uint64_t begin = 0;  // wall_us() (base/clock.h), as is `end`
  uint64_t end = 0;
  uint32_t from = 0;   // for a transfer: the worker it read from,
  uint64_t bytes = 0;  // how many bytes,
  std::string name;    // and of which value
};

void append_ran(std::string& body, const RanRow& row);
// Parses the rows of a body. Error: a line is not a row.
Result<std::vector<RanRow>> parse_ran(std::string_view body);

// A time that gt-route sent to a worker: `told` by gt-route's clock when it was
// sent, `heard` by the worker's clock when it arrived.
struct ToldTime {
  uint64_t told = 0;
  uint64_t heard = 0;
  // True if it was under way for no longer than the other, so that it bounds
  // the difference of the clocks at least as well.
  bool is_better_than(const ToldTime& other) const {
    return static_cast<int64_t>(told - heard) >=
           static_cast<int64_t>(other.told - other.heard);
  }
};

// The offset to add to a worker's clock to get gt-route's. No message arrives
// before it was sent, so each message bounds the difference from one side. If
// the bounds allow clocks that agree, as on one machine, the offset is 0; else
// it is the middle between the bounds.
class ClockOffset {
 public:
  // Takes a message that was sent at `sent` by the worker's clock and received
  // at `received` by ours. `heard` is a time that the worker had been told
  // before.
  void take(uint64_t sent, uint64_t received, const ToldTime& heard);
  int64_t value() const;

 private:
  int64_t least_ = INT64_MIN;
  int64_t most_ = INT64_MAX;
};

}  // namespace gt::net
