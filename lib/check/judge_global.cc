// Global mode: where the shards of a line's operands go, by its index rule. A
// line is legal if running it on the shards gives shards of the result, the
// whole result, or summands of it.
#include <algorithm>
#include <set>

#include "check/judge.h"
#include "ops/part.h"
#include "ops/shape_rules.h"
#include "spmd/join.h"
#include "spmd/stated.h"
#include "spmd/stated_cut.h"

namespace gt {
namespace {

// Whether the call makes one number of the dimension, so that each shard's
// result is a part of the whole's, though not one of a sum.
bool reduces(const Call& call, size_t argument, int dim) {
  if (call.has_key("reduction")) {
    const Term& term = call.op->operand_terms[argument];
    const size_t rank = call.type(argument).shape.size();
    const size_t letters = term.letters.size();
    const size_t at = static_cast<size_t>(dim) + letters - rank;
    return letters > rank || static_cast<size_t>(dim) < rank - letters ||
           !term.whole[at];
  }
  return call.op->row->reduction != Reduction::kNone;
}

}  // namespace

const Placement* Judge::type_of(size_t argument) const {
  const Argument& a = whole_.arguments[argument];
  if (!is_tensor(a) || !is_name(static_cast<size_t>(a.operand))) return nullptr;
  return &operands_[static_cast<size_t>(a.operand)]->type;
}

bool Judge::sharded_by(const Axis& axis) const {
  return std::any_of(operands_.begin(), operands_.end(), [&](const auto& o) {
    return o.has_value() && o->type.dim_of(axis) >= 0;
  });
}

// The labels of the whole line. Where a line states the sizes of its pieces, or
// the wholes do not go together, those of the first rank's: then a shard that
// is read whole, or cut elsewhere, is what is found.
bool Judge::bind_whole() {
  const Op& op = *call_.op;
  const bool local_sizes =
      in_.where != nullptr && states_sizes(op) && !line_.key("split");
  std::vector<const Type*> types;
  wholes_.assign(operands_.size(), std::nullopt);
  bool known = true;
  for (size_t o = 0; o < operands_.size(); ++o) {
    if (operands_[o].has_value()) wholes_[o] = whole_of(*operands_[o]);
    known = known && (wholes_[o].has_value() || !operands_[o].has_value());
    types.push_back(wholes_[o].has_value() ? &*wholes_[o] : nullptr);
  }
  bound_line_ = whole_line(line_, op);
  if (!local_sizes && known && gt::bind(bound_line_, types, whole_).ok()) {
    return true;
  }
  is_by_pieces_ = true;
  if (is_bound_) whole_ = call_;
  return is_bound_;
}

// False: shapes do not go together; that is told with them.
bool Judge::find_labels() {
  const bool any =
      std::any_of(within_.begin(), within_.end(),
                  [this](const Axis& axis) { return sharded_by(axis); });
  if (!any && line_.key("split") == nullptr) return true;
  has_labels_ = bind_whole();
  if (has_labels_) labels_ = index_rule(whole_);
  return has_labels_;
}

// Whether all that is P on the axis is only added to a sum over what the axis
// shards: a bias of summands.
bool Judge::adds_to_sum(const Axis& axis) const {
  if (!has_labels_) return false;
  for (const Label& label : labels_) {
    bool sharded = false, added = label.is_summed;
    for (size_t i = 0; i < whole_.arguments.size(); ++i) {
      const Placement* type = type_of(i);
      if (type == nullptr) continue;
      const int dim = type->dim_of(axis);
      sharded = sharded || (dim >= 0 && label.arguments[i].dim == dim);
      if (type->on(axis) == 'P') added = added && label.added[i];
    }
    if (sharded) return added;
  }
  return false;
}

// A reshape with split= may cut a dimension of size 1, which one rank has and
// others do not: any of the result's of size 1 may be that one. Or it stands
// before the one that is kept, or kept one, as a leading factor of 1; the label
// then runs through that.
void Judge::lead_by_ones() {
  Placement stated;
  if (!whole_.op->row->regroups || whole_.results.empty()) return;
  const Shape& before = whole_.type(0).shape;
  const Shape& after = whole_.results[0].shape;
  if (!spec_of_split(after.size(), stated)) return;
  const auto ones = [](const Shape& shape, int from, int to) {
    bool all = from < to;
    for (int d = from; d < to; ++d) {
      all = all && shape[static_cast<size_t>(d)] == 1;
    }
    return all;
  };
  for (const AxisType& a : stated.axes) {
    const int from = type_of(0)->dim_of(a.axis);
    const int to = stated.dim_of(a.axis);
    if (from >= 0 && ones(before, from, from + 1) && ones(after, to, to + 1)) {
      std::erase_if(labels_, [&](const Label& label) {
        return label.arguments[0].dim == from || label.results[0].dim == to;
      });
      Label& one = labels_.emplace_back(whole_, 1);
      one.arguments[0].dim = from;
      one.results[0].dim = to;
      continue;
    }
    for (Label& label : labels_) {
      LabelDim& x = label.arguments[0];
      LabelDim& y = label.results[0];
      if (from < 0 || !x.is_there() || !y.is_there()) continue;
      if (x.dim == from && ones(after, to, y.dim)) {
        x.unit *= after[static_cast<size_t>(y.dim)];
        y = {to, 1};
      } else if (y.dim == to && ones(before, from, x.dim)) {
        y.unit *= before[static_cast<size_t>(x.dim)];
        x = {from, 1};
      }
    }
  }
}

bool Judge::propagate() {
  std::vector<Axis> sharding;
  for (const Axis& axis : within_) {
    if (sharded_by(axis)) sharding.push_back(axis);
  }
  if (sharding.empty() && line_.key("split") == nullptr) return true;
  if (!has_labels_) return false;
  lead_by_ones();
  label_axes_.assign(labels_.size(), {});
  for (const Axis& axis : sharding) propagate_axis(axis);
  Placement stated;
  const size_t dims =
      whole_.results.empty() ? 0 : whole_.results[0].shape.size();
  const bool of_result = whole_.op->row->part_operand < 0;
  if (!has_failed() && of_result && spec_of_split(dims, stated)) {
    for (const AxisType& a : stated.axes) {
      if (!sharded_by(a.axis)) place_by_split(a.axis, stated);
    }
  }
  if (!has_failed() && is_by_pieces_ && !states_sizes(*call_.op)) {
    add("shard-prop", &sharding[0],
        "the operands' wholes do not go together: " + wholes_text());
  }
  if (has_failed() || !order_entries() || !check_positions()) return false;
  if (line_.key("split") != nullptr) {
    const int part = whole_.op->row->part_operand;
    const Placement* type =
        of_result ? types_.data() : type_of(static_cast<size_t>(part));
    const size_t of =
        of_result ? dims : whole_.type(static_cast<size_t>(part)).shape.size();
    if (type != nullptr && !check_split(*type, of)) return false;
  }
  return check_cuts();
}

std::string Judge::wholes_text() const {
  std::string text;
  for (size_t o = 0; o < operands_.size(); ++o) {
    if (!operands_[o].has_value()) continue;
    text += (text.empty() ? "" : ", ") + described(o);
    if (wholes_[o].has_value()) text += " of " + to_string(*wholes_[o]);
  }
  return text;
}

// Dimension `dim` of the argument may not be sharded.
bool Judge::leave_whole(const Axis& axis, size_t argument, int dim) {
  const Reduction reduction = whole_.op->row->reduction;
  const bool is_max = reduction == Reduction::kMax;
  const Argument& a = whole_.arguments[argument];
  const std::string name(line_.operands[static_cast<size_t>(a.operand)].text);
  if (is_max || reduction == Reduction::kMin) {
    for (Placement& type : types_) {
      type.set(axis, 'V', is_max ? kPendingMax : kPendingMin);
    }
    return true;
  }
  const std::string what =
      "dimension " + std::to_string(dim) + " of " + name + " is sharded";
  if (whole_.op->row->regroups && a.type.shape[static_cast<size_t>(dim)] == 1) {
    const Shape& to = whole_.results[0].shape;
    const bool goes = std::find(to.begin(), to.end(), 1) == to.end();
    add("reshape-ambig", &axis,
        what + " with one element a rank, " +
            (goes ? "which goes"
                  : "and which of the result's it becomes is not said"),
        goes ? "" : "say split= and shape= of the whole");
  } else if (reduces(whole_, argument, dim)) {
    add("partial-op", &axis, what + ", and the shards' results do not add up",
        "take the sum, reduce it, and divide by the global count; or gather "
        "first");
    offer_whole(axis, argument, dim);
  } else {
    add("shard-prop", &axis, what + ", but it must be whole here",
        "gather it before (all_gather src=S" + std::to_string(dim) +
            " dst=R), or shard another dimension (all_to_all)");
    offer_whole(axis, argument, dim);
  }
  return false;
}

// Gathers the dimension, if the axis is the innermost one there.
void Judge::offer_whole(const Axis& axis, size_t argument, int dim) {
  if (type_of(argument)->spec[static_cast<size_t>(dim)].back() != axis) return;
  const auto operand = static_cast<size_t>(whole_.arguments[argument].operand);
  offer_change(operand, axis, "S" + std::to_string(dim), "R");
}

bool Judge::propagate_axis(const Axis& axis) {
  int found = -1;
  for (size_t i = 0; i < whole_.arguments.size(); ++i) {
    const Placement* type = type_of(i);
    const int dim = type == nullptr ? -1 : type->dim_of(axis);
    if (dim < 0) continue;
    int label = -1;
    for (size_t l = 0; l < labels_.size(); ++l) {
      const Label& other = labels_[l];
      if (other.arguments[i].dim == dim && other.extreme.empty()) {
        label = static_cast<int>(l);
      }
    }
    if (label < 0) return leave_whole(axis, i, dim);
    if (found >= 0 && label != found) {
      add("shard-prop", &axis,
          "the operands are sharded on different dimensions: " + wholes_text(),
          "all_to_all moves one of them");
      const LabelDim& to = labels_[static_cast<size_t>(found)].arguments[i];
      if (to.is_there() && type->spec[static_cast<size_t>(dim)].size() == 1) {
        offer_change(static_cast<size_t>(whole_.arguments[i].operand), axis,
                     "S" + std::to_string(dim), "S" + std::to_string(to.dim));
      }
      return false;
    }
    found = label;
  }
  if (found < 0) return true;
  const Label& label = labels_[static_cast<size_t>(found)];
  label_axes_[static_cast<size_t>(found)].push_back(axis);
  return check_label(axis, label) && place_label(axis, label);
}

// All that has the label is sharded on it.
bool Judge::check_label(const Axis& axis, const Label& label) {
  for (size_t i = 0; i < whole_.arguments.size(); ++i) {
    const Placement* type = type_of(i);
    if (type == nullptr) continue;
    const auto o = static_cast<size_t>(whole_.arguments[i].operand);
    const std::string name(line_.operands[o].text);
    const LabelDim& place = label.arguments[i];
    if (!place.is_there()) {
      if (label.added[i] && type->on(axis) != 'P') {
        add("shard-prop", &axis,
            name + " would be added to a pending sum once per rank",
            "add it after the reduction, or convert it R>P and add");
        offer_change(o, axis, std::string(1, type->on(axis)), "P");
        return false;
      }
      continue;
    }
    if (type->dim_of(axis) < 0) {
      add("shard-prop", &axis,
          name + " has the sharded dimension whole: " + wholes_text(),
          "convert src=R dst=S" + std::to_string(place.dim) +
              " cuts it without communication, all_gather makes the other "
              "whole");
      offer_change(o, axis, std::string(1, type->on(axis)),
                   "S" + std::to_string(place.dim));
      return false;
    }
    if (place.unit != 1 && whole_.op->row->regroups &&
        line_.key("split") == nullptr) {
      add("reshape-split", &axis,
          "the sharded dimension " + std::to_string(place.dim) + " of " + name +
              " is split",
          "state the result's cut, as in split=" + in_.names.name(axis) + ":" +
              std::to_string(place.dim) + " with the whole shape");
      return false;
    }
  }
  return true;
}

bool Judge::place_label(const Axis& axis, const Label& label) {
  for (size_t r = 0; r < types_.size(); ++r) {
    const bool there = r < label.results.size() && label.results[r].is_there();
    if (there) {
      types_[r].set(axis, 'V');
      types_[r].shard(axis, static_cast<size_t>(label.results[r].dim),
                      whole_.results[r].shape.size());
      continue;
    }
    if (!label.is_summed && !label.is_looked_up) {
      add("shard-prop", &axis,
          "result " + std::string(line_.results[r].text) +
              " needs the sharded dimension whole: " + wholes_text());
      return false;
    }
    if (options_.explicit_partial && line_.note("partial") == nullptr) {
      add("partial-implicit", &axis,
          "a sharded dimension is contracted and nothing says so",
          "write #partial=" + in_.names.name(axis));
      return false;
    }
    types_[r].set(axis, 'P');
  }
  return true;
}

// Ranks that must know which part they have are told by split=. A line without
// ranks speaks of the whole.
bool Judge::check_positions() {
  if (line_.key("split") != nullptr) return true;
  for (size_t l = 0; l < labels_.size(); ++l) {
    const Label& label = labels_[l];
    if (!label.needs_split || label_axes_[l].empty()) continue;
    if (in_.where == nullptr && !label.is_looked_up) continue;
    const Axis& axis = label_axes_[l][0];
    if (label.is_looked_up) {
      add("shard-prop", &axis,
          "the table is sharded on the dimension that is indexed: " +
              wholes_text(),
          "say split= and shape= of the table, so that indices of other ranks' "
          "rows give zeros");
    } else {
      const bool has_heads = line_.key("heads") != nullptr;
      add("shard-prop", &axis,
          "what is computed depends on which part of the whole a rank has: " +
              wholes_text(),
          std::string("say split= and shape= of the whole; without them each "
                      "rank takes its piece for all there is") +
              (has_heads ? ". heads= counts those of the whole then" : ""));
    }
    offer_split();
    return false;
  }
  return true;
}

// The line with split= and shape= of what these speak of.
void Judge::offer_split() {
  if (in_.where == nullptr) return;
  const int part = whole_.op->row->part_operand;
  ShardedValue of;
  if (part >= 0) {
    const auto argument = static_cast<size_t>(part);
    if (type_of(argument) == nullptr) return;
    of = *operands_[static_cast<size_t>(whole_.arguments[argument].operand)];
  } else if (pieces_.has_value() && pieces_->ok()) {
    of.ranks = in_.where->ranks;
    of.pieces = pieces_->value()[0];
    of.type = types_[0];
  }
  const auto cut = stated_cut(of, in_.where->ranks, in_.names.mesh());
  if (!cut.has_value()) return;
  offer_self(" split=" + cut->split + " shape=" + list_text(cut->whole));
}

// Only results have the dimension, or an operand has one element there, which
// ranks may repeat. That each can is told with the shapes.
bool Judge::is_of_result_alone(const Label& label) const {
  for (size_t i = 0; i < label.arguments.size(); ++i) {
    const LabelDim& place = label.arguments[i];
    if (!place.is_there()) continue;
    const Shape& shape = whole_.type(i).shape;
    if (shape[static_cast<size_t>(place.dim)] != 1) return false;
  }
  return true;
}

// An axis that split= names and no operand is sharded by: a dimension that only
// the result has.
bool Judge::place_by_split(const Axis& axis, const Placement& stated) {
  const int dim = stated.dim_of(axis);
  for (size_t l = 0; l < labels_.size(); ++l) {
    const Label& label = labels_[l];
    if (label.results.empty() || label.results[0].dim != dim) continue;
    if (!is_of_result_alone(label)) break;
    if (types_[0].on(axis) != 'R') break;
    label_axes_[l].push_back(axis);
    return place_label(axis, label);
  }
  add("spec-conflict", &axis,
      "split= cuts dimension " + std::to_string(dim) +
          " of the result, but no operand is sharded so: " + wholes_text());
  return false;
}

}  // namespace gt
