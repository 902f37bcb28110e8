#include "ops/regrouping.h"

#include <numeric>
#include <utility>

namespace gt {
namespace {

// Walks the groups of dimensions with equal product, in x and in the result.
// The first dimension of a group can be cut wherever the cut falls between
// whole elements of both.
class Groups {
 public:
  Groups(const Call& call)
      : from_(call.type(0).shape), to_(call.results[0].shape) {}

  // Goes to the next group, which begins behind dimensions of size 1. Returns
  // false at the end, before which there may be such dimensions as well.
  bool next() {
    const size_t ones = skip_ones(from_, i_);
    ones_ = skip_ones(to_, j_) == ones ? ones : 0;
    first_ = i_;
    other_ = j_;
    if (i_ == from_.size() || j_ == to_.size()) return false;
    int64_t a = from_[i_++];
    int64_t b = to_[j_++];
    while (a != b) {
      if (a < b) {
        a *= from_[i_++];
      } else {
        b *= to_[j_++];
      }
    }
    total_ = a;
    return true;
  }
  Label label(const Call& call) const {
    const int64_t inner = total_ / from_[first_];
    const int64_t other = total_ / to_[other_];
    const int64_t step = std::lcm(inner, other);
    Label label(call, total_ / step);
    label.arguments[0] = {static_cast<int32_t>(first_), step / inner};
    label.results[0] = {static_cast<int32_t>(other_), step / other};
    return label;
  }
  // Adds labels for the dimensions of size 1 before the group, which stay, in
  // their order, if the result has as many of them there.
  void add_ones(const Call& call, std::vector<Label>& labels) const {
    for (size_t k = ones_; k > 0; --k) {
      Label label(call, 1);
      label.arguments[0].dim = static_cast<int32_t>(first_ - k);
      label.results[0].dim = static_cast<int32_t>(other_ - k);
      labels.push_back(std::move(label));
    }
  }

 private:
  static size_t skip_ones(const Shape& shape, size_t& d) {
    const size_t first = d;
    while (d < shape.size() && shape[d] == 1) ++d;
    return d - first;
  }

  const Shape& from_;
  const Shape& to_;
  size_t i_ = 0, j_ = 0;
  size_t ones_ = 0;  // those before the group, if both have as many
  size_t first_ = 0, other_ = 0;
  int64_t total_ = 1;
};

}  // namespace

std::vector<Label> labels_reshape(const Call& call) {
  std::vector<Label> labels;
  if (call.type(0).elements() > 0) {
    Groups groups(call);
    for (bool more = true; more;) {
      more = groups.next();
      groups.add_ones(call, labels);
      if (more) labels.push_back(groups.label(call));
    }
    return labels;
  }
  // In tensors without elements, only dimensions before the first one that
  // differs keep their labels, since products of sizes are 0 and tell nothing.
  const Shape& from = call.type(0).shape;
  const Shape& to = call.results[0].shape;
  for (size_t d = 0; d < std::min(from.size(), to.size()); ++d) {
    if (from[d] != to[d]) break;
    Label label(call, from[d]);
    label.arguments[0].dim = label.results[0].dim = static_cast<int32_t>(d);
    labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace gt
