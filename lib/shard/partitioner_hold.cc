// Lines that wait for their first use, which says how their results are cut:
// creations, and point-wise lines over what waits.
#include <algorithm>

#include "file/stored.h"
#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/shape_rules.h"
#include "shard/partitioner.h"

namespace gt {
namespace {

constexpr size_t kMaxDepth = 8;
constexpr size_t kMaxSummed = 256;  // shapes

bool is_pointwise(const Op& op) {
  if (op.row->labels != nullptr || op.operand_terms.empty()) return false;
  const auto plain = [](const Term& term) {
    return term.letters.empty() && term.broadcast;
  };
  return std::all_of(op.operand_terms.begin(), op.operand_terms.end(), plain);
}

// Whatever cuts it, every piece holds zeros: also as summands they are zero.
bool makes_zeros(const Call& call) {
  if (call.op->row->zero) return true;
  return call.op->name == "full" && call.arguments[1].literal &&
         call.arguments[1].number.real == 0;
}

// A load of a file that is not there, an integer divided by zero.
bool may_fail(const Call& call) {
  const std::string_view when = call.op->row->fails;
  return when == "always" ||
         (when == "int" && !is_float(call.results[0].dtype));
}

}  // namespace

bool Partitioner::can_hold(const Work& work) {
  const Op& op = *work.call.op;
  if (work.call.results.size() != 1 || work.line.note("grad") != nullptr) {
    return false;
  }
  if (op.family == &kCreation) return true;
  // A counter is written where it stands: what reads it would wait in a chain.
  const Type& type = work.call.results[0];
  if (type.shape.empty() && !is_float(type.dtype)) return false;
  if (!is_pointwise(op) && !op.row->repeats) return false;
  bool any = false;
  for (const ShardValuePtr& value : work.values) {
    if (value == nullptr) continue;
    if (value->held != nullptr) {
      any = true;
      if (value->held->depth >= kMaxDepth) return false;
    } else if (value->type.shape.elements() >= type.shape.elements()) {
      return false;
    } else {
      any |= op.row->repeats;
    }
  }
  return any;
}

// What is computed from weights alone, such as an optimizer's moments by
// m = mul w 0, and is named by the config: cut as if it was created.
bool Partitioner::is_state(const Work& work) {
  if (!work.is_named || work.is_backward || !is_pointwise(*work.call.op)) {
    return false;
  }
  return std::all_of(work.values.begin(), work.values.end(),
                     [](const ShardValuePtr& value) {
                       return value == nullptr || value->is_source;
                     });
}

// What the forward sums, the backward will spread over: an expand to this shape
// begins as this is cut.
void Partitioner::note_sum(const Work& work) {
  const Reduction reduction = work.call.op->row->reduction;
  if (work.is_backward ||
      (reduction != Reduction::kSum && reduction != Reduction::kMean)) {
    return;
  }
  const Layout& cut = work.plan().arguments[0];
  const std::string shape = list_text(work.call.type(0).shape);
  summed_.erase(shape);
  if (summed_.size() == kMaxSummed) summed_.clear();
  if (!cut.cuts.empty()) summed_[shape] = Layout{cut.set, 0, cut.cuts};
}

void Partitioner::hold(const Work& work) {
  const std::string name(work.line.results[0].text);
  const auto value = std::make_shared<ShardValue>();
  value->type = work.call.results[0];
  value->is_source = work.call.op->family == &kCreation;
  value->held = std::make_shared<UnwrittenLine>();
  UnwrittenLine& held = *value->held;
  held.text = work.text;
  held.operands = work.values;
  held.is_zero = makes_zeros(work.call);
  held.may_fail = may_fail(work.call);
  held.place = place_;
  if (work.scope.ranks) held.set = cluster_.set_of(*work.scope.ranks);
  const uint32_t set = held.set.value_or(0);
  if (value->is_source || is_state(work)) {
    held.pin = pin_of(work.scope.shard, value->type, set);
    if (held.pin) held.pin_line = work.scope.shard->line;
  }
  if (!held.pin) {
    held.pin = pin_of(work.scope.results, value->type, set);
    if (held.pin) held.pin_line = work.scope.results->line;
  }
  if (!held.pin) {
    held.pin = pin_of(work.wish, value->type, set);
    held.is_wish = held.pin.has_value();
  }
  if (depth_ == 0) held.claims = claims_;
  if (work.is_backward && work.call.op->row->repeats) {
    const auto it = summed_.find(list_text(value->type.shape));
    if (it != summed_.end()) held.offer = it->second;
  }
  // What speaks of a block of its own stays whole.
  if (work.call.has_key("part")) {
    held.pin = Layout{held.set.value_or(0), 0, {}};
    held.pin_line = 0;
  }
  for (const ShardValuePtr& operand : held.operands) {
    if (operand == nullptr) continue;
    ++operand->held_readers;
    if (operand->held == nullptr) continue;
    value->is_source |= operand->is_source;
    held.depth = std::max(held.depth, operand->held->depth + 1);
    if (!held.set) held.set = operand->held->set;
    // A weight that was scaled when it was made is cut as it was to be.
    if (!held.pin && operand->type.shape == value->type.shape) {
      held.pin = operand->held->pin;
      held.pin_line = operand->held->pin_line;
    }
    if (!held.offer && operand->type.shape == value->type.shape) {
      held.offer = operand->held->offer;
    }
  }
  keep_for_readers(name);
  unbind(name);
  bind(name, value);
  if (work.call.op->row->statement == Statement::kLoad) {
    auto& waiting = loads_[stored_file(work.line.operands[0].text)];
    std::erase_if(waiting, [](const std::weak_ptr<ShardValue>& before) {
      const ShardValuePtr load = before.lock();
      return load == nullptr || load->held == nullptr;
    });
    waiting.push_back(value);
  }
}

// The layout in which an unwritten value is made for a reader who wants this
// one: where the config says nothing, as wanted.
Layout Partitioner::made_as(const ShardValuePtr& value,
                            const Layout& wanted) const {
  const UnwrittenLine& held = *value->held;
  Layout made = wanted;
  if (!held.is_zero) made.partial = 0;
  if (held.set) made.set = *held.set;
  if (!held.pin) return made;
  if (held.pin->cuts.empty()) return Layout{made.set, 0, {}};
  // The config's cuts; of other axes what is wanted, within those.
  Layout out = *held.pin;
  out.set = made.set;
  out.partial = made.partial;
  for (const AxisCut& cut : out.cuts) out.partial &= ~(1U << cut.axis);
  for (const AxisCut& cut : made.cuts) {
    if (out.cut_of(cut.axis) != nullptr) continue;
    Layout finer = out;
    finer.add(cut);
    if (cluster_.can_cut(finer, value->type.shape)) out = std::move(finer);
  }
  return cluster_.simplest(out, value->type.shape);
}

void Partitioner::create(const ShardValuePtr& value, const Layout& layout) {
  const std::shared_ptr<UnwrittenLine> held = value->held;
  Line line;
  GT_CHECK(parse_line(held->text, line).ok());
  take_claims(line);
  std::vector<const Type*> types;
  for (const ShardValuePtr& operand : held->operands) {
    types.push_back(operand == nullptr ? nullptr : &operand->type);
  }
  Call call;
  GT_CHECK(gt::bind(line, types, call).ok());
  // What it reads is cut as the result is, where it has the same index.
  Plan plan;
  plan.results = {layout};
  const Layout whole{layout.set, 0, {}};
  plan.arguments.assign(call.arguments.size(), whole);
  for (const Label& label : index_rule(call)) {
    for (const AxisCut& cut : layout.cuts) {
      if (label.results[0].dim != cut.dim) continue;
      for (size_t i = 0; i < plan.arguments.size(); ++i) {
        const LabelDim& place = label.arguments[i];
        if (!place.is_there()) continue;
        plan.arguments[i].add({cut.axis, place.dim,
                               cut.unit / label.results[0].unit * place.unit});
      }
    }
  }
  if (value->names.empty()) value->hidden = new_name();
  value->held = nullptr;
  value->copies = {{layout, ""}};
  explain_created(*held, layout);
  std::vector<std::string> operands(line.operands.size());
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i])) continue;
    const auto o = static_cast<size_t>(call.arguments[i].operand);
    operands[o] = fetch(held->operands[o], plan.arguments[i], "made together");
  }
  const std::string own = value->own_name();
  line.results[0].text = own;
  Writing how = writing(call, plan);
  if (layout.partial != 0) {
    how.notes = " #type=";
    for (size_t a = 0; a < cluster_.axes(); ++a) {
      if (!layout.is_partial(a)) continue;
      how.notes +=
          (how.notes.back() == '=' ? "" : ",") + cluster_.axis_name(a) + ":P";
    }
  }
  write(line, operands, how);
  holds(own, layout, value->type);
  line_ends();
  for (const ShardValuePtr& operand : held->operands) {
    if (operand != nullptr) stop_reading(operand);
  }
  costs_.seconds += cluster_.piece_bytes(layout, value->type) /
                    config_.machine().memory_bandwidth;
}

