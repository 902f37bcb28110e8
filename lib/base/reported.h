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
  // Returns true if the failure is the first of its kind and so must be
  // printed; otherwise counts it. In a file, failures at one place with the
  // same reason, digits left out, are of one kind. In a stream, where the line
  // of a loop has another number in each round, failures with the same reason
  // and line text are of one kind. Numbers in both texts are left out of the
  // comparison, but names are not, so that users are told apart by their names.
  bool is_first(const Place& place, std::string_view reason,
                std::string_view line);

  // Returns a line for each kind that has counted failures, such as "gt-work: 2
  // more like the one at <stdin>:4\n", or "" if there are none. The counts
  // begin anew. If `was_written`, a program wrote what came through standard
  // input; then a note says that places in <stdin> are not lines of the user's
  // source.
  std::string take_counts(std::string_view program, bool was_written);

 private:
  struct Kind {
    std::string place;  // that of the first failure
    uint64_t more = 0;  // how many came after it
  };

  // The most kinds kept. Beyond it all are forgotten, so that memory is
  // bounded.
  static constexpr size_t kMost = size_t{1} << 16;

  std::vector<Kind> kinds_;
  std::unordered_map<uint64_t, size_t> index_;  // into kinds_, by a kind's hash
};

}  // namespace gt
