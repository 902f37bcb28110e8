// How a value gets from one layout to another: the collectives, conversions
// and copies, in order.
#pragma once

#include <string>
#include <vector>

#include "shard/config.h"
#include "shard/layout.h"

namespace gt {

struct Move {
  std::string op;    // "all_reduce"
  std::string keys;  // " over=tp"
  Layout after;
  // Of a copy between sets: what it reads.
  std::string source_ranks;
  double seconds = 0;
  double bytes = 0;  // that each rank sends; 0: it is local
};

// Empty when nothing is to be done: the layouts are equal, or the value's ranks
// hold what the target's need.
std::vector<Move> moves(const Cluster& cluster, const Machine& machine,
                        const Type& whole, const Layout& from,
                        const Layout& to);

double seconds_of(const std::vector<Move>& moves);

}  // namespace gt
