// The rules by which a line's results follow from its operands: functions from
// a line as it is read to what its results are, or to a fault. infer() applies
// them in order.
//
// Source: spmd_types 0.2 (meta-pytorch/spmd_types), as gt-check(1) states it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/index_rule.h"
#include "spmd/read_line.h"

namespace gt {

// What is legal but seldom meant: shards of a dimension of the operand are read
// as unrelated values.
struct Remark {
  int operand = 0;
  int64_t dim = 0;
};

// What is found out about a line.
struct Findings {
  std::vector<Placement> types;  // of the results
  TypeFaults faults;
  std::vector<Remark> remarks;
  // By result: where it is a sum by its operands' shards, and unrelated values
  // to those who do not follow shards.
  std::vector<std::vector<Axis>> summed;

  void set_all(const Axis& axis, char letter, int32_t pending = 0) {
    for (Placement& type : types) type.set(axis, letter, pending);
  }
};

// All functions return whether the line is legal so far; if not, they have
// added a fault.

// ---- local_rule.cc: the join, axis by axis ----------------------------------

// Every operand is typed on every axis, and where shards are followed a V says
// which dimension it shards.
bool check_typed(const ReadLine& in, Findings& out);
// An operand without a type on the axis.
bool fail_untyped(size_t operand, const Axis& axis, Findings& out);
// The line as one device runs it, and how its tensors' dimensions go together.
struct WholeLine;
// The results' letters. `whole`: null where shards are not followed.
bool join_axes(const ReadLine& in, const WholeLine* whole, Findings& out);
// A source's cuts, and cuts out of equal copies, which differ by rank.
void declare_source(const ReadLine& in, Findings& out);
void cut_copies(const ReadLine& in, Findings& out);

// ---- shard_rule.cc, nesting_rule.cc: where shards go ------------------------

struct WholeLine {
  // Of operands' wholes. Where a line states the sizes of its pieces, or the
  // wholes do not go together, of the first rank's: then a shard that is read
  // whole, or cut elsewhere, is what is found.
  explicit WholeLine(const ReadLine& in);
  WholeLine(const WholeLine&) = delete;  // its call views into it

  bool has_labels = false;  // there are shards, and shapes go together
  bool is_by_pieces = false;
  Call call;
  std::vector<Label> labels;

  // Of an argument; null of what is no name.
  const Placement* type_of(size_t argument) const;
  // What an argument is among the line's operands.
  int operand_of(size_t argument) const {
    return call.arguments[argument].operand;
  }
  // Whether all that is P on the axis is only added to a sum over what the axis
  // shards: a bias of summands.
  bool adds_to_sum(const Axis& axis) const;

 private:
  bool bind();
  const ReadLine& in_;
  Line line_;  // what `call` views
};
bool is_sharded_by(const ReadLine& in, const Axis& axis);
bool propagate_shards(const ReadLine& in, WholeLine& whole, Findings& out);
// Which axis of a dimension is the outer one: as all entries together say.
bool order_entries(const ReadLine& in, const WholeLine& whole, Findings& out);
// What is sharded alike is cut alike. `axes`: that shard each label.
bool check_cuts(const ReadLine& in, const WholeLine& whole,
                const std::vector<std::vector<Axis>>& axes, Findings& out);
// What split= states is what the tensor is.
bool check_split(const ReadLine& in, const Placement& type, size_t dims,
                 Findings& out);

// ---- crossing_rule.cc, collective_rule.cc, move_rule.cc: between ranks ------

bool cross_ranks(const ReadLine& in, Findings& out);
// The axes of the groups; over none nothing happens. Nothing, with a fault.
std::optional<std::vector<Axis>> group_axes(const ReadLine& in, Findings& out);
// The rank at a position of its group; the coordinates of other groups' are
// the same. None: there is no such position, which is told with the shapes.
std::optional<int64_t> group_member(const ReadLine& in, int64_t position);
// Collectives and conversions between two ends.
bool connect_ends(const ReadLine& in, const std::vector<Axis>& group,
                  Findings& out);
bool broadcast_or_reduce(const ReadLine& in, const std::vector<Axis>& group,
                         Findings& out);
bool copy_between_ranks(const ReadLine& in, Findings& out);
bool remesh_operand(const ReadLine& in, Findings& out);
bool redistribute_specs(const ReadLine& in, Findings& out);

// ---- gradient_rule.cc -------------------------------------------------------

// An optimizer's gradient is what its parameter is.
bool check_optimizer(const ReadLine& in, Findings& out);
// A line with #grad=w gives w's gradient; of several results, one of w's shape.
bool check_gradient(const ReadLine& in,
                    const std::vector<ShardedValue>& results, Findings& out);
// A sum backward in less than 32 bits has to be asked for.
bool check_precision(const ReadLine& in, const std::vector<Axis>& group,
                     char src, char dst, Findings& out);
// A grad: the loss counts once, and what it gives are the duals.
bool take_gradients(const ReadLine& in, Findings& out);

}  // namespace gt
