// How the dimensions of one call's tensors belong together: the row's index
// rule made concrete. All that is said of shards - where one may go, when a
// result is a sum still owed, what must be whole - follows from it
// (gt-shard(1), gt-check(1)).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/call.h"

namespace gt {

// A tensor by its name; not a number, and not left out.
inline bool is_tensor(const Argument& a) {
  return a.role == Role::kTensor && !a.absent && !a.literal;
}

// Where a label stands in a tensor: dimension `dim`, of which `unit`
// consecutive indices are one of the label's coordinates. dim -1: nowhere.
struct LabelDim {
  int32_t dim = -1;
  int64_t unit = 1;
  bool is_there() const { return dim >= 0; }
  friend bool operator==(const LabelDim&, const LabelDim&) = default;
};

// One index that runs through a call. Ranks may cut it: then every tensor that
// has it is cut alike, and those that lack it are read whole.
struct Label {
  Label(const Call& call, int64_t n);

  int64_t size;                     // coordinates
  std::vector<LabelDim> arguments;  // as call.arguments
  std::vector<LabelDim> results;
  // Some result lacks it, and is a sum over it. What is only added to such a
  // sum (a bias) has to be summands, too: see `added`.
  bool is_summed = false;
  // What is computed depends on which part of the whole a rank has: on where
  // it begins (dropout's mask, a rotary angle, a causal row), or on how much of
  // what a key counts is in it (heads=). A line that cuts it needs split=.
  bool needs_split = false;
  // Of those: indices into it are those of the whole, and what lies in another
  // rank's part counts as zero, as of an embedding's rows.
  bool is_looked_up = false;
  std::vector<bool> added;  // by argument, of a summed label
  // "max" or "min": results that lack it are that over it, which ranks that
  // each have a part find together.
  std::string_view extreme;
  // A part of nothing makes no sense: of heads, of what has a largest.
  bool is_never_empty = false;
};

// Of a call whose types are known. A dimension under no label must be whole.
std::vector<Label> index_rule(const Call& call);

// ---- for rows whose rule depends on keys ------------------------------------

// By the row's index terms, which is what rows without a function get.
std::vector<Label> labels_by_terms(const Call& call);
// Every dimension is for itself in all tensors, but those of key axis=.
std::vector<Label> labels_along_axis(const Call& call);
// A reduction over axis=: the axes that stay; and in labels_summed() those that
// go. Arguments and results without the axes may stand beside the first whole
// argument.
std::vector<Label> labels_kept(const Call& call);
std::vector<Label> labels_summed(const Call& call);
std::vector<Label> labels_extreme(const Call& call);  // of max and min
// Dimension d of all arguments is to[d] of all results; -1: it must be whole.
std::vector<Label> labels_moved(const Call& call, std::span<const int32_t> to);
// Nothing may be cut.
std::vector<Label> labels_none(const Call& call);

}  // namespace gt
