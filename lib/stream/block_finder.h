// Finds blocks in a stream: sequences of lines that come again, as the rounds
// of a loop do, or the part of a round between two lines that change. A
// sequence of kLeast lines or more is a known block once it has come twice, so
// that a loop is known after its second round. The finder says when the lines
// of a known block come. Such a block is hot: its first line gets the note
// #hot=ID, and it can be sent as a number (block_table.h).
//
// It looks at hashes of lines alone, so what it finds is a guess: whoever acts
// on it compares the lines. A line that never came before costs two look-ups in
// tables of fixed size.
#pragma once

#include <bitset>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gt {

class BlockFinder {
 public:
  static constexpr uint32_t kLeast = 32;
  static constexpr uint32_t kMost = 1U << 15;

  // `least` and `most` are the fewest and the most lines of a block; `most`
  // must be a power of two. If a round of a loop has fewer lines than `least`,
  // several rounds make one block.
  explicit BlockFinder(uint32_t least = kLeast, uint32_t most = kMost);

  // How the line that next() took relates to the known blocks. A line may both
  // break one block and begin another.
  struct Step {
    uint32_t begins = 0;  // the id of the block whose first line it is; 0: none
    bool breaks = false;  // a block had begun, and this is not its next line
    bool ends = false;    // it is the last line of the block that had begun
  };
  // True if a known block has begun and more of its lines are to come.
  bool is_inside() const { return followed_ != nullptr; }
  // Takes the next line of the stream, by the hash of its text.
  Step next(uint64_t hash) {
    if (followed_ != nullptr && followed_->hashes[at_] == hash) {
      return advance({});
    }
    Step step;
    step.breaks = followed_ != nullptr;
    if (step.breaks) leave_block();
    if (firsts_[hash % kFirsts] && known_.contains(hash)) {
      end_run();  // which may add a block, and forget the known ones for it
      const auto known = known_.find(hash);
      if (known != known_.end()) {
        followed_ = &known->second;
        at_ = 0;
        step.begins = known->second.id;
        return advance(step);
      }
    }
    learn(hash);
    return step;
  }
  // Says that no block spans the lines so far and those that come: a block that
  // has begun breaks.
  void cut() {
    followed_ = nullptr;
    end_run();
  }

 private:
  static constexpr size_t kFirsts = 4096;
  // The most lines of all known blocks; with more, all blocks are forgotten.
  static constexpr size_t kMostLines = size_t{1} << 18;

  struct Block {
    uint32_t id = 0;
    std::vector<uint64_t> hashes;
  };

  Step advance(Step step) {
    if (++at_ < followed_->hashes.size()) return step;
    step.ends = true;
    followed_ = nullptr;
    return step;
  }
  void leave_block();
  void learn(uint64_t hash);
  void end_run();
  void add_block(uint32_t end, uint32_t lines);

  // Known blocks, by the hash of their first line.
  std::unordered_map<uint64_t, Block> known_;
  std::bitset<kFirsts> firsts_;  // by a first line's hash: whether a block may
                                 // begin so
  uint32_t last_id_ = 0;
  size_t known_lines_ = 0;
  // The block that has begun, or null, and how many of its lines have come.
  Block* followed_ = nullptr;
  size_t at_ = 0;

  uint32_t least_, last_place_;
  // The lines that were in no known block: the hashes of the last `most` lines,
  // as a ring, and a table of where a line with a given hash was last met. The
  // last `run_` lines equal those that came `period_` lines before.
  std::vector<uint64_t> lines_;
  std::vector<uint32_t> places_;
  uint32_t next_ = 0;  // how many of these lines there were
  uint32_t period_ = 0;
  uint32_t run_ = 0;
};

}  // namespace gt
