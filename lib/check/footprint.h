// gt-check --memory: counts the bytes that the values of a stream take on each
// rank, and those that its copies have under way from rank to rank. A value
// counts from its line until its name is bound again or freed; a value that a
// line replaces counts beside the one that the line makes. Values that could
// share memory (such as a reshape of another) count each for itself.
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

// The bytes that a copy sends from one rank to another.
struct Transfer {
  int64_t from = 0;
  int64_t to = 0;
  uint64_t bytes = 0;
};

class Footprint {
 public:
  // Add the pieces that `parts` have on `ranks`, or remove them. For one line
  // all gains must be reported before the losses, since the values that it
  // makes and those that it replaces exist together for a while.
  void gain(const std::vector<ShardedValue>& parts, const Ranks& ranks);
  void lose(const std::vector<ShardedValue>& parts, const Ranks& ranks);
  // Notes the transfers of a copy into `to`, which are in flight until a line
  // reads that name.
  void send(SymbolId to, const std::vector<Transfer>& transfers);
  void read(SymbolId name) {
    if (!on_their_way_.empty()) arrive(name);
  }

  // Returns "ranks 0-3: 4608 bytes at most", "0 to 2: 3 copies, ...", a line
  // each.
  std::string summary() const;

 private:
  // The traffic from one rank to another; all but `copies` in bytes.
  struct Edge {
    uint64_t flying = 0;  // sent and not read yet
    uint64_t most = 0;    // the largest that this was
    uint64_t copies = 0;
    uint64_t bytes = 0;  // of all copies
  };
  void arrive(SymbolId name);

  HeldBytes ranks_;
  std::map<std::pair<int64_t, int64_t>, Edge> edges_;
  // The transfers in flight, by the name that they go to.
  std::unordered_map<SymbolId, std::vector<Transfer>> on_their_way_;
};

}  // namespace gt::check
