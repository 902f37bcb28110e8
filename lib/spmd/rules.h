// The typing rules: how the placements of a line's results follow from those of
// its operands. Each is a function from a ReadLine to Findings. infer()
// (infer.h) applies them in order; nobody else calls them.
//
// Source: spmd_types 0.2 (meta-pytorch/spmd_types), as gt-check(1) states it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/index_rule.h"
#include "spmd/read_line.h"

namespace gt {

// A warning: the line reads shards of a dimension of an operand as unrelated
// values, which is legal but seldom meant.
struct Remark {
  int operand = 0;
  int64_t dim = 0;
};

// The findings of the rules about a line.
struct Findings {
  std::vector<Placement> types;  // of the results
  TypeFaults faults;
  std::vector<Remark> remarks;
  // For each result, the axes on which it is P because a dimension was
  // contracted that they shard. A checker that does not follow shards would
  // give V there.
  std::vector<std::vector<Axis>> summed;

  // Sets the type of all results on an axis.
  void set_all(const Axis& axis, char letter, int32_t pending = 0) {
    for (Placement& type : types) type.set(axis, letter, pending);
  }
};

// The functions that return a bool return whether the line is legal so far; if
// it is not, they have added a fault.

// ---- local_rule.cc: the join, axis by axis ----------------------------------

// Checks that every operand has a type on every axis, and, where shards are
// followed, that a V shards a known dimension.
bool check_typed(const ReadLine& in, Findings& out);
// Adds the fault of an operand without a type on the axis.
bool fail_untyped(size_t operand, const Axis& axis, Findings& out);
struct WholeLine;
// Joins the letters of the operands on each axis (join.h) to those of the
// results. `whole` is null if shards are not followed.
bool join_axes(const ReadLine& in, const WholeLine* whole, Findings& out);
// Shards the results of a creation or a load as split= says.
void declare_source(const ReadLine& in, Findings& out);
// Makes the results of a line with split= that computes from equal copies (R)
// values that differ by rank (V). Only for axes on which shards are not
// followed.
void cut_copies(const ReadLine& in, Findings& out);

// ---- shard_rule.cc, nesting_rule.cc: where shards go ------------------------

// The line as one device would run it, on whole tensors, with its index rule
// (ops/index_rule.h), from which the propagation of shards follows.
struct WholeLine {
  // Binds the line to the wholes of its operands. If the line states the sizes
  // of its pieces, or the wholes do not fit together, it takes the pieces on
  // the first rank instead (is_by_pieces); the rules then find which shard is
  // read whole, or is cut in other places.
  explicit WholeLine(const ReadLine& in);
  WholeLine(const WholeLine&) = delete;  // its call views into it

  bool has_labels = false;  // there are shards, and shapes go together
  bool is_by_pieces = false;
  Call call;
  std::vector<Label> labels;

  // Returns the placement of an argument; null if it is no name.
  const Placement* type_of(size_t argument) const;
  // Returns the index of an argument among the line's operands.
  int operand_of(size_t argument) const {
    return call.arguments[argument].operand;
  }
  // True if the line sums over a dimension that the axis shards, and every
  // operand that is P on the axis is only added to that sum, as a bias is
  // (Label::added). Then the result is P though the op is not linear in all
  // operands.
  bool adds_to_sum(const Axis& axis) const;

 private:
  bool bind();
  const ReadLine& in_;
  Line line_;  // `call` has views into it
};
// True if the axis shards a dimension of some operand.
bool is_sharded_by(const ReadLine& in, const Axis& axis);
// Finds, by the labels of the line, which dimensions of the results are sharded
// by which axes, and on which axes the results are partial sums.
bool propagate_shards(const ReadLine& in, WholeLine& whole, Findings& out);
// Finds the order in which axes shard a dimension of a result, if there are
// several, as the operands' specs together determine it.
bool order_entries(const ReadLine& in, const WholeLine& whole, Findings& out);
// Checks that tensors that are sharded along one label are cut in the same
// places. `axes` has, for each label, the axes that shard it.
bool check_cuts(const ReadLine& in, const WholeLine& whole,
                const std::vector<std::vector<Axis>>& axes, Findings& out);
// Checks that what split= states agrees with the tensor's placement.
bool check_split(const ReadLine& in, const Placement& type, size_t dims,
                 Findings& out);

// ---- crossing_rule.cc, collective_rule.cc, move_rule.cc: between ranks ------

// Types a line that crosses ranks: calls the rule for its op, one of those
// below.
bool cross_ranks(const ReadLine& in, Findings& out);
// Returns the axes over which the line's groups are; none if each group is one
// rank, so that nothing happens. Returns nothing, and adds a fault, if they
// cannot be determined.
std::optional<std::vector<Axis>> group_axes(const ReadLine& in, Findings& out);
// Returns the rank at a position of the first group, as root= gives the
// position. The ranks at this position in all groups have the same coordinates
// along the group's axes. Returns nothing if there is no such position, which
// is an error of the shapes.
std::optional<int64_t> group_member(const ReadLine& in, int64_t position);
// Types collectives and conversions between two ends.
bool connect_ends(const ReadLine& in, const std::vector<Axis>& group,
                  Findings& out);
bool broadcast_or_reduce(const ReadLine& in, const std::vector<Axis>& group,
                         Findings& out);
bool copy_between_ranks(const ReadLine& in, Findings& out);
bool remesh_operand(const ReadLine& in, Findings& out);
bool redistribute_specs(const ReadLine& in, Findings& out);

// ---- gradient_rule.cc -------------------------------------------------------

// Checks that an optimizer's gradient has the placement of its parameter.
bool check_optimizer(const ReadLine& in, Findings& out);
// Checks a line with #grad=w. The result that has w's shape must have a
// placement that a gradient of w can have: that of w, its dual (placement.h),
// or partial sums that are still to be reduced.
bool check_gradient(const ReadLine& in,
                    const std::vector<ShardedValue>& results, Findings& out);
// If the gradient of the line is a sum over the group in less than 32 bits,
// checks that the line says so (bwd=).
bool check_precision(const ReadLine& in, const std::vector<Axis>& group,
                     char src, char dst, Findings& out);
// Types the line grad: its loss must count once over all ranks; its results
// have the duals of the targets' placements.
bool take_gradients(const ReadLine& in, Findings& out);

}  // namespace gt
