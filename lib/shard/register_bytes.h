// How many bytes the registers of the placed stream hold on each rank, line by
// line as these are written: for the peak in the summary.
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
  // The line that is being written binds the name on these ranks; bytes[i] are
  // those on ranks[i]. What it replaces counts until end_line().
  void bind(const std::string& name, const Ranks& ranks,
            const std::vector<uint64_t>& bytes);
  void free(const std::string& name, const Ranks& ranks);
  // The line is complete: what it replaced is gone.
  void end_line();
  // The most that any rank held at a time.
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
