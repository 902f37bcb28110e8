#include "spmd/read_line.h"

#include <algorithm>
#include <set>

#include "ops/table.h"
#include "spmd/join.h"
#include "spmd/remesh.h"
#include "spmd/stated.h"

namespace gt {

ReadLine::ReadLine(const LineToType& given, TypeFaults& faults)
    : in(given),
      line(given.line),
      names(given.names),
      op(find_op(given.line.op)),
      is_local_(given.mode.local || given.line.note("local") != nullptr) {
  for (const Axis& axis : names.mesh_axes()) {
    if (!is_placed() || extent_along(axis, ranks()) > 1) {
      within.push_back(axis);
    }
  }
  read_operands(faults);
  is_readable = !faults.any() && check_local_axes(faults);
  infer_pieces();
  bind_call();
}

bool ReadLine::is_within(const Axis& axis) const {
  return std::find(within.begin(), within.end(), axis) != within.end();
}

bool ReadLine::is_local(const Axis& axis) const {
  return is_local_ || is_local_by_mode(axis);
}

bool ReadLine::is_local_by_mode(const Axis& axis) const {
  if (in.mode.local) return true;
  const auto& local = in.mode.local_axes;
  return !local.empty() &&
         std::find(local.begin(), local.end(), names.name(axis)) != local.end();
}

bool ReadLine::crosses() const {
  return is_placed() && crosses_ranks(line, *in.where);
}

bool ReadLine::is_source() const {
  const auto& parameters = call.op->operands;
  return !parameters.empty() && (parameters[0].role == Role::kType ||
                                 parameters[0].role == Role::kString);
}

bool ReadLine::is_grad() const {
  return op != nullptr && op->row->statement == Statement::kGrad;
}

int64_t ReadLine::group_size(const std::vector<Axis>& group) const {
  int64_t n = 1;
  for (const Axis& axis : group) {
    n *= static_cast<int64_t>(extent_along(axis, operands[0]->ranks));
  }
  return n;
}

// ---- operands ---------------------------------------------------------------

namespace {

// True if, along the axis, every line of these ranks has the one that holds all
// of the sum.
bool holds_root(const AxisType& a, const std::vector<int64_t>& ranks) {
  std::set<int64_t> lines, rooted;
  for (const int64_t rank : ranks) {
    lines.insert(a.axis.origin(rank));
    if (root_on(a.axis, rank) == a.pending) rooted.insert(a.axis.origin(rank));
  }
  return lines == rooted;
}

// Returns the value's pieces on some of its ranks; none if they are not all
// known.
std::vector<Type> pieces_on(const ShardedValue& value,
                            const std::vector<int64_t>& ranks) {
  std::vector<Type> pieces;
  for (const int64_t rank : ranks) {
    const size_t at = position_of(rank, value.ranks);
    if (at >= value.pieces.size()) return {};
    pieces.push_back(value.pieces[at]);
  }
  return pieces;
}

}  // namespace

bool ReadLine::is_over(const Axis& axis) const {
  const std::string_view* over = line.key("over");
  if (over == nullptr || names.mesh() == nullptr) return false;
  const auto axes = names.mesh()->resolve(unquote(*over));
  return axes.ok() &&
         std::any_of(axes.value().begin(), axes.value().end(),
                     [&](const MeshAxis* a) { return *a == axis; });
}

// Returns the value on some of its ranks. Along an axis that loses coordinates,
// only copies stay what they are.
ShardedValue ReadLine::read(const ShardedValue& value,
                            const std::vector<int64_t>& ranks, size_t operand,
                            TypeFaults& faults) const {
  ShardedValue out = value;
  const bool all = value.ranks == ranks && value.bound.empty();
  if (all || !value.is_placed()) return out;
  const auto& bound = value.bound.empty() ? value.ranks : value.bound;
  out.ranks = ranks;
  out.bound.clear();
  out.pieces = pieces_on(value, ranks);
  for (const AxisType& a : value.type.axes) {
    const size_t left = extent_along(a.axis, ranks);
    const bool as_group =  // the group must be whole, which is checked
                           // elsewhere
        left == extent_along(a.axis, bound) && is_over(a.axis);
    if (as_group || has_whole_lines(a.axis, ranks, bound)) continue;
    const auto fail = [&](Rule rule) {
      faults.add({.rule = rule,
                  .axes = {a.axis},
                  .operand = static_cast<int>(operand)});
    };
    if (a.letter == 'P' && holds_root(a, ranks)) {
      // The other ranks hold zeros, so nothing is missing.
    } else if (a.letter == 'P') {
      fail(Rule::kSumPartlyRead);
    } else if (a.pending != 0) {
      fail(Rule::kExtremePartlyRead);
    } else if (value.type.dim_of(a.axis) >= 0 && !is_local(a.axis)) {
      fail(Rule::kShardsPartlyRead);
    }
    if (left > 1) continue;
    out.type.unshard(a.axis);
    out.type.drop(a.axis);
  }
  return out;
}

// Checks that local axes come before all others.
bool ReadLine::check_local_axes(TypeFaults& faults) const {
  if (in.mode.local_axes.empty()) return true;
  const Axis* global = nullptr;
  for (const Axis& axis : within) {
    if (!is_local(axis)) {
      global = &axis;
    } else if (global != nullptr) {
      return faults.add(
          {.rule = Rule::kLocalInside, .axes = {axis}, .to = {*global}});
    }
  }
  return true;
}

void ReadLine::read_operands(TypeFaults& faults) {
  for (size_t o = 0; o < line.operands.size(); ++o) {
    operands.emplace_back();
    const ShardedValue* value = in.operands[o];
    if (value == nullptr) continue;
    ShardedValue operand =
        is_placed() ? read(*value, ranks_read(line, *in.where, o), o, faults)
                    : *value;
    TypeFaults moving;
    auto moved = remesh_to_current(operand.type, names, moving);
    for (TypeFault fault : moving) {
      fault.operand = static_cast<int>(o);
      faults.add(std::move(fault));
    }
    operand.type = moved.has_value() ? std::move(*moved) : Placement{};
    knows_all = knows_all && operand.state != ShardedValue::State::kUnknown;
    operands.back() = std::move(operand);
  }
}

// ---- shapes -----------------------------------------------------------------

void ReadLine::infer_pieces() {
  for (const auto& operand : operands) {
    if (operand.has_value() && operand->pieces.empty()) return;
  }
  if (!is_placed() || line.results.empty() || is_grad()) return;
  const PieceType types = [this](size_t o, int64_t rank) -> const Type* {
    const ShardedValue& value = *operands[o];
    return &value.pieces[position_of(rank, value.ranks)];
  };
  pieces = infer_placed(line, *in.where, names.mesh(), types);
}

void ReadLine::bind_call() {
  std::vector<const Type*> types;
  if (line.results.empty() || is_grad()) return;
  bool known = !crosses();
  for (const auto& operand : operands) {
    const bool has = operand.has_value() && !operand->pieces.empty();
    known = known && (has || !operand.has_value());
    types.push_back(has ? operand->pieces.data() : nullptr);
  }
  if (known && !is_placed()) {
    const Status made = gt::bind(line, types, call);
    is_bound = made.ok();
    if (!is_bound) misfit = made.error();
  } else if (known) {
    const auto grid = grid_of(line, names.mesh(), ranks());
    if (grid.ok()) plan_.emplace(local_plan(line, grid.value()));
    is_bound =
        plan_.has_value() && plan_->ok() &&
        bind_local(plan_->value(), plan_->value().variant_of[0], types, call)
            .ok();
  }
  if (is_bound) return;
  const std::vector<const Type*> none(line.operands.size(), nullptr);
  is_formed = bind_form(line, none, call).ok();
}

// ---- what rules ask ---------------------------------------------------------

bool ReadLine::spec_of_split(size_t dims, Placement& type) const {
  const std::string_view* text = line.key("split");
  if (text == nullptr || names.mesh() == nullptr) return true;
  const auto split = parse_split(unquote(*text));
  return split.ok() && shard_by(split.value(), dims, type);
}

bool ReadLine::shard_by(const std::vector<SplitEntry>& split, size_t dims,
                        Placement& type) const {
  for (const SplitEntry& entry : split) {
    const auto axes = names.mesh()->resolve(entry.axis);
    const int64_t dim = normal_axis(entry.dim, dims);
    if (!axes.ok() || dim < 0) return false;
    for (const MeshAxis* axis : axes.value()) {
      if (!is_within(*axis)) continue;
      type.set(*axis, 'V');
      type.shard(*axis, static_cast<size_t>(dim), dims);
    }
  }
  return true;
}

bool is_typed(const Argument& a) {
  return a.operand >= 0 && !a.absent && !a.literal &&
         (a.role == Role::kTensor || a.role == Role::kAny);
}

std::vector<char> ReadLine::letters_on(const Axis& axis) const {
  std::vector<char> letters;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& a = call.arguments[i];
    char letter = kNoLetter;
    if (a.role == Role::kTensor && a.literal && !a.absent) {
      letter = a.number.real != 0 ? kLiteralLetter : kNoLetter;
    } else if (is_typed(a) && is_name(static_cast<size_t>(a.operand))) {
      const ShardedValue& value = *operands[static_cast<size_t>(a.operand)];
      letter =
          value.state == ShardedValue::State::kSoft ? 'R' : value.type.on(axis);
      // In the permissive mode an untyped operand is ignored.
      if (letter == kUntyped && !in.mode.passes_over) letter = kNoLetter;
      const size_t p = call.op->parameter_of(i, call.arguments.size());
      // Random numbers drawn with one seed suit any type, as a literal seed
      // does.
      if (letter == 'R' && call.op->is_seed(p)) letter = kNoLetter;
    }
    letters.push_back(letter);
  }
  return letters;
}

}  // namespace gt
