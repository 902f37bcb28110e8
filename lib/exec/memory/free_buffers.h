// FreeBuffers keeps the free buffers of one size class. It hands out the free
// buffer with the lowest number, whatever the order was in which they became
// free. So a loop that begins a round with the same buffers in use as the round
// before gets the same buffers in all of the round; handing out the buffer that
// was freed last would move its values around for ever. A device that has
// recorded a round can then replay it.
//
// The set is a bitmap with a summary of its words, and both are searched from
// where a bit may be: taking the lowest of some thousand buffers reads two
// words.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace gt::exec {

class FreeBuffers {
 public:
  // Returns a number for a new buffer, which is not free yet: the lowest that
  // no other buffer of the class has.
  uint32_t new_number() {
    const uint32_t number = unused_.empty() ? count_++ : take_unused();
    if (number / kBits >= words_.size()) words_.push_back(0);
    if (words_.size() > summary_.size() * kBits) summary_.push_back(0);
    return number;
  }
  // Says that the buffer of that number, which is not free, is no more.
  void forget(uint32_t number) {
    unused_.push_back(number);
    std::push_heap(unused_.begin(), unused_.end(), std::greater<>());
  }

  void add(uint32_t number) {
    const size_t word = number / kBits;
    words_[word] |= bit(number);
    summary_[word / kBits] |= bit(word);
    first_ = std::min(first_, word / kBits);
  }
  // Takes the lowest number of those that were added; kNone if there is none.
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t take() {
    while (first_ < summary_.size() && summary_[first_] == 0) ++first_;
    if (first_ >= summary_.size()) return kNone;
    const size_t word = first_ * kBits + lowest(summary_[first_]);
    const auto number =
        static_cast<uint32_t>(word * kBits + lowest(words_[word]));
    words_[word] &= ~bit(number);
    if (words_[word] == 0) summary_[first_] &= ~bit(word);
    return number;
  }

 private:
  static constexpr size_t kBits = 64;
  static uint64_t bit(size_t i) { return uint64_t{1} << i % kBits; }
  static size_t lowest(uint64_t word) {
    return static_cast<size_t>(std::countr_zero(word));
  }
  uint32_t take_unused() {
    std::pop_heap(unused_.begin(), unused_.end(), std::greater<>());
    const uint32_t number = unused_.back();
    unused_.pop_back();
    return number;
  }

  uint32_t count_ = 0;             // numbers given so far
  std::vector<uint32_t> unused_;   // forgotten; a heap with the least first
  std::vector<uint64_t> words_;    // a bit for each number
  std::vector<uint64_t> summary_;  // a bit for each word that is not 0
  size_t first_ = 0;               // words of the summary before it are 0
};

}  // namespace gt::exec
