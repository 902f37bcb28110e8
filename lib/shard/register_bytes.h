// What the registers of the placed stream hold, as its lines are written.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "shard/layout.h"
#include "spmd/held_bytes.h"

namespace gt {

class RegisterBytes {
 public:
  // The line that is being written binds the name on these ranks.
  void bind(const std::string& name, const Ranks& ranks, uint64_t bytes);
  void free(const std::string& name, const Ranks& ranks);
  // The line is written: what it replaced is gone.
  void end_line();
  uint64_t most() const { return held_.most(); }

 private:
  struct Part {
    Ranks ranks;
    uint64_t bytes = 0;  // on each of them
  };
  void take_away(const std::string& name, const Ranks& ranks);

  std::unordered_map<std::string, std::vector<Part>> registers_;
  std::vector<Part> replaced_;
  HeldBytes held_;
};

}  // namespace gt
