// A plan says in which layouts a line reads its operands and makes its results.
// On each axis of the mesh it is the legal combination of layouts for which the
// estimated time is shortest. The time is in seconds, by the figures of the
// machine, and includes moving the operands, computing, and what the results
// need afterwards. What is legal follows from the op's index rule
// (ops/index_rule.h) and from the operands in which it is linear (spmd/join.h).
// planner.h makes plans.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/call.h"
#include "ops/index_rule.h"
#include "shard/config.h"
#include "spmd/layout.h"

namespace gt::shard {

// What is known of a tensor argument before a line is planned.
struct PlannedOperand {
  // The layouts in which it exists. If there are none, its line waits
  // (waiting.h), and it will be created in the layout that this line wants. The
  // fields below are for that case.
  std::vector<Layout> layouts;
  std::optional<Layout> pin;       // how the config says it is cut
  std::optional<Layout> offer;     // a cut in which it may be made at no cost
  bool is_zero = false;            // all zeros, so summands cost nothing
  std::optional<Dtype> sum_dtype;  // ShardValue::sum_dtype
};

struct PlannedLine {
  const Call& call;
  uint32_t set = 0;
  std::vector<PlannedOperand> operands =
      {};                          // by argument; unused if it is no tensor
  std::optional<Layout> pin = {};  // how the config wants result 0
  // True if results may stay summands and their sum is not charged to this
  // line. That is so of a microbatch's gradients, which are added up before
  // they are summed over ranks, and of lines that read summands. Else a forward
  // product would take a way because of a sum that the next line pays for.
  bool keeps_summands = false;
  bool is_backward = false;
  std::optional<Dtype> sum_dtype = {};  // that of the results
};

// A line and all that its plan depends on.
struct LineToPlan {
  const Cluster& cluster;
  const Machine& machine;
  const PlannedLine& line;
  const Call& call;           // that of the line
  std::vector<Label> labels;  // of the call; none if no axis may cut anything
};

// One way to run a line, on one axis or on several together.
struct Alternative {
  std::string axes;  // the axes, such as "dp+tp"
  std::string what;  // the way, for explanations: "x.1 w.0 cut, summed"
  double seconds = 0;
  bool chosen = false;
};

struct Plan {
  std::vector<Layout> arguments;
  std::vector<Layout> results;  // as the line itself makes them
  bool needs_split = false;     // the line needs split= (Label::needs_split)
  bool sums_halves = false;     // f16 or bf16 summands; see epilogue.h
  // Axes on which each rank finds the maximum or minimum of its own part, with
  // "max" or "min". That of all parts is still to be found.
  std::vector<std::pair<size_t, std::string>> extremes;
  double moving = 0;  // seconds it takes to move the operands
  double bytes = 0;   // bytes that each rank sends for that
  // Seconds that the line takes in all: to move its operands, to run, and for
  // what its results need afterwards.
  double seconds = 0;
  std::vector<Alternative> alternatives;
};

// Returns the type in which a tensor is moved from one layout to the other. It
// has the dtype `sum_dtype`, if there is one, where a sum is taken on the way
// and the ranks stay the same.
Type moved_type(Type type, const std::optional<Dtype>& sum_dtype,
                const Layout& from, const Layout& to);

Plan plan_line(const Cluster& cluster, const Machine& machine,
               const PlannedLine& line);
// Returns the other plans of the line that differ from that one in what one
// axis does.
std::vector<Plan> other_plans(const Cluster& cluster, const Machine& machine,
                              const PlannedLine& line);

// Returns the seconds for which the call keeps its rank busy, given its
// operations and the bytes that it reads and writes, where layouts are
// compared. A product reads ahead while it multiplies, so the longer of both
// counts: a layout that saves it some reading is worth no message.
double busy_seconds(const Machine& machine, const Call& call, double flops,
                    double bytes);

// Returns the seconds that the call itself takes on a rank, with its tensors
// cut as planned.
double work_seconds(const Cluster& cluster, const Machine& machine,
                    const Call& call, const Plan& plan);
double busy_seconds(const Cluster& cluster, const Machine& machine,
                    const Call& call, const Plan& plan);

}  // namespace gt::shard
