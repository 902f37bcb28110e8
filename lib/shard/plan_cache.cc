#include "shard/plan_cache.h"

namespace gt {

void PlanKey::add(std::string_view text) {
  add(static_cast<int64_t>(text.size()));
  text_ += text;
}

// Mostly below 128, which are a byte.
void PlanKey::add(int64_t number) {
  auto rest = static_cast<uint64_t>(number);
  for (; rest >= 0x80; rest >>= 7) text_ += static_cast<char>(rest | 0x80);
  text_ += static_cast<char>(rest);
}

void PlanKey::add(const Type& type) {
  add(static_cast<int64_t>(type.dtype));
  add(static_cast<int64_t>(type.shape.size()));
  for (const int64_t size : type.shape) add(size);
}

void PlanKey::add(const Layout& layout) {
  add(static_cast<int64_t>(layout.set));
  add(static_cast<int64_t>(layout.partial));
  add(static_cast<int64_t>(layout.cuts.size()));
  for (const AxisCut& cut : layout.cuts) {
    add(static_cast<int64_t>(cut.axis));
    add(static_cast<int64_t>(cut.dim));
    add(cut.unit);
  }
}

void PlanKey::add(const std::optional<Layout>& layout) {
  add(static_cast<int64_t>(layout.has_value()));
  if (layout) add(*layout);
}

void PlanKey::add(const std::optional<CutSetting>& setting) {
  add(static_cast<int64_t>(setting.has_value()));
  if (!setting) return;
  add(static_cast<int64_t>(setting->cuts.size()));
  for (const SplitEntry& cut : setting->cuts) {
    add(cut.axis);
    add(cut.dim);
    add(cut.unit);
  }
}

void PlanKey::add(const PlannedLine& line) {
  const Call& call = line.call;
  add(call.op->name);
  for (const std::string_view value : call.key_values) add(value);
  add(static_cast<int64_t>(line.set));
  add(line.pin);
  add(static_cast<int64_t>(line.keeps_summands));
  add(static_cast<int64_t>(call.result_count));
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& a = call.arguments[i];
    add(static_cast<int64_t>(is_tensor(a)));
    if (!is_tensor(a)) {
      add(a.text);
      continue;
    }
    add(a.type);
    const PlannedOperand& operand = line.operands[i];
    add(static_cast<int64_t>(operand.layouts.size()));
    for (const Layout& layout : operand.layouts) add(layout);
    add(operand.pin);
    add(operand.offer);
    add(static_cast<int64_t>(operand.is_zero));
  }
}

}  // namespace gt
