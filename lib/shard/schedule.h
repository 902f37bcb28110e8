// The order in which the lines of a pipeline's microbatches run, found by list
// scheduling: a clock for each rank, and always the line next that can begin
// first. Of lines that could begin at the same time either forward or backward
// ones are chosen first; then the earlier microbatch counts, then the order of
// the program. A rank may wait a little for a line that would be chosen first:
// the times of lines are not whole units, as in the papers, and who never waits
// begins a long line a moment before the one that others wait for. What is
// chosen first and how long a rank waits is tried in several ways, and the
// order is taken whose steps follow each other faster, of two such the one that
// is done sooner.
//
// What keeps a rank from running all forward lines first, and from holding all
// of their values until the backward lines come, is a bound on its units. A
// unit is the forward lines of one microbatch within one part of the model (a
// chunk), on one rank; it is open from its first line until the last line of
// its microbatch that reads what it made. A rank opens another unit only while
// fewer than its bound are open. Where nothing else can run, the bound gives
// way, so that every program ends.
//
//   kind          units open at a time, on stage s of p
//   gpipe         all; of lines that could begin at once, forward ones first
//   1f1b          p - s
//   interleaved   2 (p - s - 1) + (v - 1) p + 1
//   zb-h1         p
//   zb-h2         2 p - 1
//   zb-v          v p
//
// 1f1b and interleaved are one kind; v is how many chunks a rank has. Of the
// other three, backward lines that no earlier stage waits for, the gradients of
// weights, are chosen last: they run where a rank would wait. Sources: Huang et
// al., GPipe, 2019; Narayanan et al., Efficient large-scale language model
// training on GPU clusters, 2021; Qi et al., Zero bubble pipeline parallelism,
// 2024, and Pipeline parallelism with controllable memory, 2024 (zb-v). List
// scheduling: Graham, Bounds on multiprocessing timing anomalies, 1969.
//
// No schedule can deadlock: the order is one order of all lines in which every
// line stands behind those that it needs, and each rank runs its lines in this
// order. So the first line that has not been run has all that it needs, and all
// of its ranks have come to it or are on their way.
#pragma once

#include <cstdint>
#include <vector>

#include "shard/config.h"
#include "spmd/rank_set.h"

namespace gt::shard {

// No line, value or unit.
inline constexpr uint32_t kNoIndex = UINT32_MAX;

// A line, as far as its place in the order depends on it. Lines are told by
// their index, which is the order of the program.
struct ScheduledLine {
  int64_t microbatch = -1;  // -1: of none
  bool is_backward = false;
  Ranks ranks;    // where its results are, or, if it has none, where it runs
  Ranks senders;  // of a line that reads what is on other ranks: from where
  // What it takes on each of its ranks; of a line that moves values, until they
  // are there. A line of 0 seconds occupies no rank.
  double seconds = 0;
  std::vector<uint32_t> needs;  // lines before it that make what it reads
  std::vector<uint32_t> after;  // lines that must stand before it all the same

  bool is_forward() const { return microbatch >= 0 && !is_backward; }
  bool moves() const { return !senders.empty(); }
  bool occupies_ranks() const {
    return !moves() && seconds > 0 && !ranks.empty();
  }
};

struct Order {
  std::vector<uint32_t> lines;  // in the order in which they are to stand
  double seconds = 0;           // until all ranks are done
  // From one such step to the next, where many follow each other without a
  // barrier.
  double period = 0;
  double busy = 0;        // the seconds in which each rank computes, added up
  int64_t ranks = 0;      // how many ranks the lines run on
  int64_t stages = 0;     // p: chunks of the model over chunks of a rank
  int64_t most_open = 0;  // the most units that a rank had open at a time
};

Order schedule(const std::vector<ScheduledLine>& lines, ScheduleKind kind);

}  // namespace gt::shard
