#include "stream/block_finder.h"

#include <utility>

namespace gt {
namespace {

constexpr uint32_t kPlaces = 1U << 16;

// Returns the number of lines in the block of a loop whose rounds have `period`
// lines: the fewest whole rounds that have `least` lines.
uint32_t length_for(uint32_t period, uint32_t least) {
  return period >= least ? period : (least + period - 1) / period * period;
}

}  // namespace

BlockFinder::BlockFinder(uint32_t least, uint32_t most)
    : least_(least), last_place_(most - 1), lines_(most), places_(kPlaces) {}

// Called when another line than the block's next one has come. If two sequences
// begin alike, their common part is a block, and so is what follows in each,
// since that comes again, too.
void BlockFinder::leave_block() {
  Block& block = *std::exchange(followed_, nullptr);
  if (at_ < least_) return;
  known_lines_ -= block.hashes.size() - at_;
  block.hashes.resize(at_);
  block.id = ++last_id_;
}

void BlockFinder::learn(uint64_t hash) {
  if (run_ > 0 && lines_[(next_ - period_) & last_place_] == hash) {
    ++run_;
  } else {
    end_run();
    const uint32_t back = next_ - places_[hash % kPlaces];
    if (back > 0 && back <= last_place_ &&
        lines_[(next_ - back) & last_place_] == hash) {
      period_ = back;
      run_ = 1;
    }
  }
  places_[hash % kPlaces] = next_;
  lines_[next_ & last_place_] = hash;
  ++next_;
  if (run_ == 0 || run_ < length_for(period_, least_)) return;
  add_block(next_, run_);
  run_ = 0;
}

// Ends the run of lines that came again, since the current line did not. A long
// run is a block, even if it is not a whole round of a loop but the part of a
// round between two lines that change.
void BlockFinder::end_run() {
  const uint32_t lines = std::exchange(run_, 0);
  if (lines >= least_) add_block(next_, lines);
}

void BlockFinder::add_block(uint32_t end, uint32_t lines) {
  if (known_lines_ + lines > kMostLines) {
    known_.clear();
    firsts_.reset();
    known_lines_ = 0;
  }
  const uint64_t first = lines_[(end - lines) & last_place_];
  Block& block = known_[first];
  known_lines_ -= block.hashes.size();
  block.id = ++last_id_;
  block.hashes.clear();
  for (uint32_t i = end - lines; i != end; ++i) {
    block.hashes.push_back(lines_[i & last_place_]);
  }
  known_lines_ += lines;
  firsts_.set(first % kFirsts);
}

}  // namespace gt
