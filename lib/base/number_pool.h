// The numbers of the names that a filter invents, such as _e0 or _s0. The
// smallest number that is not in use is taken first, so that a loop gets the
// same names in every round.
#pragma once

#include <cstddef>
#include <functional>
#include <queue>
#include <vector>

namespace gt {

class NumberPool {
 public:
  // Takes the smallest number that is not in use and returns it. Takes time
  // logarithmic in how many numbers were given back.
  size_t take() {
    while (!free_.empty()) {
      const size_t smallest = free_.top();
      free_.pop();
      if (is_used(smallest)) continue;  // keep() has taken it since
      keep(smallest);
      return smallest;
    }
    while (is_used(next_)) ++next_;
    keep(next_);
    return next_++;
  }
  // Gives a number back. One that is not in use is ignored.
  void give(size_t n) {
    if (!is_used(n)) return;
    used_[n] = false;
    while (!used_.empty() && !used_.back()) used_.pop_back();
    if (n < next_) free_.push(n);
  }
  // Marks the number as in use, because a name in the input has it.
  void keep(size_t n) {
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
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> free_;
};

}  // namespace gt
