// A set of numbers from 0 on that gives the smallest first. It is a bitmap with
// a summary of its words, and both are searched from where a bit may be: taking
// the smallest of some thousand numbers reads two words. The memory is a bit
// for each number up to the largest that was ever added.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gt {

class NumberSet {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  // Adds a number, which may be there already.
  void add(size_t n) {
    const size_t word = n / kBits;
    if (word >= words_.size()) {
      words_.resize(word + 1);
      summary_.resize(word / kBits + 1);
    }
    words_[word] |= bit(n);
    summary_[word / kBits] |= bit(word);
    first_ = std::min(first_, word / kBits);
  }
  // Removes a number, which need not be there.
  void remove(size_t n) {
    const size_t word = n / kBits;
    if (word >= words_.size()) return;
    words_[word] &= ~bit(n);
    if (words_[word] == 0) summary_[word / kBits] &= ~bit(word);
  }
  // Removes the smallest number and returns it; kNone if the set is empty.
  size_t take() {
    while (first_ < summary_.size() && summary_[first_] == 0) ++first_;
    if (first_ == summary_.size()) return kNone;
    const size_t word = first_ * kBits + lowest(summary_[first_]);
    const size_t n = word * kBits + lowest(words_[word]);
    remove(n);
    return n;
  }

 private:
  static constexpr size_t kBits = 64;
  static uint64_t bit(size_t i) { return uint64_t{1} << i % kBits; }
  static size_t lowest(uint64_t word) {
    return static_cast<size_t>(std::countr_zero(word));
  }

  std::vector<uint64_t> words_;    // a bit for each number
  std::vector<uint64_t> summary_;  // a bit for each word that is not 0
  size_t first_ = 0;               // words of the summary before it are 0
};

}  // namespace gt
