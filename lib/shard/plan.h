// The plan of a line: in which layouts it reads its operands and makes its
// results. On each axis of the mesh it is the legal combination that is
// expected to take the least time, in seconds by the figures of the machine: to
// move the operands, to compute, and to give the results what they still need.
// What is legal follows from the op's index rule (ops/index_rule.h) and from
// where it is linear (spmd/join.h). planner.h makes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/call.h"
#include "ops/index_rule.h"
#include "shard/config.h"
#include "spmd/layout.h"

namespace gt::shard {

// In which layouts a tensor argument can be had.
struct PlannedOperand {
  // In which it is there. None: its line waits (waiting.h), and it is created
  // as this line wants it; for that are the fields below.
  std::vector<Layout> layouts;
  std::optional<Layout> pin;    // how the config says that it is cut
  std::optional<Layout> offer;  // a cut that it may take at no cost
  bool is_zero = false;         // it is all zeros, also as summands
};

struct PlannedLine {
  const Call& call;
  uint32_t set = 0;
  std::vector<PlannedOperand>
      operands;               // by argument; unused where no tensor is
  std::optional<Layout> pin;  // of result 0, by the config
  // Results may stay summands, and their sum is not charged to this line, as of
  // a microbatch, whose gradients are added up before they are summed over
  // ranks.
  bool keeps_summands = false;
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
  std::vector<Layout> results;  // as the line makes them
  bool needs_split = false;     // the line must say split= (Label::needs_split)
  bool sums_halves = false;     // f16 or bf16 over what is cut: see epilogue.h
  // Axes over which the maximum or minimum of all parts is still to be found,
  // and "max" or "min".
  std::vector<std::pair<size_t, std::string>> extremes;
  double moving = 0;  // seconds to move the operands
  double bytes = 0;   // that each rank sends for that
  std::vector<Alternative> alternatives;
};

Plan plan_line(const Cluster& cluster, const Machine& machine,
               const PlannedLine& line);

// Seconds that the call itself takes on a rank, with its tensors cut as
// planned.
double work_seconds(const Cluster& cluster, const Machine& machine,
                    const Call& call, const Plan& plan);

}  // namespace gt::shard
