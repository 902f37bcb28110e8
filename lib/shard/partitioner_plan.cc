// What layouts a line takes, and whether it is better written in other ops.
#include <algorithm>
#include <unordered_map>

#include "ops/families.h"
#include "ops/text.h"
#include "shard/partitioner.h"
#include "stream/ranks.h"

namespace gt {
namespace {

constexpr size_t kMaxExpansions = 4;  // within each other

// What of a line that waits decides how it will be written.
void add_held(const ShardValuePtr& value, PlanKey& key) {
  const bool is_held = value != nullptr && value->held != nullptr;
  key.add(static_cast<int64_t>(is_held));
  if (!is_held) return;
  const UnwrittenLine& held = *value->held;
  key.add(held.pin);
  key.add(held.offer);
  key.add(static_cast<int64_t>(held.set ? *held.set + 1 : 0));
  key.add(static_cast<int64_t>(held.depth));
  key.add(static_cast<int64_t>(held.is_zero));
  for (const ShardValuePtr& operand : held.operands) add_held(operand, key);
}

}  // namespace

// Where the line runs: as the config says, or where most of what it reads is.
uint32_t Partitioner::set_of(const Work& work) {
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
    set = value->copies[0].layout.set;
  }
  return set;
}

// Cuts by the config of a tensor of this type; dimensions that it lacks are not
// cut.
std::optional<Layout> Partitioner::pin_of(
    const std::optional<CutSetting>& setting, const Type& type,
    uint32_t set) const {
  if (!setting) return std::nullopt;
  Layout layout{set, 0, {}};
  for (const SplitEntry& entry : setting->cuts) {
    const int64_t dim = normal_axis(entry.dim, type.shape.size());
    if (dim < 0) continue;
    std::string_view names = entry.axis;  // "dp+tp": one within the other
    while (!names.empty()) {
      const size_t end = std::min(names.find('+'), names.size());
      const size_t axis = cluster_.axis_index(names.substr(0, end));
      names.remove_prefix(std::min(end + 1, names.size()));
      if (axis == cluster_.axes()) continue;
      const bool is_one = cluster_.count(set, axis) == 1;
      Layout finer = layout;
      finer.add(
          {static_cast<uint32_t>(axis), static_cast<int32_t>(dim), entry.unit});
      if (!is_one && !cluster_.can_cut(finer, type.shape)) continue;
      cuts_in_use_.emplace(setting->number, entry.axis);
      if (!is_one) layout = std::move(finer);
    }
  }
  if (layout.cuts.empty() && !setting->cuts.empty()) return std::nullopt;
  return cluster_.simplest(layout, type.shape);
}

// shard: of a scope is also of the weights that its products and convolutions
// read; what has more dimensions than a weight is a batch of products.
std::optional<Layout> Partitioner::weight_pin(const Work& work,
                                              size_t argument) const {
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

void Partitioner::choose(Work& work) {
  work.set = set_of(work);
  const Call& call = work.call;
  if (!call.results.empty()) {
    work.pin = pin_of(work.scope.results, call.results[0], work.set);
    if (work.pin) work.pin_line = work.scope.results->line;
    // A batch taken from data that is held in memory is a creation, too.
    const bool takes = call.op->row->lineage == Lineage::kPart;
    if (!work.pin && (is_state(work) || (takes && !work.is_backward &&
                                         work.values[0] != nullptr &&
                                         work.values[0]->is_source))) {
      work.pin = pin_of(work.scope.shard, call.results[0], work.set);
      if (work.pin) work.pin_line = work.scope.shard->line;
    }
    if (!work.pin) work.pin = pin_of(work.wish, call.results[0], work.set);
  }
  const PlannedLine planned = describe(work);
  const std::string key = key_of(work, planned);
  work.planned = plans_.find(key);
  if (work.planned == nullptr) {
    work.planned =
        plans_.add(key, plan_line(cluster_, config_.machine(), planned));
  }
  explain(work);
}

PlannedLine Partitioner::describe(const Work& work) const {
  const Call& call = work.call;
  PlannedLine planned{call, work.set, {}, work.pin, false};
  planned.keeps_summands = work.line.note("mb") != nullptr;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    planned.operands.emplace_back();
    if (!is_tensor(call.arguments[i])) continue;
    PlannedOperand& operand = planned.operands.back();
    const ShardValuePtr& value =
        work.values[static_cast<size_t>(call.arguments[i].operand)];
    for (const ShardCopy& copy : value->copies) {
      operand.layouts.push_back(copy.layout);
    }
    if (value->held == nullptr) continue;
    const std::optional<Layout> pin = weight_pin(work, i);
    if (pin && (!value->held->pin || value->held->is_wish)) {
      value->held->pin = pin;
      value->held->pin_line = work.scope.shard->line;
    }
    operand.pin = value->held->pin;
    operand.offer = value->held->offer;
    operand.is_zero = value->held->is_zero;
  }
  return planned;
}

