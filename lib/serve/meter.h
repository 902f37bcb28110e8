// What the lines of one client cost, and what its names hold. It follows the
// client's emitted stream line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/walker.h"
#include "stream/line.h"

namespace gt::serve {

// What the names of a client may hold at once.
struct Quota {
  uint64_t bytes = UINT64_MAX;  // of values, those of all ranks together
  uint64_t names = 1'000'000;   // of one rank each: x@0-3 counts as four
};

class Meter {
 public:
  // Reads an instruction, and finds what it costs and holds.
  void read(const Line& line);
  // Of the line that was read: nanoseconds of one worker, by the op table
  // (program/costs.h); and what the client's names will hold behind it.
  uint64_t cost() const { return cost_; }
  uint64_t bytes_after() const { return bytes_ + grown_bytes_; }
  uint64_t names_after() const { return names_ + grown_names_; }
  // Whether the line takes the client beyond its quota. One that holds no more
  // than it gives back never does.
  bool exceeds(const Quota& quota) const;
  // Binds the results of the line that was read; if it `failed`, to failures,
  // which hold nothing.
  void bind(bool failed = false);

  uint64_t bytes() const { return bytes_; }
  uint64_t names() const { return names_; }

 private:
  uint64_t bytes_of(const WalkedPart& part) const;

  Walker walker_;
  WalkedLine line_;
  // Bytes that each symbol of the walker holds, and one more; 0: it is not
  // live.
  std::vector<uint64_t> held_;
  uint64_t forgotten_ = 0;  // Walker::forgotten(), as of held_
  uint64_t cost_ = 0;
  uint64_t bytes_ = 0, names_ = 0;
  uint64_t grown_bytes_ = 0, grown_names_ = 0;  // modulo 2^64
};

}  // namespace gt::serve
