// The local join, axis by axis, and the checks and types around it.
#include <algorithm>

#include "spmd/join.h"
#include "spmd/rules.h"

namespace gt {

bool fail_untyped(size_t operand, const Axis& axis, Findings& out) {
  return out.faults.add({.rule = Rule::kLacksType,
                         .axes = {axis},
                         .operand = static_cast<int>(operand)});
}

namespace {

// True if an argument can be joined on the axis; else adds a fault.
bool check_argument(const ReadLine& in, const Argument& a, const Axis& axis,
                    Findings& out) {
  const auto o = static_cast<size_t>(a.operand);
  if (!is_typed(a) || !in.is_name(o)) return true;
  const ShardedValue& value = *in.operands[o];
  if (value.state == ShardedValue::State::kSoft) return true;
  const char letter = value.type.on(axis);
  if (letter == kUntyped && !in.in.mode.permissive) {
    return fail_untyped(o, axis, out);
  }
  if (letter != 'V' || in.is_local(axis)) return true;
  if (value.type.pending(axis) != 0) {
    // A copy only gives it a second name.
    if (in.collective() == Collective::kCopy) return true;
    return out.faults.add(
        {.rule = Rule::kExtremeRead, .axes = {axis}, .operand = a.operand});
  }
  const bool is_scalar = value.pieces.empty() || value.pieces[0].shape.empty();
  if (value.type.dim_of(axis) >= 0 || (a.role == Role::kAny && is_scalar)) {
    return true;
  }
  return out.faults.add(
      {.rule = Rule::kVaryingUnsaid, .axes = {axis}, .operand = a.operand});
}

}  // namespace

bool check_typed(const ReadLine& in, Findings& out) {
  for (const Axis& axis : in.within) {
    for (const Argument& a : in.call.arguments) {
      if (!check_argument(in, a, axis, out)) break;
    }
  }
  return !out.faults.any();
}

bool join_axes(const ReadLine& in, const WholeLine* whole, Findings& out) {
  const bool names =
      std::any_of(in.call.arguments.begin(), in.call.arguments.end(), is_typed);
  for (const Axis& axis : in.within) {
    const std::vector<char> letters = in.letters_on(axis);
    const bool none = std::all_of(letters.begin(), letters.end(),
                                  [](char c) { return c == kNoLetter; });
    if (none && names && in.in.mode.permissive) continue;
    Joined joined = join(in.call, letters);
    if (joined.fault && whole != nullptr && whole->adds_to_sum(axis)) {
      joined = {'P', std::nullopt};
    }
    if (joined.fault) {
      out.faults.add({.rule = *joined.fault, .axes = {axis}});
      continue;
    }
    // A constant without ranks says nothing about any axis.
    if (none && !in.is_placed() && !names) continue;
    const bool copies = in.collective() == Collective::kCopy && in.is_name(0);
    out.set_all(axis, joined.letter,
                copies ? in.operands[0]->type.pending(axis) : 0);
  }
  return !out.faults.any();
}

void declare_source(const ReadLine& in, Findings& out) {
  if (!in.has_pieces()) return;
  for (size_t r = 0; r < out.types.size(); ++r) {
    Placement& type = out.types[r];
    in.spec_of_split(in.pieces->value()[r][0].shape.size(), type);
    if (in.is_local()) type.spec.clear();
    for (const Axis& axis : in.within) {
      if (in.is_local(axis)) type.unshard(axis);
    }
  }
}

namespace {

// If the indices are copies, each rank picks summands from its part of a table
// that is cut. Only with passes_over: gt-check -l leaves it to #partial= to say
// so.
void pick_summands(const ReadLine& in, Findings& out) {
  const bool picks = in.call.op->row->part_operand == 0 && in.is_name(0) &&
                     in.is_name(1) && in.in.mode.passes_over;
  const std::string_view* text = in.line.key("split");
  if (!picks || text == nullptr) return;
  for (const Axis& axis : in.within) {
    if (in.operands[0]->type.on(axis) != 'V') continue;
    if (in.operands[1]->type.on(axis) == 'R') out.types[0].set(axis, 'P');
  }
}

}  // namespace

void cut_copies(const ReadLine& in, Findings& out) {
  const Row& row = *in.call.op->row;
  if (out.types.empty() || !in.is_bound) return;
  if (row.part_operand >= 0) return pick_summands(in, out);
  Placement stated;
  in.spec_of_split(in.call.results[0].shape.size(), stated);
  for (const AxisType& a : stated.axes) {
    if (in.is_local(a.axis) && out.types[0].on(a.axis) == 'R') {
      out.types[0].set(a.axis, 'V');
    }
  }
}

}  // namespace gt
