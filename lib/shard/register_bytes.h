// Counts how many bytes the registers of the placed stream hold on each rank
// while its lines are written, to find the peak that the summary shows.
//
// Ranks that have held the same bytes at all times are counted once, as one
// class, so that a line of 1,000 ranks with equal pieces costs what a line of
// one rank does.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

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
  // Ranks that occurred together. A class is part of the group or is not.
  struct Group {
    Ranks ranks;
    std::vector<uint32_t> classes;  // ascending
  };
  struct Hash {
    size_t operator()(const Ranks& ranks) const;
  };
  struct Piece {
    uint32_t group;
    uint64_t bytes;  // on each rank of the group
  };
  uint32_t group_of(const Ranks& ranks);
  std::vector<uint32_t> classes_of(const Ranks& ranks);
  uint32_t split(uint32_t from, const Ranks& away);
  void add(const std::string& name, uint32_t group, uint64_t bytes);
  void take_away(const std::string& name, uint32_t group);

  std::vector<uint32_t> class_of_;  // by rank; kNoClass: it held nothing yet
  std::vector<size_t> sizes_;       // by class: the number of its ranks
  std::vector<uint64_t> held_;      // by class: the bytes on each rank, now
  std::vector<Group> groups_;
  std::unordered_map<Ranks, uint32_t, Hash> group_by_ranks_;
  std::unordered_map<std::string, std::vector<Piece>> registers_;
  std::vector<Piece> replaced_;
  uint64_t most_ = 0;
};

}  // namespace gt::shard
