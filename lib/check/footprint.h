// Bytes that the values of a stream take on each rank, and that its copies have
// in flight between ranks. A value counts from its line until its name is bound
// again or freed; what a line replaces counts beside what it makes. Values that
// share memory count each for itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/registers.h"
#include "spmd/held_bytes.h"
#include "spmd/rank_set.h"

namespace gt::check {

// What a copy sends from one rank to another.
struct Transfer {
  int64_t from = 0;
  int64_t to = 0;
  uint64_t bytes = 0;
};

class Footprint {
 public:
  // On the ranks where a line runs a name gets these, or loses them. What a
  // line binds comes before all that it replaces.
  void gain(const std::vector<ShardedValue>& parts, const Ranks& ranks);
  void lose(const std::vector<ShardedValue>& parts, const Ranks& ranks);
  // A copy into the name is on its way until a line reads the name.
  void send(SymbolId to, const std::vector<Transfer>& transfers);
  void read(SymbolId name) {
    if (!on_their_way_.empty()) arrive(name);
  }

  // "ranks 0-3: 4608 bytes at most", "0 to 2: 3 copies, ...", a line each.
  std::string summary() const;

 private:
  struct Edge {
    uint64_t flying = 0;
    uint64_t most = 0;
    uint64_t copies = 0;
    uint64_t bytes = 0;
  };
  void arrive(SymbolId name);

  HeldBytes ranks_;
  std::map<std::pair<int64_t, int64_t>, Edge> edges_;
  std::unordered_map<SymbolId, std::vector<Transfer>> on_their_way_;  // to it
};

}  // namespace gt::check
