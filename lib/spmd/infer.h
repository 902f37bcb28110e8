// The types of a placed or annotated line's results: gt-emit wants the results,
// gt-check the faults as well.
#pragma once

#include <vector>

#include "spmd/read_line.h"
#include "spmd/rules.h"

namespace gt {

struct Inferred {
  // One for each result of the line; of unknown type after a fault, unless the
  // line claims it.
  std::vector<ShardedValue> results;
  TypeFaults faults;
  std::vector<Remark> remarks;
  std::vector<std::vector<Axis>> summed;  // as in Findings (rules.h)
};

// The first failing stage reports: operands on other axes are moved to the
// current mesh's; the local join; where shards go; then claims and gradients.
// `faults`: those of reading the line.
Inferred infer(const ReadLine& line, TypeFaults faults);
Inferred infer(const LineToType& line);

}  // namespace gt
