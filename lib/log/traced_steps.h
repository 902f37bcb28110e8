// What the ranks of a rehearsed run did in a step, by the rows of its trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "log/step_times.h"
#include "stream/rows.h"

namespace gt::log {

class TracedSteps {
 public:
  // A step ends where this is printed.
  explicit TracedSteps(std::string step) : step_(std::move(step)) {}

  // Takes the next row. Those of one queue must come in their order.
  void take(const TraceRow& row);
  // True if there was a row of a worker that stands for a rank.
  bool is_run() const { return !queues_.empty(); }
  StepTimes times() const;

 private:
  // Neighbouring rows of a queue; what lies between them is too short to be
  // more than the queue's own work. Times are in nanoseconds.
  struct Span {
    uint64_t start = 0, end = 0;
    uint64_t busy = 0;
    // Returns the busy time between two times.
    double within(uint64_t from, uint64_t to) const;
  };
  using Queue = std::vector<Span>;
  static constexpr uint64_t kGap = 20'000;

  std::string step_;
  std::map<std::pair<int64_t, bool>, Queue> queues_;  // by rank; true: computes
  std::map<int64_t, std::vector<uint64_t>> prints_;   // when they ended
  uint64_t first_ = UINT64_MAX, last_ = 0;            // of all rows
  Line line_;
};

}  // namespace gt::log
