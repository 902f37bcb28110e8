#include "check/judge.h"

#include <algorithm>
#include <set>

#include "ops/table.h"
#include "spmd/join.h"
#include "spmd/remesh.h"
#include "spmd/stated.h"
#include "stream/ranks.h"

namespace gt {

Judgement judge(const JudgeIn& in) { return Judge(in).run(); }

Judge::Judge(const JudgeIn& in)
    : in_(in), line_(in.line), op_(find_op(in.line.op)), options_(in.options) {
  local_ = options_.local || line_.note("local") != nullptr;
  for (const Axis& axis : in.names.mesh_axes()) {
    if (in.where == nullptr || extent_along(axis, in.where->ranks) > 1) {
      within_.push_back(axis);
    }
  }
}

void Judge::add(const char* kind, const Axis* axis, std::string message,
                std::string why) {
  out_.problems.push_back({kind,
                           axis == nullptr ? "" : in_.names.name(*axis),
                           std::move(message),
                           std::move(why),
                           {}});
}

bool Judge::is_local(const Axis& axis) const {
  return local_ || is_local_by_options(axis);
}

bool Judge::is_local_by_options(const Axis& axis) const {
  if (options_.local) return true;
  const auto& names = options_.local_axes;
  return !names.empty() && std::find(names.begin(), names.end(),
                                     in_.names.name(axis)) != names.end();
}

std::string Judge::described(size_t operand) const {
  const std::string name(line_.operands[operand].text);
  return name + " " + in_.names.describe(operands_[operand]->type);
}

// ---- operands ---------------------------------------------------------------

namespace {

// Whether along the axis the rank that holds all of the sum is among them.
bool holds_root(const AxisType& a, const std::vector<int64_t>& ranks) {
  std::set<int64_t> lines, rooted;
  for (const int64_t rank : ranks) {
    lines.insert(a.axis.origin(rank));
    if (root_on(a.axis, rank) == a.pending) rooted.insert(a.axis.origin(rank));
  }
  return lines == rooted;
}

}  // namespace

bool Judge::is_over(const Axis& axis) const {
  const std::string_view* over = line_.key("over");
  if (over == nullptr || in_.names.mesh() == nullptr) return false;
  const auto axes = in_.names.mesh()->resolve(unquote(*over));
  return axes.ok() &&
         std::any_of(axes.value().begin(), axes.value().end(),
                     [&](const MeshAxis* a) { return *a == axis; });
}

// The value on some of its ranks. Along an axis that loses coordinates only
// copies stay what they are.
ShardedValue Judge::read(const ShardedValue& value,
                         const std::vector<int64_t>& ranks, size_t operand) {
  ShardedValue out = value;
  const bool all = value.ranks == ranks && value.bound.empty();
  if (all || !value.is_placed()) return out;
  const auto& bound = value.bound.empty() ? value.ranks : value.bound;
  out.ranks = ranks;
  out.bound.clear();
  out.pieces.clear();
  for (const int64_t rank : ranks) {
    const size_t at = position_of(rank, value.ranks);
    if (at >= value.pieces.size()) break;
    out.pieces.push_back(value.pieces[at]);
  }
  if (out.pieces.size() != ranks.size()) out.pieces.clear();
  for (const AxisType& a : value.type.axes) {
    const size_t left = extent_along(a.axis, ranks);
    const bool as_group =  // which must be whole, and is told so
        left == extent_along(a.axis, bound) && is_over(a.axis);
    if (as_group || has_whole_lines(a.axis, ranks, bound)) continue;
    const std::string name(line_.operands[operand].text);
    if (a.letter == 'P' && holds_root(a, ranks)) {
      // All that others have is zero.
    } else if (a.letter == 'P') {
      add("part-nonlin", &a.axis,
          name +
              " is a pending sum (P), and only some of its summands are read");
    } else if (a.pending != 0) {
      add("partial-op", &a.axis, name + " awaits the extreme of all ranks");
    } else if (value.type.dim_of(a.axis) >= 0) {
      add("shard-prop", &a.axis,
          "only some of the shards of " + name + " are read");
    }
    if (left > 1) continue;
    out.type.unshard(a.axis);
    out.type.drop(a.axis);
  }
  return out;
}

// Local axes come before all others.
bool Judge::check_local_axes() {
  if (options_.local_axes.empty()) return true;
  const Axis* global = nullptr;
  for (const Axis& axis : within_) {
    if (!is_local(axis)) {
      global = &axis;
    } else if (global != nullptr) {
      add("local-prefix", &axis,
          "a local axis inside of " + in_.names.name(*global),
          "local axes are the outermost ones of the mesh");
      return false;
    }
  }
  return true;
}

bool Judge::read_operands() {
  for (size_t o = 0; o < line_.operands.size(); ++o) {
    operands_.emplace_back();
    const ShardedValue* value = in_.operands[o];
    if (value == nullptr) continue;
    ShardedValue operand =
        in_.where == nullptr
            ? *value
            : read(*value, ranks_read(line_, *in_.where, o), o);
    Kinded problem;
    Placement moved;
    if (!remesh_to_current(operand.type, in_.names, moved, problem)) {
      const bool lacks = problem.kind == "remesh-region";
      out_.problems.push_back(
          {lacks ? "axis-missing" : problem.kind,
           problem.axis,
           std::string(line_.operands[o].text) + ": " + problem.message,
           "",
           {}});
    }
    operand.type = std::move(moved);
    unknown_ = unknown_ || operand.state == ShardedValue::State::kUnknown;
    operands_.back() = std::move(operand);
  }
  return !has_failed() && check_local_axes();
}

// ---- shapes -----------------------------------------------------------------

void Judge::infer_pieces() {
  for (const auto& operand : operands_) {
    if (operand.has_value() && operand->pieces.empty()) return;
  }
  if (in_.where == nullptr || line_.results.empty() || is_grad()) return;
  const PieceType types = [this](size_t o, int64_t rank) -> const Type* {
    const ShardedValue& value = *operands_[o];
    return &value.pieces[position_of(rank, value.ranks)];
  };
  pieces_ = infer_placed(line_, *in_.where, in_.names.mesh(), types);
}

// As the first of its ranks runs it; by form alone where the shapes are not
// known or do not fit.
void Judge::bind_call() {
  std::vector<const Type*> types;
  if (line_.results.empty() || is_grad()) return;
  bool known = in_.where == nullptr || !crosses_ranks(line_, *in_.where);
  for (const auto& operand : operands_) {
    const bool has = operand.has_value() && !operand->pieces.empty();
    known = known && (has || !operand.has_value());
    types.push_back(has ? operand->pieces.data() : nullptr);
  }
  if (known && in_.where == nullptr) {
    const Status made = gt::bind(line_, types, call_);
    is_bound_ = made.ok();
    if (!is_bound_) misfit_ = made.error().message;
  } else if (known) {
    const auto grid = grid_of(line_, in_.names.mesh(), in_.where->ranks);
    if (grid.ok()) plan_.emplace(local_plan(line_, grid.value()));
    is_bound_ =
        plan_.has_value() && plan_->ok() &&
        bind_local(plan_->value(), plan_->value().variant_of[0], types, call_)
            .ok();
  }
  if (is_bound_) return;
  const std::vector<const Type*> none(line_.operands.size(), nullptr);
  is_formed_ = bind_form(line_, none, call_).ok();
}

// ---- the line ---------------------------------------------------------------

Judgement Judge::run() {
  const bool readable = read_operands();
  infer_pieces();
  types_.resize(line_.results.size());
  bind_call();
  const bool known = readable && !unknown_ &&
                     line_.note("unchecked") == nullptr && infer_types();
  finish_pieces();
  finish(known && !has_failed());
  return std::move(out_);
}

bool Judge::infer_types() {
  if (op_ == nullptr) return false;
  if (is_output(op_->row->statement)) return check_output();
  if (is_grad()) return take_gradients();
  if (!is_bound_ && !is_formed_) return false;
  if (in_.where != nullptr && crosses_ranks(line_, *in_.where)) return cross();
  if (!check_typed()) return false;
  if (!local_ && !is_source()) find_labels();
  if (!join_axes()) return false;
  if (is_source()) {
    declare_source();
    return !has_failed();
  }
  if (!local_ && !propagate()) return false;
  cut_locally();
  return true;
}

// What split= cuts out of equal copies differs from rank to rank.
void Judge::cut_locally() {
  Placement stated;
  if (types_.empty() || !is_bound_ || call_.op->row->part_operand >= 0) return;
  spec_of_split(call_.results[0].shape.size(), stated);
  for (const AxisType& a : stated.axes) {
    if (is_local(a.axis) && types_[0].on(a.axis) == 'R') {
      types_[0].set(a.axis, 'V');
    }
  }
}

// Errors of shapes and places, unless something more telling was found.
bool Judge::finish_pieces() {
  if (pieces_.has_value() && !pieces_->ok()) misfit_ = pieces_->error().message;
  if (misfit_.empty()) return true;
  const bool lacks_ranks =
      in_.where == nullptr && is_formed_ && call_.op->row->needs_ranks();
  if (!has_failed()) add(lacks_ranks ? "ranks" : "shape", nullptr, misfit_);
  return false;
}

void Judge::finish(bool known) {
  bool carries = false;
  for (const auto& operand : operands_) {
    carries = carries || (operand.has_value() && operand->carries_gradient);
  }
  const bool stops_gradient = op_ != nullptr && op_->row->stops_gradient;
  bool is_soft = in_.where == nullptr && known;
  for (const auto& operand : operands_) {
    is_soft = is_soft && (!operand.has_value() ||
                          operand->state == ShardedValue::State::kSoft);
  }
  for (size_t r = 0; r < line_.results.size(); ++r) {
    ShardedValue& value = out_.results.emplace_back();
    value.carries_gradient = carries && !stops_gradient;
    if (in_.where != nullptr) value.ranks = in_.where->ranks;
    if (is_grad() && is_name(r + 1)) {
      value.pieces = operands_[r + 1]->pieces;
    } else if (in_.where != nullptr) {
      if (pieces_.has_value() && pieces_->ok()) {
        value.pieces = pieces_->value()[r];
      }
    } else if (is_bound_ && r < call_.results.size()) {
      value.pieces = {call_.results[r]};
    }
    value.state =
        known ? ShardedValue::State::kTyped : ShardedValue::State::kUnknown;
    if (known && is_soft) value.state = ShardedValue::State::kSoft;
    if (known) value.type = types_[r];
  }
  apply_claims();
  if (!known || has_failed()) return;
  for (size_t r = 0; r < out_.results.size(); ++r) {
    const ShardedValue& value = out_.results[r];
    if (!local_ || value.type.is_sharded()) {
      if (value.is_placed() && !value.pieces.empty() && !whole_of(value)) {
        add("uneven", nullptr,
            "the pieces of " + std::string(line_.results[r].text) +
                " are not those of " + in_.names.describe(value.type));
      }
    }
  }
  if (!has_failed()) check_optimizer();
  if (!has_failed()) check_gradient();
}

// ---- sources and sinks ------------------------------------------------------

bool Judge::is_source() const {
  const auto& operands = call_.op->operands;
  return !operands.empty() &&
         (operands[0].role == Role::kType || operands[0].role == Role::kString);
}

// What split= says of a tensor of so many dimensions. False: not readable, and
// told with the shapes.
bool Judge::spec_of_split(size_t dims, Placement& type) const {
  const std::string_view* text = line_.key("split");
  if (text == nullptr || in_.names.mesh() == nullptr) return true;
  const auto split = parse_split(unquote(*text));
  return split.ok() && shard_by(split.value(), dims, type);
}

bool Judge::shard_by(const std::vector<SplitEntry>& split, size_t dims,
                     Placement& type) const {
  for (const SplitEntry& entry : split) {
    const auto axes = in_.names.mesh()->resolve(entry.axis);
    const int64_t dim = normal_axis(entry.dim, dims);
    if (!axes.ok() || dim < 0) return false;
    for (const MeshAxis* axis : axes.value()) {
      const bool here =
          std::find(within_.begin(), within_.end(), *axis) != within_.end();
      if (!here) continue;
      type.set(*axis, 'V');
      type.shard(*axis, static_cast<size_t>(dim), dims);
    }
  }
  return true;
}

void Judge::declare_source() {
  if (in_.where == nullptr || !pieces_.has_value() || !pieces_->ok()) return;
  for (size_t r = 0; r < types_.size(); ++r) {
    const Type& piece = pieces_->value()[r][0];
    spec_of_split(piece.shape.size(), types_[r]);
    if (local_) types_[r].spec.clear();
    for (const Axis& axis : within_) {
      if (is_local(axis)) types_[r].unshard(axis);
    }
  }
}

// What split= of a print states is what the operand is.
bool Judge::check_split(const Placement& type, size_t dims) {
  if (local_ || line_.key("split") == nullptr) return true;
  Placement stated;
  if (!spec_of_split(dims, stated)) return true;
  if (stated.spec == type.spec) return true;
  add("spec-conflict", nullptr,
      "split= cuts by " + in_.names.spec_text(stated, true) +
          ", but the tensor is " + in_.names.describe(type),
      "pieces would be put together in another way than they were cut");
  return false;
}

bool Judge::check_output() {
  for (size_t o = 0; o < operands_.size(); ++o) {
    if (!operands_[o].has_value()) continue;
    const ShardedValue& value = *operands_[o];
    const std::string name(line_.operands[o].text);
    for (const Axis& axis : within_) {
      const char letter = value.type.on(axis);
      if (letter == 'P') {
        add("part-nonlin", &axis,
            name + " is a pending sum (P): what is written is a summand",
            "its ranks hold summands of the value");
        out_.problems.back().fixes.push_back(
            fix_line(o, axis, "all_reduce", "P", "R"));
      } else if (value.type.pending(axis) != 0) {
        add("partial-op", &axis, name + " awaits the extreme of all ranks");
      }
    }
    if (!has_failed() && !value.pieces.empty()) {
      check_split(value.type, value.pieces[0].shape.size());
    }
    if (in_.where == nullptr || value.pieces.empty() ||
        line_.key("split") == nullptr) {
      continue;
    }
    const auto grid = grid_of(line_, in_.names.mesh(), in_.where->ranks);
    const PieceType types = [&](size_t, int64_t rank) {
      return &value.pieces[position_of(rank, value.ranks)];
    };
    if (!grid.ok()) {
      add("ranks", nullptr, grid.error().message);
    } else if (const auto put = assembly(line_, grid.value(), types);
               !put.ok() && !has_failed()) {
      add("shape", nullptr, put.error().message);
    }
  }
  return true;
}

}  // namespace gt
