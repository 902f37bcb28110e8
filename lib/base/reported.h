// Failures that people have been told of, so that each is told once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/message.h"

namespace gt {

class Reported {
 public:
  // Whether a failure is to be told: the first at its place. In what comes
  // through standard input a loop's line has another number in each round, so
  // there one is told for each text of a line and reason, whatever numbers
  // stand in them. All others are counted.
  bool is_first(const Place& place, std::string_view reason,
                std::string_view line);

  // "gt-work: 2 more like the one at <stdin>:4\n" and so on, of those that were
  // counted; "" of none. Counts begin anew. Where what came through standard
  // input was written by a program, its places are not those of whoever wrote
  // the source: that is told, too.
  std::string take_counts(std::string_view program, bool was_written);

 private:
  struct Kind {
    std::string place;  // of the first
    uint64_t more = 0;
  };

  static constexpr size_t kMost = size_t{1} << 16;  // then all is forgotten

  std::vector<Kind> kinds_;
  std::unordered_map<uint64_t, size_t> index_;  // by hash
};

}  // namespace gt
