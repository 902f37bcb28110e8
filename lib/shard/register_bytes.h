// Counts how many bytes the registers of the placed stream hold on each rank
// while its lines are written, to find the peak that the summary shows.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "spmd/held_bytes.h"
#include "spmd/layout.h"

namespace gt::shard {

class RegisterBytes {
 public:
  // Notes that the current line binds the name on these ranks, where ranks[i]
  // gets bytes[i] bytes. What the name held before counts until end_line().
  void bind(const std::string& name, const Ranks& ranks,
            const std::vector<uint64_t>& bytes);
  void free(const std::string& name, const Ranks& ranks);
  // Notes that the current line is complete, so that what it replaced is gone.
  void end_line();
  // Returns the most bytes that any rank held at a time.
  uint64_t most() const { return held_.most(); }

 private:
  struct Piece {
    int64_t rank;
    uint64_t bytes;
  };
  void take_away(const std::string& name, const Ranks& ranks);

  std::unordered_map<std::string, std::vector<Piece>> registers_;
  std::vector<Piece> replaced_;
  HeldBytes held_;
};

}  // namespace gt::shard
