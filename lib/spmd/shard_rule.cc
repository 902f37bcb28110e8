// Finds where the shards of a line's operands go, by its index rule. A line is
// legal if running it on the shards gives shards of the result, the whole
// result, or summands of it.
#include <algorithm>

#include "ops/part.h"
#include "spmd/rules.h"
#include "spmd/stated.h"

namespace gt {

bool is_sharded_by(const ReadLine& in, const Axis& axis) {
  return std::any_of(in.operands.begin(), in.operands.end(),
                     [&](const auto& o) {
                       return o.has_value() && o->type.dim_of(axis) >= 0;
                     });
}

// ---- the whole line ---------------------------------------------------------

WholeLine::WholeLine(const ReadLine& in) : in_(in) {
  const bool any =
      std::any_of(in.within.begin(), in.within.end(),
                  [&](const Axis& axis) { return is_sharded_by(in, axis); });
  if (!any && in.line.key("split") == nullptr) return;
  has_labels = bind();
  if (has_labels) labels = index_rule(call);
}

// Binds `call`. False if the shapes do not fit together, which infer() reports.
bool WholeLine::bind() {
  const Op& op = *in_.call.op;
  const bool local_sizes =
      in_.is_placed() && states_sizes(op) && !in_.line.key("split");
  std::vector<std::optional<Type>> wholes;
  bool known = true;
  for (const auto& operand : in_.operands) {
    wholes.push_back(operand.has_value() ? whole_of(*operand) : std::nullopt);
    known = known && (wholes.back().has_value() || !operand.has_value());
  }
  std::vector<const Type*> types;
  for (const auto& whole : wholes) {
    types.push_back(whole.has_value() ? &*whole : nullptr);
  }
  line_ = whole_line(in_.line, op);
  if (!local_sizes && known && gt::bind(line_, types, call).ok()) return true;
  is_by_pieces = true;
  if (in_.is_bound) call = in_.call;
  return in_.is_bound;
}

const Placement* WholeLine::type_of(size_t argument) const {
  const Argument& a = call.arguments[argument];
  if (!is_tensor(a) || !in_.is_name(static_cast<size_t>(a.operand))) {
    return nullptr;
  }
  return &in_.operands[static_cast<size_t>(a.operand)]->type;
}

bool WholeLine::adds_to_sum(const Axis& axis) const {
  if (!has_labels) return false;
  for (const Label& label : labels) {
    bool sharded = false, added = label.is_summed;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
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

namespace {

// True if the call reduces the dimension to one number, so that each shard's
// result is a part of the whole's, though not a summand.
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

// True if there are dimensions from `from` to before `to`, and all have size 1.
bool are_ones(const Shape& shape, int from, int to) {
  bool all = from < to;
  for (int d = from; d < to; ++d) {
    all = all && shape[static_cast<size_t>(d)] == 1;
  }
  return all;
}

// Follows the shards of each axis through the labels of one line.
class Propagation {
 public:
  Propagation(const ReadLine& in, WholeLine& whole, Findings& out)
      : in_(in),
        whole_(whole),
        call_(whole.call),
        row_(*whole.call.op->row),
        out_(out) {}

  bool run(const std::vector<Axis>& sharding) {
    lead_by_ones();
    label_axes_.assign(whole_.labels.size(), {});
    for (const Axis& axis : sharding) propagate(axis);
    place_by_split();
    if (!out_.faults.any() && whole_.is_by_pieces && !states_sizes(*call_.op)) {
      std::vector<Axis> first = sharding;
      first.resize(std::min<size_t>(first.size(), 1));
      out_.faults.add({.rule = Rule::kWholesUnlike, .axes = first});
    }
    return !out_.faults.any() && order_entries(in_, whole_, out_) &&
           check_positions() && check_stated() &&
           check_cuts(in_, whole_, label_axes_, out_);
  }

 private:
  bool fail(Rule rule, const Axis& axis, int operand = -1, int64_t dim = -1) {
    return out_.faults.add(
        {.rule = rule, .axes = {axis}, .operand = operand, .dim = dim});
  }
  // True if split= is about the first result, not about an operand.
  bool splits_result() const { return row_.part_operand < 0; }
  size_t result_dims() const {
    return call_.results.empty() ? 0 : call_.results[0].shape.size();
  }

  // A reshape with split= may cut a dimension of size 1, which one rank has and
  // others do not. Any dimension of size 1 in the result may be that one. Or a
  // leading factor of 1 stands before the dimension that is kept, in the
  // operand or the result; the label then runs through that factor.
  void lead_by_ones() {
    Placement stated;
    if (!row_.regroups || call_.results.empty()) return;
    const Shape& before = call_.type(0).shape;
    const Shape& after = call_.results[0].shape;
    if (!in_.spec_of_split(after.size(), stated)) return;
    for (const AxisType& a : stated.axes) {
      const int from = whole_.type_of(0)->dim_of(a.axis);
      const int to = stated.dim_of(a.axis);
      if (from >= 0 && are_ones(before, from, from + 1) &&
          are_ones(after, to, to + 1)) {
        join_ones(from, to);
        continue;
      }
      for (Label& label : whole_.labels) {
        LabelDim& x = label.arguments[0];
        LabelDim& y = label.results[0];
        if (from < 0 || !x.is_there() || !y.is_there()) continue;
        if (x.dim == from && are_ones(after, to, y.dim)) {
          x.unit *= after[static_cast<size_t>(y.dim)];
          y = {to, 1};
        } else if (y.dim == to && are_ones(before, from, x.dim)) {
          y.unit *= before[static_cast<size_t>(x.dim)];
          x = {from, 1};
        }
      }
    }
  }

  void join_ones(int from, int to) {
    std::erase_if(whole_.labels, [&](const Label& label) {
      return label.arguments[0].dim == from || label.results[0].dim == to;
    });
    Label& one = whole_.labels.emplace_back(call_, 1);
    one.arguments[0].dim = from;
    one.results[0].dim = to;
  }

  // ---- one axis -------------------------------------------------------------

  // Returns the label of an argument's dimension that the axis shards; -1 if it
  // has none.
  int label_at(size_t argument, int dim) const {
    int found = -1;
    for (size_t l = 0; l < whole_.labels.size(); ++l) {
      const Label& label = whole_.labels[l];
      if (label.arguments[argument].dim == dim && label.extreme.empty()) {
        found = static_cast<int>(l);
      }
    }
    return found;
  }

  bool propagate(const Axis& axis) {
    int found = -1;
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      const Placement* type = whole_.type_of(i);
      const int dim = type == nullptr ? -1 : type->dim_of(axis);
      if (dim < 0) continue;
      const int label = label_at(i, dim);
      if (label < 0) return leave_whole(axis, i, dim);
      if (found >= 0 && label != found) {
        const auto l = static_cast<size_t>(found);
        return out_.faults.add({.rule = Rule::kOtherShards,
                                .axes = {axis},
                                .operand = whole_.operand_of(i),
                                .dim = dim,
                                .n = whole_.labels[l].arguments[i].dim});
      }
      found = label;
    }
    if (found < 0) return true;
    const auto l = static_cast<size_t>(found);
    label_axes_[l].push_back(axis);
    return check_label(axis, whole_.labels[l]) &&
           place_label(axis, whole_.labels[l]);
  }

  // Handles a dimension `dim` of the argument that may not be sharded.
  bool leave_whole(const Axis& axis, size_t argument, int dim) {
    const Reduction reduction = row_.reduction;
    const bool is_max = reduction == Reduction::kMax;
    if (is_max || reduction == Reduction::kMin) {
      out_.set_all(axis, 'V', is_max ? kPendingMax : kPendingMin);
      return true;
    }
    const Shape& shape = call_.arguments[argument].type.shape;
    Rule rule =
        reduces(call_, argument, dim) ? Rule::kNotAdditive : Rule::kMustBeWhole;
    if (row_.regroups && shape[static_cast<size_t>(dim)] == 1) {
      const Shape& to = call_.results[0].shape;
      const bool goes = std::find(to.begin(), to.end(), 1) == to.end();
      rule = goes ? Rule::kOneGoes : Rule::kOneStays;
    }
    return fail(rule, axis, whole_.operand_of(argument), dim);
  }

  // Checks that everything that has the label is sharded on it.
  bool check_label(const Axis& axis, const Label& label) {
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      const Placement* type = whole_.type_of(i);
      if (type == nullptr) continue;
      const int o = whole_.operand_of(i);
      const LabelDim& place = label.arguments[i];
      const char is = type->on(axis);
      if (!place.is_there()) {
        if (!label.added[i] || is == 'P') continue;
        return out_.faults.add({.rule = Rule::kAddedWhole,
                                .axes = {axis},
                                .operand = o,
                                .is = is});
      }
      if (type->dim_of(axis) < 0) {
        return out_.faults.add({.rule = Rule::kReadWhole,
                                .axes = {axis},
                                .operand = o,
                                .dim = place.dim,
                                .is = is});
      }
      if (place.unit != 1 && row_.regroups &&
          in_.line.key("split") == nullptr) {
        return fail(Rule::kSplitUnsaid, axis, o, place.dim);
      }
    }
    return true;
  }

  bool place_label(const Axis& axis, const Label& label) {
    for (size_t r = 0; r < out_.types.size(); ++r) {
      Placement& type = out_.types[r];
      if (r < label.results.size() && label.results[r].is_there()) {
        type.set(axis, 'V');
        type.shard(axis, static_cast<size_t>(label.results[r].dim),
                   call_.results[r].shape.size());
        continue;
      }
      if (!label.is_summed && !label.is_looked_up) {
        return out_.faults.add({.rule = Rule::kResultWhole,
                                .axes = {axis},
                                .result = static_cast<int>(r)});
      }
      if (in_.in.mode.explicit_partial && in_.line.note("partial") == nullptr) {
        return fail(Rule::kPartialUnsaid, axis);
      }
      if (label.is_summed && type.on(axis) == 'V') {
        out_.summed[r].push_back(axis);
      }
      type.set(axis, 'P');
    }
    return true;
  }

  // ---- split= ---------------------------------------------------------------

  // Places the axes that split= names and that no operand is sharded by.
  void place_by_split() {
    Placement stated;
    if (out_.faults.any() || !splits_result()) return;
    if (!in_.spec_of_split(result_dims(), stated)) return;
    for (const AxisType& a : stated.axes) {
      if (!is_sharded_by(in_, a.axis)) place_by_split(a.axis, stated);
    }
  }

  // Places an axis that cuts a dimension which only the result has.
  bool place_by_split(const Axis& axis, const Placement& stated) {
    const int dim = stated.dim_of(axis);
    for (size_t l = 0; l < whole_.labels.size(); ++l) {
      const Label& label = whole_.labels[l];
      if (label.results.empty() || label.results[0].dim != dim) continue;
      if (!is_of_result_alone(label)) break;
      if (out_.types[0].on(axis) != 'R') break;
      label_axes_[l].push_back(axis);
      return place_label(axis, label);
    }
    return fail(Rule::kSplitUnmatched, axis, -1, dim);
  }

  // True if only results have the dimension, or the operands that have it have
  // one element there, which ranks may repeat. Inferring the shapes checks
  // whether they can.
  bool is_of_result_alone(const Label& label) const {
    for (size_t i = 0; i < label.arguments.size(); ++i) {
      const LabelDim& place = label.arguments[i];
      if (!place.is_there()) continue;
      const Shape& shape = call_.type(i).shape;
      if (shape[static_cast<size_t>(place.dim)] != 1) return false;
    }
    return true;
  }

  // Checks that a line with ranks that must know which part they have states
  // split=. A line without ranks is about the whole.
  bool check_positions() {
    if (in_.line.key("split") != nullptr) return true;
    for (size_t l = 0; l < whole_.labels.size(); ++l) {
      const Label& label = whole_.labels[l];
      if (!label.needs_split || label_axes_[l].empty()) continue;
      if (!in_.is_placed() && !label.is_looked_up) continue;
      const int part = row_.part_operand;
      return out_.faults.add(
          {.rule = label.is_looked_up ? Rule::kTableCut : Rule::kPlaceUnsaid,
           .axes = {label_axes_[l][0]},
           .operand =
               part < 0 ? -1 : whole_.operand_of(static_cast<size_t>(part)),
           .result = part < 0 ? 0 : -1,
           .seen = out_.types[0]});
    }
    return true;
  }

  bool check_stated() {
    if (in_.line.key("split") == nullptr) return true;
    const auto part = static_cast<size_t>(row_.part_operand);
    const Placement* type =
        splits_result() ? out_.types.data() : whole_.type_of(part);
    const size_t dims =
        splits_result() ? result_dims() : call_.type(part).shape.size();
    return type == nullptr || check_split(in_, *type, dims, out_);
  }

  const ReadLine& in_;
  WholeLine& whole_;
  const Call& call_;
  const Row& row_;
  Findings& out_;
  std::vector<std::vector<Axis>> label_axes_;  // by label: the axes that shard
                                               // it
};

}  // namespace

bool propagate_shards(const ReadLine& in, WholeLine& whole, Findings& out) {
  std::vector<Axis> sharding;
  for (const Axis& axis : in.within) {
    if (is_sharded_by(in, axis)) sharding.push_back(axis);
  }
  if (sharding.empty() && in.line.key("split") == nullptr) return true;
  return whole.has_labels && Propagation(in, whole, out).run(sharding);
}

bool check_split(const ReadLine& in, const Placement& type, size_t dims,
                 Findings& out) {
  if (in.is_local() || in.line.key("split") == nullptr) return true;
  Placement stated;
  if (!in.spec_of_split(dims, stated) || stated.spec == type.spec) return true;
  return out.faults.add(
      {.rule = Rule::kSplitUnlike, .seen = type, .stated = stated});
}

}  // namespace gt