void Partitioner::create_default(const ShardValuePtr& value) {
  const uint32_t set = value->held->set.value_or(0);
  create(value, made_as(value, Layout{set, 0, {}}));
}

// Nobody reads it, but that it fails must be seen: by one rank of those where
// the config does not say how it is cut.
void Partitioner::create_unread(const ShardValuePtr& value) {
  if (value->held == nullptr || !value->held->may_fail) return;
  is_unread_ = true;
  if (value->held->pin || !value->is_source) {
    create_default(value);
  } else {
    const uint32_t set = value->held->set.value_or(0);
    create(value, {cluster_.set_of({cluster_.ranks(set)[0]}), 0, {}});
  }
  is_unread_ = false;
}

// An unwritten line that was to read it was written, or is not needed.
void Partitioner::stop_reading(const ShardValuePtr& value) {
  --value->held_readers;
  if (value->held_readers > 0 || !value->names.empty()) return;
  create_unread(value);
  if (value->held != nullptr) {
    for (const ShardValuePtr& operand : value->held->operands) {
      if (operand != nullptr) stop_reading(operand);
    }
    value->held = nullptr;
    return;
  }
  for (const ShardCopy& copy : value->copies) {
    const std::string& name = value->name_of(copy);
    if (!name.empty()) free_later(name, copy.layout.set);
  }
  value->copies.clear();
}

