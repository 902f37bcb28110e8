// Which layouts a line's operands and results take: what the config says of its
// tensors, and what is planned of the rest (plan.h), once for lines alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shard/line_work.h"

namespace gt::shard {

class LayoutChooser {
 public:
  // `plans`: of this mesh and machine.
  LayoutChooser(const Config& config, Cluster& cluster, PlanCache& plans)
      : config_(config), cluster_(cluster), plans_(plans) {}

  // What the config says of the line: by its signal, and by its result's name.
  // Error: scopes that contradict each other.
  Status find_scope(LineWork& work) const;
  // What is computed from weights alone, such as an optimizer's moments by
  // m = mul w 0, and is named by the config: cut as if it was created.
  static bool is_state(const LineWork& work);
  // Cuts by the config of a tensor of this type; dimensions that it lacks are
  // not cut.
  std::optional<Layout> pin_of(const std::optional<CutSetting>& setting,
                               const Type& type, uint32_t set);
  // The set, the pin and the plan of a line.
  void choose(LineWork& work);

  const CutsInUse& cuts_in_use() const { return cuts_in_use_; }

 private:
  uint32_t set_of(const LineWork& work);
  void find_pin(LineWork& work);
  std::optional<Layout> weight_pin(const LineWork& work, size_t argument);
  PlannedLine describe(const LineWork& work);

  const Config& config_;
  Cluster& cluster_;
  PlanCache& plans_;
  CutsInUse cuts_in_use_;
};

// Whether the line makes or changes values point by point.
bool is_pointwise(const Op& op);

}  // namespace gt::shard
