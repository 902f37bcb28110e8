// Remembers the failures that were printed, so that a failure that comes back
// in each round of a loop is printed once and then only counted.
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
  // Whether the failure is to be printed: whether it is the first of its kind.
  // Otherwise it is counted. In a file, failures of one kind are those of one
  // place with the same reason, digits left out. In a stream a loop's line has another number in each round; there
  // they are those with the same reason and line text, numbers in both left
  // out; names are not numbers, so that users are told apart by theirs.
  bool is_first(const Place& place, std::string_view reason,
                std::string_view line);

  // A line for each kind that has counted failures, such as "gt-work: 2 more
  // like the one at <stdin>:4\n"; "" if there are none. The counts begin anew.
  // `was_written`: a program wrote what came through standard input. Then a
  // note says that places in <stdin> are not lines of the user's source.
  std::string take_counts(std::string_view program, bool was_written);

 private:
  struct Kind {
    std::string place;  // of the first failure
    uint64_t more = 0;  // how many came after it
  };

  // Of kinds. Beyond it all are forgotten, so that memory is bounded.
  static constexpr size_t kMost = size_t{1} << 16;

  std::vector<Kind> kinds_;
  std::unordered_map<uint64_t, size_t> index_;  // into kinds_, by a kind's hash
};

}  // namespace gt
