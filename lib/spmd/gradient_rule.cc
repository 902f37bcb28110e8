// The rules for gradients, optimizers and losses.
#include <algorithm>

#include "ops/families.h"
#include "spmd/remesh.h"
#include "spmd/rules.h"

namespace gt {

namespace {

// Returns the index of the line's operand for the optimizer's parameter of this
// name; -1 if there is none.
int operand_of(const ReadLine& in, std::string_view parameter) {
  const Call& call = in.call;
  int found = -1;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const int32_t o = call.arguments[i].operand;
    if (o < 0 || !in.is_name(static_cast<size_t>(o))) continue;
    const size_t p = call.op->parameter_of(i, call.arguments.size());
    if (call.op->operands[p].name == parameter) found = o;
  }
  return found;
}

}  // namespace

bool check_optimizer(const ReadLine& in, Findings& out) {
  if (in.call.op == nullptr || in.call.op->family != &kOptimizers) return true;
  const int w = operand_of(in, "w");
  const int g = operand_of(in, "g");
  if (w < 0 || g < 0) return true;
  const Placement& parameter = in.operands[static_cast<size_t>(w)]->type;
  const Placement& gradient = in.operands[static_cast<size_t>(g)]->type;
  for (const Axis& axis : in.within) {
    const char is = gradient.on(axis), of = parameter.on(axis);
    if (is == kUntyped || of == kUntyped) continue;
    if (is == of && parameter.dim_of(axis) == gradient.dim_of(axis)) continue;
    out.faults.add({.rule = Rule::kOptimizerUnlike,
                    .axes = {axis},
                    .operand = g,
                    .seen = parameter});
  }
  return !out.faults.any();
}

namespace {

// Returns the first axis on which g is none of: typed as w is, typed as a
// gradient of w, a sum that is still pending. Null if there is none.
const Axis* unlike_gradient(const ReadLine& in, const Placement& g,
                            const Placement& w) {
  for (const Axis& axis : in.within) {
    const char is = g.on(axis);
    const char of = w.on(axis);
    if (is == kUntyped || of == kUntyped || is == 'P') continue;
    if (is == of && g.dim_of(axis) == w.dim_of(axis)) continue;
    if (is == dual(of) && is != of) continue;
    if (of == 'P' && g.dim_of(axis) >= 0) continue;  // part of an R
    return &axis;
  }
  return nullptr;
}

}  // namespace

bool check_gradient(const ReadLine& in,
                    const std::vector<ShardedValue>& results, Findings& out) {
  const ShardedValue* target = in.in.target;
  const bool is_zero = in.op != nullptr && in.op->row->zero;  // of any type
  if (target == nullptr || is_zero ||
      target->state != ShardedValue::State::kTyped || target->pieces.empty()) {
    return true;
  }
  TypeFaults ignored;
  const auto w = remesh_to_current(target->type, in.names, ignored);
  if (!w.has_value()) return true;
  const size_t dims = target->pieces[0].shape.size();
  const Axis* wrong = nullptr;
  const ShardedValue* gradient = nullptr;
  for (const ShardedValue& result : results) {
    if (result.state != ShardedValue::State::kTyped || result.pieces.empty() ||
        result.pieces[0].shape.size() != dims) {
      continue;
    }
    wrong = unlike_gradient(in, result.type, *w);
    if (wrong == nullptr) return true;
    gradient = &result;
  }
  if (wrong == nullptr) return true;
  return out.faults.add({.rule = Rule::kGradientUnlike,
                         .axes = {*wrong},
                         .seen = *w,
                         .stated = gradient->type});
}

bool check_precision(const ReadLine& in, const std::vector<Axis>& group,
                     char src, char dst, Findings& out) {
  const ShardedValue& value = *in.operands[0];
  if (!value.carries_gradient || value.pieces.empty()) return true;
  const Collective op = in.collective();
  const bool gathers =
      (op == Collective::kAllGather || op == Collective::kAllReduce ||
       op == Collective::kRedistribute) &&
      dst == 'R' && (src == 'P' || src == 'V' || src == 'S');
  const bool converts = src == 'I' && dst == 'R';
  if ((!gathers && !converts) || in.call.has_key("bwd")) return true;
  bool narrow =
      is_float(value.pieces[0].dtype) && size_of(value.pieces[0].dtype) < 4;
  for (const char* key : {"acc", "out"}) {
    const auto dtype = parse_dtype(in.call.key(key));
    narrow = narrow || (dtype.has_value() && size_of(*dtype) < 4);
  }
  if (!narrow) return true;
  return out.faults.add(
      {.rule = Rule::kNarrowSum, .axes = {group[0]}, .n = group[0].size});
}

// The implicit seed of a backward pass is 1 on every rank. So what all ranks
// compute (I) counts once, and what each rank has (P) adds up.
bool take_gradients(const ReadLine& in, Findings& out) {
  if (!in.is_name(0)) return false;
  for (const Axis& axis : in.within) {
    const char is = in.operands[0]->type.on(axis);
    if (is != 'R' && is != 'V') continue;
    out.faults.add({.rule = is == 'R' ? Rule::kLossCopies : Rule::kLossVaries,
                    .axes = {axis},
                    .operand = 0});
  }
  if (out.faults.any()) return false;
  for (size_t r = 0; r < out.types.size() && in.is_name(r + 1); ++r) {
    out.types[r] = in.operands[r + 1]->type;
    for (AxisType& a : out.types[r].axes) a.letter = dual(a.letter);
  }
  return true;
}

}  // namespace gt
