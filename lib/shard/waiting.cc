#include "shard/waiting.h"

#include <algorithm>

#include "file/stored.h"
#include "ops/families.h"

namespace gt::shard {
namespace {

constexpr size_t kMaxDepth = 8;

// Returns true if the result is all zeros. Then each piece of it is zero in any
// layout, even as summands.
bool makes_zeros(const Call& call) {
  if (call.op->row->zero) return true;
  return call.op->name == "full" && call.arguments[1].literal &&
         call.arguments[1].number.real == 0;
}

// Returns true if running the line may fail, as a load of a missing file does,
// or a division of integers by zero.
bool may_fail(const Call& call) {
  const std::string_view when = call.op->row->fails;
  return when == "always" ||
         (when == "int" && !is_float(call.results[0].dtype));
}

}  // namespace

bool WaitingLines::can_wait(const LineWork& work) {
  const Op& op = *work.call.op;
  if (work.call.results.size() != 1 || work.line.note("grad") != nullptr) {
    return false;
  }
  if (op.family == &kCreation) return true;
  // A counter is written where it stands. Otherwise all lines that read it
  // would wait, one behind the other.
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

ShardValuePtr WaitingLines::make(const LineWork& work, LayoutChooser& chooser,
                                 Cluster& cluster) {
  const auto value = std::make_shared<ShardValue>();
  value->type = work.call.results[0];
  value->is_source = work.call.op->family == &kCreation;
  value->held = std::make_shared<UnwrittenLine>();
  UnwrittenLine& held = *value->held;
  held.text = work.shown();
  held.operands = work.values;
  held.is_zero = makes_zeros(work.call);
  held.may_fail = may_fail(work.call);
  held.place = work.at.place;
  held.claims = work.claims;
  if (work.scope.ranks) held.set = cluster.set_of(*work.scope.ranks);
  find_pin(work, chooser, held.set.value_or(0), value->is_source, held);
  if (work.is_backward && work.call.op->row->repeats) {
    const Layout* cut = summed_.find(value->type.shape);
    if (cut != nullptr) held.offer = *cut;
  }
  for (const ShardValuePtr& operand : held.operands) {
    if (operand != nullptr) join_operand(operand, *value);
  }
  if (work.call.op->row->statement == Statement::kLoad) note_load(work, value);
  return value;
}

void WaitingLines::find_pin(const LineWork& work, LayoutChooser& chooser,
                            uint32_t set, bool is_source,
                            UnwrittenLine& held) const {
  const Type& type = work.call.results[0];
  if (is_source || LayoutChooser::is_state(work)) {
    held.pin = chooser.pin_of(work.scope.shard, type, set);
    if (held.pin) held.pin_line = work.scope.shard->line;
  }
  if (!held.pin) {
    held.pin = chooser.pin_of(work.scope.results, type, set);
    if (held.pin) held.pin_line = work.scope.results->line;
  }
  if (!held.pin) {
    held.pin = chooser.pin_of(work.wish, type, set);
    held.is_wish = held.pin.has_value();
  }
  // A line with part= speaks of one block of its own, so its result is not cut.
  if (work.call.has_key("part")) {
    held.pin = Layout{set, 0, {}};
    held.pin_line = 0;
  }
}

void WaitingLines::join_operand(const ShardValuePtr& operand,
                                ShardValue& value) {
  UnwrittenLine& held = *value.held;
  ++operand->held_readers;
  if (operand->held == nullptr) return;
  value.is_source |= operand->is_source;
  held.depth = std::max(held.depth, operand->held->depth + 1);
  if (!held.set) held.set = operand->held->set;
  if (!(operand->type.shape == value.type.shape)) return;
  // A weight that is scaled after its creation is cut as the created tensor was
  // to be cut.
  if (!held.pin) {
    held.pin = operand->held->pin;
    held.pin_line = operand->held->pin_line;
  }
  if (!held.offer) held.offer = operand->held->offer;
}

void WaitingLines::note_sum(const LineWork& work) {
  const Reduction reduction = work.call.op->row->reduction;
  if (work.is_backward ||
      (reduction != Reduction::kSum && reduction != Reduction::kMean)) {
    return;
  }
  const Layout& cut = work.plan().arguments[0];
  summed_.note(work.call.type(0).shape, Layout{cut.set, 0, cut.cuts});
}

// ---- loads ------------------------------------------------------------------

void WaitingLines::note_load(const LineWork& work, const ShardValuePtr& value) {
  if (loads_.size() >= most_loads_) {
    std::erase_if(loads_, [](const Load& load) {
      const ShardValuePtr before = load.value.lock();
      return before == nullptr || before->held == nullptr;
    });
    most_loads_ = std::max<size_t>(64, 2 * loads_.size());
  }
  loads_.push_back({value, stored_file(work.line.operands[0].text),
                    work.at.space, work.line.note("once") != nullptr});
}

template <typename Wanted>
std::vector<ShardValuePtr> WaitingLines::take_loads_if(
    const Wanted& is_wanted) {
  std::vector<ShardValuePtr> taken;
  std::erase_if(loads_, [&](const Load& load) {
    const ShardValuePtr value = load.value.lock();
    if (value == nullptr || value->held == nullptr) return true;
    if (!is_wanted(load)) return false;
    taken.push_back(value);
    return true;
  });
  return taken;
}

std::vector<ShardValuePtr> WaitingLines::take_loads(const std::string& file) {
  return take_loads_if([&](const Load& load) { return load.file == file; });
}

std::vector<ShardValuePtr> WaitingLines::take_loads_once(
    std::string_view space) {
  return take_loads_if([&](const Load& load) {
    return load.is_once && load.space.starts_with(space);
  });
}

std::vector<ShardValuePtr> WaitingLines::take_all_loads() {
  return take_loads_if([](const Load& /*load*/) { return true; });
}

void WaitingLines::describe(const Cluster& cluster, std::string& out) const {
  summed_.describe("sum", cluster, out);
}

}  // namespace gt::shard