// Of the line's plan, and of whether its op is better expanded.
std::string Partitioner::key_of(const Work& work,
                                const PlannedLine& planned) const {
  PlanKey key;
  key.add(planned);
  key.add(static_cast<int64_t>(depth_ * 2 + (regathers_ ? 1 : 0)));
  key.add(static_cast<int64_t>(work.is_backward));
  for (size_t i = 0; i < work.values.size(); ++i) {
    const auto same =
        std::find(work.values.begin(), work.values.end(), work.values[i]);
    key.add(static_cast<int64_t>(same - work.values.begin()));
    add_held(work.values[i], key);
  }
  const Scope& scope = work.scope;
  key.add(scope.shard);
  key.add(scope.results);
  key.add(scope.ranks ? to_string(*scope.ranks) : "");
  const std::string_view* signal = work.line.note("signal");
  key.add(signal == nullptr || work.call.op->is_primitive() ? "" : *signal);
  return key.text();
}

// ---- expansions
// --------------------------------------------------------------

struct Partitioner::Snapshot {
  std::map<std::string, ShardValuePtr> names;  // that the line has
  bool has_mesh;
  NumberPool numbers;
  std::vector<std::pair<std::string, uint32_t>> frees;
  std::vector<std::string> passing_names;
  ShardCosts costs;
  std::string* out;
  bool is_trial;
};

namespace {

using Clones = std::unordered_map<const ShardValue*, ShardValuePtr>;

ShardValuePtr clone(const ShardValuePtr& value, Clones& clones) {
  if (value == nullptr) return nullptr;
  ShardValuePtr& copy = clones[value.get()];
  if (copy != nullptr) return copy;
  const auto made = std::make_shared<ShardValue>(*value);
  copy = made;
  if (made->held != nullptr) {
    made->held = std::make_shared<UnwrittenLine>(*made->held);
    for (ShardValuePtr& operand : made->held->operands) {
      operand = clone(operand, clones);
    }
  }
  return made;
}

}  // namespace

// Where operands would have to be moved, the op's expansion may send fewer
// bytes: the sums and maxima of a softmax over a cut axis are small. Tried, and
// taken back. Bytes count, since what is whole here is whole in all that
// follows.
bool Partitioner::is_better_expanded(const Work& work) {
  if (work.plan().bytes == 0 || work.call.op->is_primitive() ||
      work.call.has_key("part") || depth_ >= kMaxExpansions) {
    return false;
  }
  std::optional<double>& known = work.planned->bytes_expanded;
  if (!known) known = bytes_expanded(work);
  return *known < work.plan().bytes;
}

double Partitioner::bytes_expanded(const Work& work) {
  std::string trial;
  Snapshot before{{},     has_mesh_, numbers_, frees_, passing_names_,
                  costs_, out_,      is_trial_};
  is_trial_ = true;
  Clones clones;
  const auto set_aside = [&](std::string_view text) {
    const std::string name(text);
    const ShardValuePtr value = find(name);
    if (!before.names.emplace(name, value).second || value == nullptr) return;
    names_[name] = clone(value, clones);
  };
  for (const Operand& o : work.line.operands) {
    if (o.kind == Operand::Kind::kName) set_aside(o.text);
  }
  for (const Name& name : work.line.results) set_aside(name.text);
  out_ = &trial;
  costs_.traffic.clear();
  expand(work);
  double bytes = 0;
  for (const auto& [op, traffic] : costs_.traffic) bytes += traffic.bytes;
  for (const auto& [name, value] : before.names) {
    if (value == nullptr) {
      names_.erase(name);
    } else {
      names_[name] = value;
    }
  }
  has_mesh_ = before.has_mesh;
  numbers_ = std::move(before.numbers);
  frees_ = std::move(before.frees);
  passing_names_ = std::move(before.passing_names);
  costs_ = std::move(before.costs);
  out_ = before.out;
  is_trial_ = before.is_trial;
  return bytes;
}

