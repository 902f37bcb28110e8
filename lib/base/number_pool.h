// Numbers for things that come and go, as the names that a filter invents (_e0
// or _s0) or the buffers of a size. The smallest number that is not in use is
// taken first, so that a loop gets the same ones in every round.
#pragma once

#include <cstddef>
#include <vector>

#include "base/number_set.h"

namespace gt {

class NumberPool {
 public:
  // Takes the smallest number that is not in use and returns it.
  size_t take() {
    size_t smallest = free_.take();
    if (smallest == NumberSet::kNone) {
      while (is_used(next_)) ++next_;
      smallest = next_++;
    }
    keep(smallest);
    return smallest;
  }
  // Gives a number back. One that is not in use is ignored.
  void give(size_t n) {
    if (!is_used(n)) return;
    used_[n] = false;
    while (!used_.empty() && !used_.back()) used_.pop_back();
    if (n < next_) free_.add(n);
  }
  // Marks the number as in use, because a name in the input has it.
  void keep(size_t n) {
    free_.remove(n);
    if (n > used_.size()) used_.resize(n);
    if (n == used_.size()) {
      used_.push_back(true);
    } else {
      used_[n] = true;
    }
  }
  // Returns the smallest number such that take() has returned neither it nor a
  // larger one.
  size_t never_taken() const { return next_; }
  bool is_used(size_t n) const { return n < used_.size() && used_[n]; }
  // Says for each number, up to the largest in use, whether it is in use.
  const std::vector<bool>& used() const { return used_; }

 private:
  std::vector<bool> used_;
  size_t next_ = 0;  // never_taken()
  NumberSet free_;   // those below next_ that are not in use
};

}  // namespace gt
