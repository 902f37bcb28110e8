// Finds the order in which the lines of a pipeline's microbatches run. It uses
// list scheduling: each rank has a clock, and the next line is always the one
// that can begin first. If several lines could begin at the same time, either
// forward or backward ones are preferred, then those of the earlier microbatch,
// then those that come first in the program. A rank may stay idle for a short
// time to wait for a line that is preferred. The reason is that lines do not
// take whole units of time, as they do in the papers: a rank that never waits
// begins a long line a moment before the line that others need. Several
// combinations of the preference and the time that a rank waits are tried. The
// order is chosen for which the time from one step to the next is shortest; if
// that is equal, the one that ends first.
//
// A bound on units keeps a rank from running all forward lines first and
// holding all of their values until the backward lines come. A unit is the
// forward lines of one microbatch within one part of the model (a chunk), which
// runs on one rank. It is open from its first line until the last line of its
// microbatch there that descends from it, be it by a view or by a value that
// was made of it: so as long as its values may be held. A rank opens another
// unit only while fewer units than its bound are open. If nothing else can run,
// the bound is exceeded, so that every program ends. How many units that are,
// and which lines are preferred, is a row of schedule_kinds.h for each kind.
// List scheduling: Graham, Bounds on multiprocessing timing anomalies, 1969.
//
// Lines that could run long before their results are read wait until these are
// wanted (schedule_delays.h).
//
// No schedule can deadlock. There is one order of all lines in which every line
// stands behind those that it needs, and each rank runs its lines in this
// order. So the first line that has not been run has everything that it needs,
// and all of its ranks have reached it or will do so.
#pragma once

#include <cstdint>
#include <vector>

#include "shard/schedule_kinds.h"
#include "spmd/rank_set.h"

namespace gt::shard {

// An index that stands for no line, value or unit.
inline constexpr uint32_t kNoIndex = UINT32_MAX;

// What the order depends on in a line. A line is named by its index, which is
// its place in the program.
struct ScheduledLine {
  int64_t microbatch = -1;  // -1: it belongs to none
  bool is_backward = false;
  bool is_recomputed = false;  // it makes a forward value once more
  Ranks ranks;    // where its results are; without results: where it runs
  Ranks senders;  // where its operands are, if on other ranks; else empty
  // The time that it takes on each of its ranks; for a line that moves values,
  // the time until they have arrived. A line of 0 seconds occupies no rank.
  double seconds = 0;
  std::vector<uint32_t> needs;  // earlier lines that make what it reads
  std::vector<uint32_t> after;  // other lines that must stand before it

  bool is_forward() const { return microbatch >= 0 && !is_backward; }
  bool moves() const { return !senders.empty(); }
  bool occupies_ranks() const {
    return !moves() && seconds > 0 && !ranks.empty();
  }
};

struct Order {
  std::vector<uint32_t> lines;  // the indices of the lines in their new order
  double seconds = 0;           // from the start until all ranks are done
  // The seconds from one step to the next if many steps follow each other
  // without a barrier.
  double period = 0;
  double busy = 0;          // seconds in which ranks compute, of all together
  int64_t ranks = 0;        // on how many ranks the lines run
  int64_t stages = 0;       // p: chunks of the model per chunk of a rank
  int64_t most_open = 0;    // the most units that a rank had open at a time
  int64_t most_parts = 0;   // the most chunks that a rank has
  bool comes_back = false;  // the last chunk is on the rank of the first
};

Order schedule(std::vector<ScheduledLine> lines, const ScheduleKind& kind);

}  // namespace gt::shard
