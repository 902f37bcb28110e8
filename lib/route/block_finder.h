// Finds blocks of lines that come again, as the rounds of a loop do, from the
// lines' hashes alone. A line that never came before costs two look-ups in
// tables of fixed size. What is found is a guess: whoever acts on it compares
// bytes.
#pragma once

#include <bitset>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gt::route {

class BlockFinder {
 public:
  // A block has so many lines; a loop of fewer is taken several rounds at once.
  static constexpr uint32_t kLeast = 32;
  static constexpr uint32_t kMost = 1U << 15;

  BlockFinder();

  struct Step {
    uint32_t begins = 0;  // the line is the first of that block; 0: of none
    bool breaks = false;  // it is none of the block that had begun
    bool ends = false;    // it is the last of the block that had begun
  };
  // Some lines of a known block came, and more may.
  bool is_inside() const { return followed_ != nullptr; }
  Step next(uint64_t hash) {
    if (followed_ != nullptr && (*followed_)[at_] == hash) return advance({});
    Step step;
    step.breaks = followed_ != nullptr;
    followed_ = nullptr;
    if (firsts_[hash % kFirsts]) {
      const auto known = known_.find(hash);
      if (known != known_.end()) {
        end_run();
        followed_ = &known->second.hashes;
        at_ = 0;
        step.begins = known->second.id;
        return advance(step);
      }
    }
    learn(hash);
    return step;
  }

 private:
  static constexpr size_t kFirsts = 4096;
  // Of all known blocks together; then they are forgotten.
  static constexpr size_t kMostLines = size_t{1} << 18;

  struct Block {
    uint32_t id = 0;
    std::vector<uint64_t> hashes;
  };

  Step advance(Step step) {
    if (++at_ < followed_->size()) return step;
    step.ends = true;
    followed_ = nullptr;
    return step;
  }
  void learn(uint64_t hash);
  void end_run();
  void add_block(uint32_t end, uint32_t lines);

  // Known blocks, by the hash of their first line.
  std::unordered_map<uint64_t, Block> known_;
  std::bitset<kFirsts> firsts_;  // which hashes may be among them
  uint32_t last_id_ = 0;
  size_t known_lines_ = 0;
  const std::vector<uint64_t>* followed_ = nullptr;
  size_t at_ = 0;  // lines of it that came

  // Lines that were in no known block: the last kMost, and where each hash was
  // met last. The last `run_` of them are as those `period_` before.
  std::vector<uint64_t> lines_;
  std::vector<uint32_t> places_;
  uint32_t next_ = 0;
  uint32_t period_ = 0;
  uint32_t run_ = 0;
};

}  // namespace gt::route
