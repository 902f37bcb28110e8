// Which layouts a line's operands and results take: on each axis the legal
// combination that is expected to take the least time. What is legal follows
// from the op's index rule (index_rule.h) and from where it is linear (join.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/call.h"
#include "ops/index_rule.h"
#include "shard/config.h"
#include "spmd/layout.h"

namespace gt::shard {

// What a tensor argument can be had as.
struct PlannedOperand {
  std::vector<Layout> layouts;  // that exist; none: it is created as wanted
  std::optional<Layout> pin;    // of what is created: how the config cuts it
  std::optional<Layout> offer;  // of what is created: a cut that it may have
  bool is_zero = false;         // as summands it is zeros, too
};

struct PlannedLine {
  const Call& call;
  uint32_t set = 0;
  std::vector<PlannedOperand>
      operands;                 // by argument; unused where no tensor is
  std::optional<Layout> pin;    // of result 0, by the config
  bool keeps_summands = false;  // a sum of the result is not paid for here
};

// One way of taking a line, on one axis or on several together.
struct Alternative {
  std::string axes;  // "dp+tp"
  std::string what;  // "k cut, summed", for people
  double seconds = 0;
  bool chosen = false;
};

struct Plan {
  std::vector<Layout> arguments;
  std::vector<Layout> results;
  bool needs_split = false;  // for a label that is cut
  bool sums_halves = false;  // f16 or bf16 over what is cut: in f32
  // Axes over which the results are still to be made the largest or smallest.
  std::vector<std::pair<size_t, std::string>> extremes;
  double moving = 0;  // moves
  double bytes = 0;   // that each rank sends
  std::vector<Alternative> alternatives;
};

Plan plan_line(const Cluster& cluster, const Machine& machine,
               const PlannedLine& line);

// Seconds that the call takes a rank, whose tensors are cut so.
double work_seconds(const Cluster& cluster, const Machine& machine,
                    const Call& call, const Plan& plan);

}  // namespace gt::shard