// The name is about to hold something else: an unwritten line will read what it
// holds, or nobody will.
void Partitioner::keep_for_readers(const std::string& name) {
  const ShardValuePtr value = find(name);
  if (value == nullptr || value->names.size() > 1) return;
  if (value->held_readers == 0) create_unread(value);
  if (value->held != nullptr || value->is_failed || value->held_readers == 0) {
    return;
  }
  value->hidden = new_name();
  const uint32_t set = value->copies[0].layout.set;
  const std::string ranks = "@" + cluster_.ranks_text(set);
  declare_mesh();
  *out_ += value->hidden + ranks + " = copy " + name + ranks + "\n";
  holds(value->hidden, value->copies[0].layout, value->type);
  line_ends();
}

void Partitioner::create_loads(const std::string& file) {
  auto waiting = loads_.extract(file);
  if (waiting.empty()) return;
  for (const std::weak_ptr<ShardValue>& load : waiting.mapped()) {
    const ShardValuePtr value = load.lock();
    if (value != nullptr && value->held != nullptr) create_default(value);
  }
}

// Of what is named, and of what that would have read.
void Partitioner::finish(std::string& out) {
  out_ = &out;
  std::set<std::string> names;
  for (const auto& [name, value] : names_) names.insert(name);
  const auto visit = [&](const auto& self, const ShardValuePtr& value) -> void {
    if (value == nullptr || value->held == nullptr) return;
    for (const ShardValuePtr& operand :
         std::vector<ShardValuePtr>(value->held->operands)) {
      self(self, operand);
    }
    create_unread(value);
  };
  notes_.clear();
  for (const std::string& name : names) visit(visit, find(name));
  write_frees();
  costs_.peak_bytes = static_cast<double>(memory_.most());
  if (explain_ && !created_.empty()) explain_(created_);
  created_.clear();
}

void Partitioner::create_all_loads() {
  while (!loads_.empty()) create_loads(loads_.begin()->first);
}

}  // namespace gt
