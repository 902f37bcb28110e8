#include "grad/node_gradient.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "ops/part.h"
#include "ops/shape_rules.h"
#include "ops/table.h"
#include "stream/line.h"

namespace gt::grad {
namespace {

std::pair<int, uint32_t> key_of(const Ref& ref) {
  return {static_cast<int>(ref.kind), ref.index};
}

bool have_one_structure(const std::vector<Step>& a,
                        const std::vector<Step>& b) {
  const auto same = [](const Step& x, const Step& y) {
    return x.op == y.op && x.results == y.results &&
           std::equal(x.operands.begin(), x.operands.end(), y.operands.begin(),
                      y.operands.end(),
                      [](const StepOperand& p, const StepOperand& q) {
                        return p.is_ref == q.is_ref && p.ref == q.ref;
                      });
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool have_one_text(const Step& a, const Step& b) {
  return a.keys == b.keys &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(),
                    [](const StepOperand& p, const StepOperand& q) {
                      return p.text == q.text;
                    });
}

bool makes_constant(const Step& step) {
  return std::none_of(step.operands.begin(), step.operands.end(),
                      [](const StepOperand& o) { return o.is_ref; });
}

}  // namespace

void NodeGradient::write(std::vector<StepGroup> groups) {
  groups_ = std::move(groups);
  refuse_unknown();
  if (!place_.ranks.empty()) state_wholes();
  std::vector<Same> structures;
  for (const StepGroup& group : groups_) {
    const auto it = std::find_if(
        structures.begin(), structures.end(), [&](const Same& same) {
          return have_one_structure(same[0]->steps, group.steps);
        });
    if (it == structures.end()) {
      structures.push_back({&group});
    } else {
      it->push_back(&group);
    }
  }
  for (const Same& same : structures) write_same(same);
  for (const Contribution& c : contributions_) {
    if (c.part.operand.kind == GradientOperand::Kind::kHandle) {
      pass_.lines.claim_shards(c.part.operand.id, pass_.tape.type(c.value));
    }
    pass_.gradients.add(c.value, c.part.operand, c.part.ranks, place_.mesh);
  }
}

// Refuses an operand for which the row has no gradient, since it would be taken
// for one that does not matter. (It may indeed not matter to the results that
// the loss depends on.)
void NodeGradient::refuse_unknown() {
  const auto defined_by = [](const std::vector<Step>& steps) {
    std::unordered_set<uint32_t> out;
    for (const Step& step : steps) {
      for (const Ref& r : step.results) {
        if (r.kind == Ref::Kind::kOperandGrad) out.insert(r.index);
      }
    }
    return out;
  };
  const std::unordered_set<uint32_t> defined = defined_by(groups_[0].steps);
  const Op& op = *call_.op;
  const size_t count = call_.arguments.size();
  for (uint32_t i = 0; i < count; ++i) {
    const size_t p = op.parameter_of(i, count);
    if (!is_wanted({Ref::Kind::kOperandGrad, i}) ||
        op.is_non_differentiable(p) || defined.count(i) > 0 ||
        defined_by(gradient_steps(call_)).count(i) > 0) {
      continue;
    }
    const std::string how(call_.key("op"));
    pass_.lines.fail(op.name + (how.empty() ? "" : " with op=" + how) +
                     " has no gradient by its operand " + op.operands[p].name +
                     "; if none is meant, detach what it reads there");
  }
}

// The steps have the sizes of each rank's pieces. If these are sizes of a
// tensor that is cut, changes the steps to state the cut and the whole's sizes:
// then there is one line for all ranks, and its result is cut like that tensor.
void NodeGradient::state_wholes() {
  const bool same =
      std::all_of(groups_.begin(), groups_.end(), [&](const StepGroup& group) {
        return have_one_structure(groups_[0].steps, group.steps);
      });
  for (size_t s = 0; same && s < groups_[0].steps.size(); ++s) state_whole(s);
}

void NodeGradient::state_whole(size_t s) {
  const Step& first = groups_[0].steps[s];
  if (first.op->key_index("split") < 0) return;
  const auto type = sized_as(first);
  const auto cut = type ? pass_.lines.cut(*type, place_) : std::nullopt;
  if (!cut || (first.op->row->needs_ranks() && !is_uneven(s))) return;
  for (StepGroup& group : groups_) {
    const Shape& part = type->on(group.ranks[0]).shape;
    widen(group.steps[s], type->global->spec, part, cut->whole);
    Step& step = group.steps[s];
    std::erase_if(step.keys, [](auto& key) {
      return key.first == "split" || key.first == "split_sizes" ||
             key.first == "part";
    });
    step.keys.emplace_back("split", cut->split);
    if (step.op->key_index("shape") >= 0 && !states_sizes(*step.op)) {
      step.keys.emplace_back("shape", list_text(cut->whole));
    }
  }
}

// Returns the type whose sizes the step states, reduced to one dimension if the
// step states only that one.
std::optional<PlacedType> NodeGradient::sized_as(const Step& step) const {
  if (!step.sized) return std::nullopt;
  const ValueId v = value_of(step.sized->ref);
  if (v == kNil) return std::nullopt;
  PlacedType type = pass_.lines.types().placed(pass_.tape.type(v));
  if (!type.global || !type.global->is_sharded()) return std::nullopt;
  const int dim = step.sized->dim;
  if (dim == 0) return type;
  if (type.global->spec.end()[dim].empty()) return std::nullopt;
  for (Type& t : type.types) t.shape = Shape{t.shape.end()[dim]};
  type.global->spec = {type.global->spec.end()[dim]};
  return type;
}

// Changes the sizes that the step states from those of a part to those of the
// whole. A dimension that is not cut keeps the size that the step has.
void NodeGradient::widen(Step& step, const std::vector<SpecEntry>& spec,
                         const Shape& part, const Shape& whole) {
  const auto widen_shape = [&](Shape& shape) {
    for (size_t d = 0; d < shape.size() && d < spec.size(); ++d) {
      if (!spec[d].empty()) shape[d] = whole[d];
    }
  };
  if (makes_constant(step)) {
    Type made = parse_type(step.operands[0].text).value();
    widen_shape(made.shape);
    step.operands[0].text = to_string(made);
  }
  for (auto& [key, value] : step.keys) {
    if (key == "shape") {
      Shape shape = parse_shape(value, false).value();
      widen_shape(shape);
      value = list_text(shape);
    } else if (key == "heads" && part.back() > 0) {
      // Heads divide the last dimension, and are cut with it.
      value = std::to_string(std::stoll(value) * whole.back() / part.back());
    }
  }
}

// True for an exchange whose parts differ in size in some group.
bool NodeGradient::is_uneven(size_t s) const {
  return std::any_of(
      groups_.begin(), groups_.end(), [&](const StepGroup& group) {
        const auto& keys = group.steps[s].keys;
        return std::any_of(keys.begin(), keys.end(), [](const auto& key) {
          return key.first == "split_sizes";
        });
      });
}

ValueId NodeGradient::value_of(const Ref& ref) const {
  const bool of_result =
      ref.kind == Ref::Kind::kResult || ref.kind == Ref::Kind::kResultGrad;
  return of_result ? node_.results[ref.index] : operand_value(ref.index);
}

void NodeGradient::write_same(const Same& groups) {
  std::vector<bool> chosen;
  if (!select(groups[0]->steps, chosen)) return;
  for (size_t s = 0; s < chosen.size(); ++s) {
    if (chosen[s]) write_step(groups, s);
  }
}

// Chooses the steps that lead to a wanted gradient.
bool NodeGradient::select(const std::vector<Step>& steps,
                          std::vector<bool>& chosen) {
  chosen.assign(steps.size(), false);
  std::set<std::pair<int, uint32_t>> needed;
  for (size_t s = steps.size(); s > 0; --s) {
    const Step& step = steps[s - 1];
    chosen[s - 1] = std::any_of(
        step.results.begin(), step.results.end(), [&](const Ref& r) {
          return is_wanted(r) || needed.count(key_of(r)) > 0;
        });
    if (!chosen[s - 1]) continue;
    for (const StepOperand& o : step.operands) {
      if (o.is_ref) {
        needed.insert(key_of(o.ref));
      } else if (is_name(o.text)) {
        // In a stream that was emitted before, no result can be added.
        pass_.lines.fail("the gradient of " + node_.op->name +
                         " needs its result " + o.text +
                         ", which the line left out");
        return false;
      }
    }
  }
  return true;
}

LinePlace NodeGradient::place_on(const Ranks& ranks) const {
  LinePlace place{{}, place_.mesh};
  for (const int64_t rank : place_.ranks) {
    if (std::binary_search(ranks.begin(), ranks.end(), rank)) {
      place.ranks.push_back(rank);
    }
  }
  return place;
}

// Writes one line for all groups whose text is the same.
void NodeGradient::write_step(const Same& groups, size_t s) {
  std::vector<bool> done(groups.size(), false);
  for (size_t i = 0; i < groups.size(); ++i) {
    if (done[i]) continue;
    const Step& step = groups[i]->steps[s];
    Ranks ranks;
    for (size_t j = i; j < groups.size(); ++j) {
      if (done[j] || !have_one_text(step, groups[j]->steps[s])) continue;
      done[j] = true;
      ranks = together(ranks, ascending(groups[j]->ranks));
    }
    write_step(step, place_on(ranks));
  }
}

void NodeGradient::write_step(const Step& step, const LinePlace& place) {
  const Ranks ranks = ascending(place.ranks);
  std::vector<GradientOperand> operands;
  for (const StepOperand& o : step.operands) {
    operands.push_back(o.is_ref ? read(o.ref, place)
                                : GradientLines::text(o.text));
  }
  // A copy only says that two gradients are the same.
  if (step.op->row->collective == Collective::kCopy) {
    return define(step.results[0], {operands[0], ranks});
  }
  Placement claim;
  if (makes_constant(step) && !place.ranks.empty()) claim = claim_of(step);
  const std::vector<Handle> results =
      pass_.lines.add(step.op, step.results.size(), std::move(operands),
                      step.keys, place, std::move(claim));
  for (size_t r = 0; r < results.size(); ++r) {
    define(step.results[r], {GradientLines::handle(results[r]), ranks});
  }
}

// A constant is R on every axis, but what it is joined with may be something
// else there. Any constant may be typed I as well, and zeros may be typed P.
Placement NodeGradient::claim_of(const Op& constant) {
  Placement claim;
  for (uint32_t r = 0; r < node_.results.size(); ++r) {
    const ValueId v = node_.results[r];
    if (v == kNil || !pass_.gradients.has(v)) continue;
    const Handle h = result_gradient(r);
    for (const AxisType& a :
         pass_.lines.letters(pass_.lines.type_id(GradientLines::handle(h)))
             .axes) {
      if (a.letter == 'I' || (a.letter == 'P' && constant.row->zero)) {
        claim.set(a.axis, a.letter);
      }
    }
    break;
  }
  return claim;
}

// A constant in which an operand's gradient is built up, such as the zeros of a
// scatter_add, has the type of that gradient: the dual of the operand's. This
// is claimed only if the types of all of them are known as shards of wholes:
// otherwise what is added there may still be V where the gradient is not a
// pending sum.
Placement NodeGradient::claim_of(const Step& step) {
  Placement claim = claim_of(*step.op);
  const auto& types = pass_.lines.types();
  if (!step.sized || step.sized->ref.kind != Ref::Kind::kOperandGrad) {
    return claim;
  }
  const TypeId type = pass_.tape.type(value_of(step.sized->ref));
  for (uint32_t r = 0; r < node_.results.size(); ++r) {
    const ValueId v = node_.results[r];
    if (v == kNil || !pass_.gradients.has(v)) continue;
    const TypeId made =
        pass_.lines.type_id(GradientLines::handle(result_gradient(r)));
    if (!types.placed(made).global || !types.placed(type).global) return claim;
  }
  for (const AxisType& a :
       restricted(pass_.lines.letters(type), ascending(place_.ranks)).axes) {
    const char letter = dual(a.letter);
    if (letter == 'P' || letter == 'I') {
      claim.set(a.axis, letter);
    }
  }
  return claim;
}

void NodeGradient::define(const Ref& ref, Value value) {
  if (is_wanted(ref)) {
    const ValueId v = operand_value(ref.index);
    // The letters of a placed line may depend on its other readers, so its
    // contributions are added later.
    if (place_.ranks.empty()) {
      pass_.gradients.add(v, value.operand, {}, 0);
    } else {
      contributions_.push_back({v, value});
    }
  }
  values_[key_of(ref)].push_back(std::move(value));
}

GradientOperand NodeGradient::read(const Ref& ref, const LinePlace& place) {
  switch (ref.kind) {
    case Ref::Kind::kOperand:
      return GradientLines::forward(operand_value(ref.index));
    case Ref::Kind::kResult:
      return GradientLines::forward(node_.results[ref.index]);
    case Ref::Kind::kResultGrad:
      return GradientLines::handle(result_gradient(ref.index));
    default:
      break;
  }
  std::vector<Value>& values = values_.at(key_of(ref));
  if (place.ranks.empty()) return values[0].operand;
  const Ranks wanted = ascending(place.ranks);
  std::vector<HandleOnRanks> parts;
  for (const Value& value : values) {
    if (includes(value.ranks, wanted)) return value.operand;
    const Ranks both = common(value.ranks, wanted);
    if (both.empty()) continue;
    GT_CHECK(value.operand.kind == GradientOperand::Kind::kHandle);
    parts.push_back({value.operand.id, both});
  }
  const Handle h = pass_.lines.join(parts, {}, {}, {}, place);
  values.push_back({GradientLines::handle(h), wanted});
  return values.back().operand;
}

// The gradient of a result that the loss does not use is zero.
Handle NodeGradient::result_gradient(uint32_t result) {
  const auto it = result_gradients_.find(result);
  if (it != result_gradients_.end()) return it->second;
  const ValueId v = node_.results[result];
  Handle h;
  if (v != kNil && pass_.gradients.has(v)) {
    h = pass_.gradients.read(v, place_);
  } else {
    std::map<int64_t, const StepGroup*> group_of;
    for (const StepGroup& group : groups_) {
      for (const int64_t rank : group.ranks) group_of[rank] = &group;
    }
    const auto type = [&](int64_t rank) {
      const StepGroup& group =
          place_.ranks.empty() ? groups_[0] : *group_of.at(rank);
      return group.results[result];
    };
    Placement claim;
    if (!place_.ranks.empty()) claim = claim_of(*find_op("zeros"));
    const auto cut = cut_of_result(result);
    h = cut ? pass_.lines.zeros(type(place_.ranks[0]).dtype, *cut, claim,
                                place_)
            : pass_.lines.zeros(type, claim, place_);
  }
  result_gradients_[result] = h;
  return h;
}

// For a result that is gone: returns the cut of another result that is cut,
// applied to the sizes of this one.
std::optional<StatedCut> NodeGradient::cut_of_result(uint32_t result) {
  if (place_.ranks.empty()) return std::nullopt;
  PlacedType type;
  type.ranks = ascending(place_.ranks);
  for (const int64_t rank : type.ranks) {
    for (const StepGroup& group : groups_) {
      const auto& ranks = group.ranks;
      if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) continue;
      if (result >= group.results.size()) return std::nullopt;
      type.types.push_back(group.results[result]);
    }
  }
  for (const ValueId v : node_.results) {
    if (v == kNil) continue;
    type.global = pass_.lines.types().placed(pass_.tape.type(v)).global;
    if (!type.global || !type.global->is_sharded() ||
        type.global->spec.size() != type.types[0].shape.size()) {
      continue;
    }
    if (auto cut = pass_.lines.cut(type, place_)) return cut;
  }
  return std::nullopt;
}

ValueId NodeGradient::operand_value(uint32_t argument) const {
  const int32_t operand = call_.arguments[argument].operand;
  return operand < 0 ? kNil : node_.operands[static_cast<size_t>(operand)];
}

bool NodeGradient::is_wanted(const Ref& ref) const {
  if (ref.kind != Ref::Kind::kOperandGrad) return false;
  const ValueId v = operand_value(ref.index);
  return v != kNil && pass_.history.wanted.count(v) > 0 &&
         pass_.tape.is_differentiable(v);
}

}  // namespace gt::grad
