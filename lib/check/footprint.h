// gt-check --memory: the bytes that the values of a stream take on each rank,
// and those that its copies have on their way from rank to rank. A value counts
// from its line until its name is bound again or freed; what a line replaces
// counts beside what it makes. Values that could share memory (a reshape of
// another) count each for itself.
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
  // Adds the pieces that `parts` have on `ranks`, or takes them off. Of one
  // line all gains are told before the losses, since what it makes and what it
  // replaces are there together for a while.
  void gain(const std::vector<ShardedValue>& parts, const Ranks& ranks);
  void lose(const std::vector<ShardedValue>& parts, const Ranks& ranks);
  // The transfers of a copy into `to` are in flight until a line reads that
  // name.
  void send(SymbolId to, const std::vector<Transfer>& transfers);
  void read(SymbolId name) {
    if (!on_their_way_.empty()) arrive(name);
  }

  // "ranks 0-3: 4608 bytes at most", "0 to 2: 3 copies, ...", a line each.
  std::string summary() const;

 private:
  // From one rank to another; all but `copies` in bytes.
  struct Edge {
    uint64_t flying = 0;  // sent and not read yet
    uint64_t most = 0;    // the largest that this was
    uint64_t copies = 0;
    uint64_t bytes = 0;  // of all copies
  };
  void arrive(SymbolId name);

  HeldBytes ranks_;
  std::map<std::pair<int64_t, int64_t>, Edge> edges_;
  // By the name that they go to.
  std::unordered_map<SymbolId, std::vector<Transfer>> on_their_way_;
};

}  // namespace gt::check
