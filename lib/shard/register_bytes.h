// What the registers of the placed stream hold, as its lines are written.
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
  // The line that is being written binds the name on these ranks, with as many
  // bytes on each.
  void bind(const std::string& name, const Ranks& ranks,
            const std::vector<uint64_t>& bytes);
  void free(const std::string& name, const Ranks& ranks);
  // The line is written: what it replaced is gone.
  void end_line();
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
