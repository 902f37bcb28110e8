// Infers the placements (R, I, V, P, S on each mesh axis) and piece types of a
// line's results from those of its operands, and finds the faults of its types.
// gt-check reports the faults; grad (gt-emit) needs only the results. Types of
// unplaced values are inferred by infer() of ops/call.h.
#pragma once

#include <vector>

#include "spmd/read_line.h"
#include "spmd/rules.h"

namespace gt {

// The findings of infer() about a line.
struct Inferred {
  // The results of the line. After a fault the state of each is kUnknown,
  // unless the line claims a type by #type=.
  std::vector<ShardedValue> results;
  TypeFaults faults;
  std::vector<Remark> remarks;
  std::vector<std::vector<Axis>> summed;  // see Findings (rules.h)
};

// The stages are: operands on other axes are moved to those of the current mesh
// (ReadLine); the letters are joined (join.h); shards are propagated (rules.h);
// claims are applied; gradients are checked. After a fault, the stages that
// need what it left unknown are skipped, but claims still hold, so that one
// fault does not spread to the lines that follow. `faults` are those found when
// the line was read.
Inferred infer(const ReadLine& line, TypeFaults faults);
Inferred infer(const LineToType& line);

}  // namespace gt
