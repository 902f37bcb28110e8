// The colours of a timeline: each of the ops that took longest has its own, and
// all others share one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "log/timeline.h"

namespace gt::log {

class OpColors {
 public:
  explicit OpColors(const Timeline& timeline);

  // Returns the colour of an op, which is given by the number of its word in
  // the timeline.
  const char* of(uint32_t op) const { return colors_[op]; }

  struct Entry {
    const char* color;
    std::string text;  // "matmul 34 %"
  };
  // Returns the meaning of each colour, with its share of the time, the largest
  // first.
  std::vector<Entry> legend() const;

 private:
  std::string percent(uint64_t time) const;

  const Timeline& timeline_;
  std::vector<uint64_t> time_by_op_;  // indexed by word
  std::vector<const char*> colors_;   // indexed by word
  std::vector<uint32_t> order_;       // the ops, those that took longest first
  uint64_t total_ = 0;
};

}  // namespace gt::log
