// What a worker ran and when, as it tells gt-route for the log of a run: the
// body of a `ran` message, a row a line, times in microseconds since 1970 by
// the worker's clock:
//
//     compute FIRST LAST BEGIN END
//     comm SEQ SEQ BEGIN END
//     transfer SEQ FROM BYTES BEGIN END NAME
//
// and how far that clock is from gt-route's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gt::net {

struct RanRow {
  enum class Kind : uint8_t { kCompute, kComm, kTransfer };
  Kind kind = Kind::kCompute;
  uint64_t first = 0;  // instructions, by seq; of one both are the same
  uint64_t last = 0;
  uint64_t begin = 0;  // wall_us() (base/clock.h), as the end
  uint64_t end = 0;
  uint32_t from = 0;   // of a transfer: the worker that it read from, ...
  uint64_t bytes = 0;  // ... how much, ...
  std::string name;    // ... and which value
};

void append_ran(std::string& body, const RanRow& row);
// The rows of a body. Error: a line of it is no row.
Result<std::vector<RanRow>> parse_ran(std::string_view body);

// A time that gt-route told a worker: `told` by gt-route's clock when it was
// sent, `heard` by the worker's when it came.
struct ToldTime {
  uint64_t told = 0;
  uint64_t heard = 0;
  // Whether it was on its way for no longer than the other, so that it bounds
  // the difference of the clocks as well or better.
  bool is_better_than(const ToldTime& other) const {
    return static_cast<int64_t>(told - heard) >=
           static_cast<int64_t>(other.told - other.heard);
  }
};

// What is to be added to a worker's clock to get gt-route's. No message arrives
// before it was sent, so each bounds the difference from one side. If the
// bounds leave room for clocks that agree, as on one machine, they are taken to
// agree; else the difference is the middle between the bounds.
class ClockOffset {
 public:
  // A message was sent at `sent`, by the worker's clock, and received at
  // `received`, by ours; the worker had been told a time before.
  void take(uint64_t sent, uint64_t received, const ToldTime& heard);
  int64_t value() const;

 private:
  int64_t least_ = INT64_MIN;
  int64_t most_ = INT64_MAX;
};

}  // namespace gt::net
