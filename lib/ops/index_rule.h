// The index rule of a call: which dimensions of its operands and results run
// through one index. As in einsum, an index has a label: in a matrix product
// mk,kn->mn the label k stands on dimension 1 of the first operand and on
// dimension 0 of the second, and is summed over.
//
// All propagation of shardings follows from it: which dimensions can be cut
// together, when the results are then partial sums, and which dimensions must
// be whole on each rank. gt-shard chooses layouts by it, and gt-check checks
// types by it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/call.h"

namespace gt {

// True if the argument is a tensor's name: not a number, and not left out.
inline bool is_tensor(const Argument& a) {
  return a.role == Role::kTensor && !a.absent && !a.literal;
}

// True if keys ta= and tb= exchange the last two dimensions of argument i.
inline bool is_exchanged(const Call& call, size_t i) {
  return (i == 0 && call.flag("ta")) || (i == 1 && call.flag("tb"));
}

// The place of a label in one tensor: on dimension `dim`, in which `unit`
// consecutive indices make one coordinate of the label (as a head is `unit`
// columns of [s,h*d]). dim -1: the tensor lacks the label.
struct LabelDim {
  int32_t dim = -1;
  int64_t unit = 1;
  bool is_there() const { return dim >= 0; }
  friend bool operator==(const LabelDim&, const LabelDim&) = default;
};

// One index of a call. If ranks cut it, every tensor that has the label is cut
// in the same places, and tensors that lack it are read whole by each rank.
struct Label {
  // Makes a label of n coordinates that stands nowhere yet.
  Label(const Call& call, int64_t n);

  int64_t size;                     // the number of coordinates
  std::vector<LabelDim> arguments;  // in the order of call.arguments
  std::vector<LabelDim> results;    // in the order of call.results
  // True if some result lacks the label and is a sum over it: if ranks cut the
  // label, that result is a partial sum on each rank.
  bool is_summed = false;
  // True if the computation needs to know which part of the whole a rank has:
  // where it begins (dropout's mask, a rotary angle, a causal row), or how many
  // of the things that a key counts are in it (heads=). A line whose label is
  // cut then needs split=.
  bool needs_split = false;
  // True if a table is indexed along the label (the rows of an embedding).
  // Indices count in the whole, and an index into another rank's part gives
  // zero, so that the results are partial sums. Such a label needs split=, too.
  bool is_looked_up = false;
  // For a summed label, by argument: true if the argument lacks the label and
  // is only added to the sum, as a bias is. If the label is cut, such an
  // argument must be a partial sum itself; otherwise each rank would add all of
  // it.
  std::vector<bool> added;
  // "max" or "min" if a result that lacks the label is the largest or smallest
  // value along it, else "". If ranks cut the label, each rank has the extreme
  // of its part, and an all_reduce finds that of the whole.
  std::string_view extreme;
  // True if no rank's part may be empty: an empty part has no heads, or no
  // maximum.
  bool is_never_empty = false;
};

// Returns the labels of a call whose types are known. A dimension that has no
// label must be whole on each rank.
std::vector<Label> index_rule(const Call& call);

// ---- functions that rows name as Row::labels --------------------------------

// The rule of a row without a function: a label for each letter of its index
// terms that is not marked '!', and for each broadcast dimension.
std::vector<Label> labels_by_terms(const Call& call);
// Returns a label for each dimension, which is the same in all tensors, but
// none for the dimensions of key axis=, which must be whole.
std::vector<Label> labels_along_axis(const Call& call);
// The labels of a reduction of operand x over axis=. All three give a label for
// each dimension that stays. For a reduced dimension labels_kept() gives none,
// labels_summed() a summed one, and labels_extreme() one with `extreme`. Other
// arguments may have the shape of x or that of the reduced result.
std::vector<Label> labels_kept(const Call& call);
std::vector<Label> labels_summed(const Call& call);
std::vector<Label> labels_extreme(const Call& call);  // for max and min
// Returns labels of an op that moves dimensions: dimension d of every argument
// is dimension to[d] of every result. If to[d] is -1, dimension d has no label.
std::vector<Label> labels_moved(const Call& call, std::span<const int32_t> to);
// Returns no labels: nothing may be cut.
std::vector<Label> labels_none(const Call& call);

}  // namespace gt
