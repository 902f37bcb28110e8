// What notes claim, and what gradients, optimizers and losses must be.
#include <algorithm>

#include "check/judge.h"
#include "ops/families.h"
#include "spmd/claim.h"
#include "spmd/join.h"
#include "spmd/remesh.h"
#include "stream/notes.h"

namespace gt {
namespace {

// "R", "S0": as src= and dst= have it.
std::string end_on(const Placement& type, const Axis& axis) {
  const int dim = type.dim_of(axis);
  return dim < 0 ? std::string(1, type.on(axis)) : "S" + std::to_string(dim);
}

std::string noted(const Line& line, std::string_view key) {
  const std::string_view* value = line.note(key);
  return value == nullptr ? "" : unquote(*value);
}

}  // namespace

// ---- notes ------------------------------------------------------------------

void Judge::apply_claims() {
  claim_types();
  claim_partial();
}

// #type= and #spec=: what the results are on each axis.
void Judge::claim_types() {
  const std::string types = noted(line_, "type");
  const std::string specs = noted(line_, "spec");
  if ((types.empty() && specs.empty()) || in_.names.mesh() == nullptr) return;
  if (!has_parts_for_results(types) || !has_parts_for_results(specs)) return;
  for (size_t r = 0; r < out_.results.size(); ++r) {
    ShardedValue& value = out_.results[r];
    const std::string type(part_of_result(types, r));
    // A spec for all results is that of the first; others have other
    // dimensions.
    const std::string spec(
        r > 0 && !tells_results_apart(specs) ? "" : part_of_result(specs, r));
    if (type.empty() && spec.empty()) continue;
    const size_t dims = value.pieces.empty() ? 0 : value.pieces[0].shape.size();
    if (value.pieces.empty()) continue;
    const bool source =
        call_.op != nullptr && is_source() && line_.key("split") == nullptr;
    const bool cuts = call_.op != nullptr && is_source();
    Placement made =
        value.state == ShardedValue::State::kTyped ? value.type : Placement{};
    std::vector<Kinded> problems;
    // What #local forgets of a line, its claims say again.
    const auto is_local = [this](const Axis& axis) {
      return is_local_by_options(axis);
    };
    const ClaimIn in{type, spec,           in_.names,      within_,
                     dims, source || cuts, options_.local, is_local};
    const bool is_meant = r == 0 || tells_results_apart(types + specs);
    if (claim(in, made, problems)) {
      value.type = std::move(made);
      value.state = ShardedValue::State::kTyped;
    } else if (is_meant) {
      for (const Kinded& p : problems) {
        out_.problems.push_back({p.kind, p.axis, p.message, "", {}});
      }
    }
  }
}

// A claim that tells results apart has a part for each.
bool Judge::has_parts_for_results(const std::string& claim) {
  const auto parts =
      1 + static_cast<size_t>(std::count(claim.begin(), claim.end(), ';'));
  const size_t results = line_.results.size();
  if (parts == 1 || parts == results) return true;
  add("spec-len", nullptr,
      "the claim " + claim + " speaks of " + std::to_string(parts) +
          " results, the line has " + std::to_string(results));
  return false;
}

// #partial=: what is V or P is a piece of a sum.
void Judge::claim_partial() {
  const std::string names = noted(line_, "partial");
  if (names.empty() || in_.names.mesh() == nullptr) return;
  const auto axes = in_.names.mesh()->resolve(names);
  if (!axes.ok()) {
    add("axis-unknown", nullptr, axes.error().message);
    return;
  }
  for (ShardedValue& value : out_.results) {
    if (value.state != ShardedValue::State::kTyped) continue;
    for (const MeshAxis* a : axes.value()) {
      const Axis axis = *a;
      const char is = value.type.on(axis);
      if (is == kUntyped || is == 'P') continue;
      if (is == 'V' && value.type.dim_of(axis) < 0) {
        value.type.set(axis, 'P');
        continue;
      }
      add(is == 'I' ? "partial-inv" : "partial-repl", &axis,
          "no sharded dimension was contracted: the result is " +
              in_.names.describe(value.type));
      return;
    }
  }
}

// ---- gradients --------------------------------------------------------------

// An optimizer's gradient is what its parameter is.
void Judge::check_optimizer() {
  if (call_.op == nullptr || call_.op->family != &kOptimizers) return;
  const ShardedValue* w = nullptr;
  const ShardedValue* g = nullptr;
  size_t gradient = 0;  // g's operand
  for (size_t i = 0; i < call_.arguments.size(); ++i) {
    const Argument& a = call_.arguments[i];
    if (a.operand < 0 || !is_name(static_cast<size_t>(a.operand))) continue;
    const size_t p = call_.op->parameter_of(i, call_.arguments.size());
    const std::string& name = call_.op->operands[p].name;
    const ShardedValue& value = *operands_[static_cast<size_t>(a.operand)];
    if (name == "w") w = &value;
    if (name == "g") {
      g = &value;
      gradient = static_cast<size_t>(a.operand);
    }
  }
  if (w == nullptr || g == nullptr) return;
  for (const Axis& axis : within_) {
    if (w->type.on(axis) == kUntyped || g->type.on(axis) == kUntyped) continue;
    if (w->type.on(axis) == g->type.on(axis) &&
        w->type.dim_of(axis) == g->type.dim_of(axis)) {
      continue;
    }
    add("dual", &axis,
        "the parameter is " + in_.names.describe(w->type) + ", its gradient " +
            in_.names.describe(g->type),
        "a collective over " + in_.names.name(axis) +
            " is missing or too many");
    const std::string is = end_on(g->type, axis), of = end_on(w->type, axis);
    if (is == "V" && (of == "R" || of == "I")) {
      offer(gradient, axis, "all_reduce", is, of);  // each rank's share of it
    } else {
      offer_change(gradient, axis, is, of);
    }
  }
}

// The axis on which the type is none of w's, its gradient's, and no sum that is
// still owed; null if there is none.
const Axis* Judge::unlike_gradient(const Placement& g,
                                   const Placement& w) const {
  for (const Axis& axis : within_) {
    const char is = g.on(axis);
    const char of = w.on(axis);
    if (is == kUntyped || of == kUntyped || is == 'P') continue;
    if (is == of && g.dim_of(axis) == w.dim_of(axis)) continue;
    if (is == dual(of) && is != of) continue;
    if (of == 'P' && g.dim_of(axis) >= 0) continue;  // a part of its R
    return &axis;
  }
  return nullptr;
}

// A line with #grad=w gives w's gradient; of several results, one of w's shape.
void Judge::check_gradient() {
  const bool is_zero = op_ != nullptr && op_->row->zero;  // of any type
  if (in_.target == nullptr || is_zero ||
      in_.target->state != ShardedValue::State::kTyped ||
      in_.target->pieces.empty()) {
    return;
  }
  Placement w;
  Kinded ignored;
  if (!remesh_to_current(in_.target->type, in_.names, w, ignored)) return;
  const size_t dims = in_.target->pieces[0].shape.size();
  const Axis* wrong = nullptr;
  const ShardedValue* gradient = nullptr;
  for (const ShardedValue& result : out_.results) {
    if (result.state != ShardedValue::State::kTyped || result.pieces.empty() ||
        result.pieces[0].shape.size() != dims) {
      continue;
    }
    wrong = unlike_gradient(result.type, w);
    if (wrong == nullptr) return;
    gradient = &result;
  }
  if (wrong == nullptr) return;
  const char of = w.on(*wrong);
  add("dual", wrong,
      noted(line_, "grad") + " is " + in_.names.describe(w) +
          ", but its gradient is " + in_.names.describe(gradient->type),
      of == 'V'   ? "wanted shards as the parameter's, or a sum (P)"
      : of == 'I' ? "wanted I, or a sum (P)"
                  : "wanted R or a sum (P)");
}

// What gt-emit will expand: gradients of what the loss depends on.
bool Judge::take_gradients() {
  if (!is_name(0)) return false;
  if (!check_loss(*operands_[0], std::string(line_.operands[0].text))) {
    return false;
  }
  for (size_t r = 0; r < types_.size() && is_name(r + 1); ++r) {
    types_[r] = operands_[r + 1]->type;
    for (AxisType& a : types_[r].axes) a.letter = dual(a.letter);
  }
  return true;
}

// A sum backward in less than 32 bits has to be asked for.
void Judge::check_precision() {
  const ShardedValue& value = *operands_[0];
  if (!value.carries_gradient || value.pieces.empty()) return;
  const Collective op = call_.op->row->collective;
  const bool gathers =
      (op == Collective::kAllGather || op == Collective::kAllReduce ||
       op == Collective::kRedistribute) &&
      dst_ == 'R' && (src_ == 'P' || src_ == 'V' || src_ == 'S');
  const bool converts = src_ == 'I' && dst_ == 'R';
  if ((!gathers && !converts) || call_.has_key("bwd")) return;
  bool narrow =
      is_float(value.pieces[0].dtype) && size_of(value.pieces[0].dtype) < 4;
  for (const char* key : {"acc", "out"}) {
    const auto dtype = parse_dtype(call_.key(key));
    narrow = narrow || (dtype.has_value() && size_of(*dtype) < 4);
  }
  if (!narrow) return;
  add("low-prec", &group_[0],
      "the gradient is summed over " + std::to_string(group_[0].size) +
          " ranks in less than 32 bits, and bwd= does not say so",
      "write bwd=f32, or the dtype that is meant");
  offer_key("bwd", "f32");
}

// The implicit seed of a backward is 1 on every rank.
bool Judge::check_loss(const ShardedValue& loss, const std::string& name) {
  // What all ranks compute counts once; what each has adds up.
  for (const Axis& axis : within_) {
    const char is = loss.type.on(axis);
    if (is != 'R' && is != 'V') continue;
    add("loss", &axis,
        name + " is " + is + ", and a loss must be I or P on every axis",
        is == 'R' ? "reduce to I instead, or skip the reduction"
                  : "reinterpret V>P: the losses add up");
    out_.problems.back().fixes.push_back(
        is == 'R' ? fix_line(0, axis, "convert", "R", "P") +
                        "   (zero off rank 0 both ways)"
                  : fix_line(0, axis, "reinterpret", "V", "P") + " #local");
  }
  return !has_failed();
}

}  // namespace gt
