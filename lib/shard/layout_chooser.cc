#include "shard/layout_chooser.h"

#include <algorithm>

namespace gt::shard {
namespace {

// Adds what decides how a waiting value's line will be written.
void add_held(const ShardValuePtr& value, PlanKey& key) {
  const bool is_held = value != nullptr && value->held != nullptr;
  key.add(is_held);
  if (!is_held) return;
  const UnwrittenLine& held = *value->held;
  key.add(held.pin, held.offer, held.set, held.depth, held.is_zero);
  for (const ShardValuePtr& operand : held.operands) add_held(operand, key);
}

// Returns the key of the line's plan, and of whether its op is better expanded.
std::string key_of(const LineWork& work, const PlannedLine& planned,
                   bool is_told) {
  PlanKey key;
  key.add(planned, work.at.depth, work.at.regathers, work.is_backward);
  for (size_t i = 0; i < work.values.size(); ++i) {
    const auto same =
        std::find(work.values.begin(), work.values.end(), work.values[i]);
    key.add(same - work.values.begin());
    add_held(work.values[i], key);
  }
  const Scope& scope = work.scope;
  key.add(scope.shard, scope.results, scope.ranks);
  const std::string_view* signal = work.line.note("signal");
  key.add(signal == nullptr || work.call.op->is_primitive() ? "" : *signal);
  for (const Operand& operand : work.line.operands) {
    if (is_told) key.add(operand.text);
  }
  return key.text();
}

}  // namespace

bool is_pointwise(const Op& op) {
  if (op.row->labels != nullptr || op.operand_terms.empty()) return false;
  const auto plain = [](const Term& term) {
    return term.letters.empty() && term.broadcast;
  };
  return std::all_of(op.operand_terms.begin(), op.operand_terms.end(), plain);
}

bool LayoutChooser::is_state(const LineWork& work) {
  if (!work.is_named || work.is_backward || !is_pointwise(*work.call.op)) {
    return false;
  }
  return std::all_of(work.values.begin(), work.values.end(),
                     [](const ShardValuePtr& value) {
                       return value == nullptr || value->is_source;
                     });
}

// ---- what the config says ---------------------------------------------------

Status LayoutChooser::find_scope(LineWork& work) const {
  work.is_backward = work.line.note("bwd") != nullptr;
  if (const std::string_view* signal = work.line.note("signal")) {
    auto scope = config_.find(unquote(*signal), work.is_backward);
    if (!scope.ok()) return scope.error();
    work.scope = std::move(scope.value());
  }
  if (work.line.results.empty()) return ok_status();
  if (const Scope* named = config_.tensor(work.line.results[0].text)) {
    if (named->shard) work.scope.shard = named->shard;
    work.is_named = named->shard.has_value();
    if (named->results) work.scope.results = named->results;
    if (named->ranks) work.scope.ranks = named->ranks;
    if (named->compile) work.scope.compile = named->compile;
    if (named->regather) work.scope.regather = named->regather;
  }
  return ok_status();
}

uint32_t LayoutChooser::set_of(const LineWork& work) {
  if (work.scope.ranks) return cluster_.set_of(*work.scope.ranks);
  uint32_t set = 0;
  double most = -1;
  for (const ShardValuePtr& value : work.values) {
    if (value == nullptr) continue;
    const auto bytes = static_cast<double>(value->type.bytes());
    if (value->held != nullptr) {
      if (most < 0 && value->held->set) set = *value->held->set;
      continue;
    }
    if (bytes <= most) continue;
    most = bytes;
    set = value->layout().set;
  }
  return set;
}

std::optional<Layout> LayoutChooser::pin_of(
    const std::optional<CutSetting>& setting, const Type& type, uint32_t set) {
  if (!setting) return std::nullopt;
  Layout layout{set, 0, {}};
  for (const SplitEntry& entry : setting->cuts) {
    const int64_t dim = normal_axis(entry.dim, type.shape.size());
    if (dim < 0) continue;
    std::string_view names = entry.axis;  // "dp+tp": tp cuts within dp
    while (!names.empty()) {
      const size_t end = std::min(names.find('+'), names.size());
      const size_t axis = cluster_.axis_index(names.substr(0, end));
      names.remove_prefix(std::min(end + 1, names.size()));
      if (axis == cluster_.axes()) continue;
      const bool is_one = cluster_.count(set, axis) == 1;
      const AxisCut cut{static_cast<uint32_t>(axis), static_cast<int32_t>(dim),
                        entry.unit};
      if (!is_one && !cluster_.try_cut(layout, cut, type.shape)) continue;
      cuts_in_use_.emplace(setting->number, entry.axis);
    }
  }
  if (layout.cuts.empty() && !setting->cuts.empty()) return std::nullopt;
  return cluster_.simplest(layout, type.shape);
}

// The shard: of a scope also applies to the weights that its products and
// convolutions read. A tensor that has more dimensions than a weight has is not
// a weight but an operand of a batch of products. Returns the layout for an
// argument that is a weight, or else nothing.
std::optional<Layout> LayoutChooser::weight_pin(const LineWork& work,
                                                size_t argument) {
  const int weight = work.call.op->row->weight_operand;
  if (weight < 0 || argument != static_cast<size_t>(weight)) {
    return std::nullopt;
  }
  const Type& type = work.call.type(argument);
  const Term& term = work.call.op->operand_terms[argument];
  if (work.is_backward || type.shape.size() != term.letters.size()) {
    return std::nullopt;
  }
  return pin_of(work.scope.shard, type, work.set);
}

// Lets the line's shard: decide how a waiting value is cut that is its weight,
// if nothing else does.
void LayoutChooser::pin_held(const LineWork& work, size_t argument) {
  const ShardValuePtr& value = work.value(argument);
  if (value->held == nullptr) return;
  const std::optional<Layout> pin = weight_pin(work, argument);
  if (!pin || (value->held->pin && !value->held->is_wish)) return;
  value->held->pin = pin;
  value->held->pin_line = work.scope.shard->line;
}

void LayoutChooser::pin_weight(const LineWork& work, size_t argument) {
  LineWork at_its_place = work;
  at_its_place.set = set_of(work);
  pin_held(at_its_place, argument);
}

std::optional<Layout> LayoutChooser::cut_of_whole_weight(LineWork& work) {
  const int weight = work.call.op->row->weight_operand;
  if (weight < 0 || !work.scope.shard) return std::nullopt;
  const ShardValuePtr& value = work.value(static_cast<size_t>(weight));
  if (value->held != nullptr || !value->is_source || value->copies.empty() ||
      !value->layout().cuts.empty() || value->layout().partial != 0) {
    return std::nullopt;
  }
  work.set = set_of(work);
  if (value->layout().set != work.set) return std::nullopt;
  std::optional<Layout> pin = weight_pin(work, static_cast<size_t>(weight));
  if (!pin || pin->cuts.empty()) return std::nullopt;
  return pin;
}

void LayoutChooser::find_pin(LineWork& work) {
  const Call& call = work.call;
  if (call.results.empty()) return;
  work.pin = pin_of(work.scope.results, call.results[0], work.set);
  if (work.pin) work.pin_line = work.scope.results->line;
  // A batch that is taken from created data counts as a created tensor, too.
  const bool takes = call.op->row->lineage == Lineage::kPart;
  if (!work.pin && (is_state(work) ||
                    (takes && !work.is_backward && work.values[0] != nullptr &&
                     work.values[0]->is_source))) {
    work.pin = pin_of(work.scope.shard, call.results[0], work.set);
    if (work.pin) work.pin_line = work.scope.shard->line;
  }
  if (!work.pin) work.pin = pin_of(work.wish, call.results[0], work.set);
}

// ---- the plan ---------------------------------------------------------------

void LayoutChooser::choose(LineWork& work) {
  work.set = set_of(work);
  find_pin(work);
  work.sum_dtype = sum_dtype(work);
  const PlannedLine planned = describe(work);
  work.planned = &plans_.obtain(key_of(work, planned, is_told_), [&] {
    return plan_line(cluster_, config_.machine(), planned);
  });
}

std::vector<PlanCache::Entry>& LayoutChooser::others(const LineWork& work) {
  auto& others = work.planned->others;
  if (!others) {
    others.emplace();
    for (Plan& plan :
         other_plans(cluster_, config_.machine(), describe(work))) {
      others->push_back({std::move(plan), std::nullopt});
    }
  }
  return *others;
}

// Returns the dtype in which sums of the line's results are sent, if the config
// names one with fewer digits than f32. It holds for products of f16 and bf16,
// for gradients of targets, and for what is computed of summands that all are
// such.
std::optional<Dtype> LayoutChooser::sum_dtype(const LineWork& work) const {
  const Call& call = work.call;
  const Dtype said = work.scope.sums.value_or(config_.sums());
  if (!is_half(said) || call.results.empty() ||
      !is_float(call.results[0].dtype)) {
    return std::nullopt;
  }
  bool is_product = work.line.note("grad") != nullptr;
  std::optional<Dtype> inherited;
  bool inherits = true;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i])) continue;
    is_product |= call.op->is_product() && is_half(call.type(i).dtype);
    const ShardValue& value = *work.value(i);
    if (value.held != nullptr || value.layout().partial == 0) continue;
    inherits &= value.sum_dtype.has_value();
    inherited = value.sum_dtype;
  }
  if (is_product) return said;
  return inherits ? inherited : std::nullopt;
}

PlannedLine LayoutChooser::describe(const LineWork& work) {
  const Call& call = work.call;
  PlannedLine planned{.call = call, .set = work.set, .pin = work.pin};
  planned.is_backward = work.is_backward;
  const bool is_of_microbatch = work.line.note("mb") != nullptr;
  planned.keeps_summands = is_of_microbatch && work.is_backward;
  planned.sum_dtype = work.sum_dtype;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    planned.operands.emplace_back();
    if (!is_tensor(call.arguments[i])) continue;
    PlannedOperand& operand = planned.operands.back();
    const ShardValuePtr& value = work.value(i);
    operand.layouts = value->layouts();
    operand.sum_dtype = value->sum_dtype;
    planned.keeps_summands |=
        is_of_microbatch &&
        std::any_of(operand.layouts.begin(), operand.layouts.end(),
                    [](const Layout& layout) { return layout.partial != 0; });
    if (value->held == nullptr) continue;
    pin_held(work, i);
    operand.pin = value->held->pin;
    operand.offer = value->held->offer;
    operand.is_zero = value->held->is_zero;
  }
  return planned;
}

}  // namespace gt::shard