// Writes the line as its op's expansion says, each step on its own. A result
// whose name is read meanwhile gets it at the end.
void Partitioner::expand(const Work& work) {
  const Call& call = work.call;
  const std::vector<Step> steps = expansion_steps(call);
  using RefKey = std::pair<Ref::Kind, uint32_t>;
  const auto key = [](const Ref& ref) { return RefKey{ref.kind, ref.index}; };
  std::map<RefKey, size_t> last_use;
  for (size_t s = 0; s < steps.size(); ++s) {
    for (const StepOperand& o : steps[s].operands) {
      if (o.is_ref) last_use[key(o.ref)] = s;
    }
  }
  std::map<RefKey, std::string> names;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    names[{Ref::Kind::kOperand, static_cast<uint32_t>(i)}] =
        call.arguments[i].text;
  }
  const auto is_read = [&](std::string_view name) {
    return std::any_of(work.line.operands.begin(), work.line.operands.end(),
                       [&](const Operand& o) { return o.text == name; });
  };
  const auto name_result = [&](const Ref& ref) {
    if (ref.kind == Ref::Kind::kResult &&
        !is_read(work.line.results[ref.index].text)) {
      return std::string(work.line.results[ref.index].text);
    }
    return new_name();
  };
  ++depth_;
  const std::string notes = notes_;
  for (size_t s = 0; s < steps.size(); ++s) {
    std::string text;
    for (const Ref& ref : steps[s].results) {
      names[key(ref)] = name_result(ref);
      text += names[key(ref)] + " ";
    }
    text += "= " + steps[s].op->name;
    std::set<std::string> dead;
    for (const StepOperand& o : steps[s].operands) {
      text += " " + (o.is_ref ? names.at(key(o.ref)) : o.text);
      if (o.is_ref && o.ref.kind == Ref::Kind::kTemp &&
          last_use[key(o.ref)] == s) {
        dead.insert(names.at(key(o.ref)));
      }
    }
    for (const Ref& ref : steps[s].results) {
      if (ref.kind == Ref::Kind::kTemp && last_use.count(key(ref)) == 0) {
        dead.insert(names.at(key(ref)));
      }
    }
    for (const auto& [k, v] : steps[s].keys) text += " " + k + "=" + v;
    text += notes;
    Line line;
    GT_CHECK(parse_line(text, line).ok());
    const Status done = instruction(line, text);
    GT_CHECK(done.ok());
    for (const std::string& name : dead) drop_temporary(name);
  }
  --depth_;
  for (uint32_t r = 0; r < call.results.size(); ++r) {
    const std::string name(work.line.results[r].text);
    const std::string& made = names.at({Ref::Kind::kResult, r});
    if (made != name) rename(made, name);
  }
  notes_ = notes;
  write_frees();
}

void Partitioner::drop_temporary(const std::string& name) {
  const ShardValuePtr value = find(name);
  if (value == nullptr) return;
  keep_for_readers(name);
  free_name(name);
  unbind(name);
  write_frees();
}

// The register of an invented name goes; the number of one that never was.
void Partitioner::free_name(const std::string& name) {
  const ShardValuePtr value = find(name);
  if (value->held == nullptr) {
    free_later(name, value->copies[0].layout.set);
  } else {
    numbers_.give(number_of(name));
  }
}

void Partitioner::rename(const std::string& from, const std::string& to) {
  const ShardValuePtr value = find(from);
  keep_for_readers(to);
  if (value->held == nullptr) {
    const std::string ranks =
        "@" + cluster_.ranks_text(value->copies[0].layout.set);
    *out_ += to + ranks + " = copy " + from + ranks + notes_ + "\n";
    holds(to, value->copies[0].layout, value->type);
    line_ends();
  }
  unbind(to);
  bind(to, value);
  free_name(from);
  unbind(from);
}

}  // namespace gt
