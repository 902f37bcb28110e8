// Counts how many bytes the registers of the placed stream hold on each rank
// while its lines are written, to find the peak that the summary shows. Ranks
// that have held the same at all times are counted once, as one class.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "shard/rank_classes.h"
#include "spmd/rank_set.h"

namespace gt::shard {

class RegisterBytes {
 public:
  // Notes that the current line binds the name on these ranks, where each gets
  // this many bytes, or ranks[i] gets bytes[i]. What the name held before
  // counts until end_line().
  void bind(const std::string& name, const Ranks& ranks, uint64_t bytes);
  void bind(const std::string& name, const Ranks& ranks,
            const std::vector<uint64_t>& bytes);
  void free(const std::string& name, const Ranks& ranks);
  // Notes that the current line is complete, so that what it replaced is gone.
  void end_line();
  // Returns the most bytes that any rank held at a time.
  uint64_t most() const { return most_; }

 private:
  struct Piece {
    uint32_t set;    // number in ranks_
    uint64_t bytes;  // on each rank of the set
  };
  uint32_t set_of(const Ranks& ranks);
  void add(const std::string& name, uint32_t set, uint64_t bytes);
  void take_away(const std::string& name, uint32_t set);

  RankClasses ranks_;
  std::vector<uint64_t> held_;  // by class: the bytes on each rank, now
  std::unordered_map<std::string, std::vector<Piece>> registers_;
  std::vector<Piece> replaced_;
  uint64_t most_ = 0;
};

}  // namespace gt::shard
