// How shards lie: finds which axis of a dimension is the outer one, and checks
// that tensors that are sharded alike are cut alike.
#include <algorithm>
#include <set>
#include <string_view>

#include "spmd/rules.h"

namespace gt {
namespace {

using Nesting = std::set<std::pair<Axis, Axis>>;  // outer, inner

void add_entries(const Placement& type, Nesting& nesting) {
  for (const SpecEntry& entry : type.spec) {
    for (size_t i = 0; i < entry.size(); ++i) {
      for (size_t j = i + 1; j < entry.size(); ++j) {
        nesting.insert({entry[i], entry[j]});
      }
    }
  }
}

// Returns the placement that split= states for the first result; empty if
// split= is about an operand, or missing.
Placement stated_result(const ReadLine& in, const WholeLine& whole) {
  Placement stated;
  const Call& call = whole.call;
  if (in.line.results.empty() || call.op->row->part_operand >= 0 ||
      call.results.empty() ||
      !in.spec_of_split(call.results[0].shape.size(), stated)) {
    return {};
  }
  return stated;
}

bool order_entry(SpecEntry& entry, const Nesting& nesting, Findings& out) {
  for (size_t i = 1; i < entry.size(); ++i) {
    for (size_t j = i; j > 0 && nesting.count({entry[j], entry[j - 1]}); --j) {
      std::swap(entry[j], entry[j - 1]);
    }
  }
  for (size_t i = 0; i + 1 < entry.size(); ++i) {
    if (nesting.count({entry[i], entry[i + 1]}) > 0) continue;
    return out.faults.add({.rule = Rule::kNestingUnsaid,
                           .axes = {entry[i]},
                           .to = {entry[i + 1]}});
  }
  return true;
}

}  // namespace

bool order_entries(const ReadLine& in, const WholeLine& whole, Findings& out) {
  Nesting nesting;
  for (const auto& operand : in.operands) {
    if (operand.has_value()) add_entries(operand->type, nesting);
  }
  const Placement stated = stated_result(in, whole);
  add_entries(stated, nesting);
  for (const auto& [outer, inner] : nesting) {
    if (nesting.count({inner, outer}) == 0) continue;
    return out.faults.add({.rule = Rule::kNestedBothWays,
                           .axes = {outer},
                           .to = {inner},
                           .stated = stated});
  }
  for (Placement& type : out.types) {
    for (SpecEntry& entry : type.spec) {
      if (!order_entry(entry, nesting, out)) return false;
    }
  }
  return true;
}

// ---- cuts -------------------------------------------------------------------

namespace {

// Takes the tensors of one label on one rank, one after the other, and checks
// that each has as many of the label's coordinates as the first.
class CutOnRank {
 public:
  CutOnRank(int64_t rank, const Axis& axis, Findings& out)
      : rank_(rank), axis_(axis), out_(out) {}

  // `regroups`: the tensor is split by a reshape.
  bool take(const LabelDim& place, const Type& piece, std::string_view name,
            bool regroups) {
    if (!place.is_there()) return true;
    const int64_t size = piece.shape[static_cast<size_t>(place.dim)];
    const int64_t mine = size / place.unit;
    if (count_ < 0) {
      count_ = mine;
      first_ = name;
    }
    if (size % place.unit == 0 && mine == count_) return true;
    return out_.faults.add(
        {.rule = regroups ? Rule::kRegroupUnlike : Rule::kCutUnlike,
         .axes = {axis_},
         .dim = place.dim,
         .n = rank_,
         .m = size,
         .size = first_ == name ? place.unit : count_ * place.unit,
         .text = std::string(name),
         .more = std::string(first_)});
  }

 private:
  int64_t rank_;
  const Axis& axis_;
  Findings& out_;
  int64_t count_ = -1;
  std::string_view first_;
};

bool check_cut(const ReadLine& in, const WholeLine& whole, const Label& label,
               const Axis& axis, size_t position, Findings& out) {
  CutOnRank cut(in.ranks()[position], axis, out);
  const bool regroups = whole.call.op->row->regroups;
  for (size_t i = 0; i < whole.call.arguments.size(); ++i) {
    const Placement* type = whole.type_of(i);
    if (type == nullptr || !label.arguments[i].is_there()) continue;
    if (type->dim_of(axis) < 0) continue;  // one element, which ranks repeat
    const auto o = static_cast<size_t>(whole.operand_of(i));
    if (in.operands[o]->pieces.size() <= position) continue;
    if (!cut.take(label.arguments[i], in.operands[o]->pieces[position],
                  in.line.operands[o].text, regroups)) {
      return false;
    }
  }
  if (!in.has_pieces()) return true;
  for (size_t r = 0; r < out.types.size() && r < label.results.size(); ++r) {
    if (!cut.take(label.results[r], in.pieces->value()[r][position],
                  in.line.results[r].text, false)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool check_cuts(const ReadLine& in, const WholeLine& whole,
                const std::vector<std::vector<Axis>>& axes, Findings& out) {
  if (!in.is_placed()) return true;
  for (size_t r = 0; r < out.types.size(); ++r) {
    if (!out.types[r].is_sharded() || !in.has_pieces() ||
        in.pieces->value()[r][0].shape.size() == out.types[r].spec.size()) {
      continue;
    }
    return out.faults.add({.rule = Rule::kPieceDims});
  }
  for (size_t l = 0; l < whole.labels.size(); ++l) {
    if (axes[l].empty()) continue;
    for (size_t p = 0; p < in.ranks().size(); ++p) {
      if (!check_cut(in, whole, whole.labels[l], axes[l][0], p, out)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace gt
