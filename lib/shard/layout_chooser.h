// Decides in which layouts a line reads its operands and makes its results.
// What the config says of the line and of its tensors comes first; of the rest
// the plan (plan.h) takes what is expected to need the least time. A plan is
// made once for lines that are alike (plan_cache.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shard/line_work.h"

namespace gt::shard {

class LayoutChooser {
 public:
  // `plans`: of this mesh and machine. `is_told`: people read the words of
  // plans, which name the operands, so lines share none with others.
  LayoutChooser(const Config& config, Cluster& cluster, PlanCache& plans,
                bool is_told)
      : config_(config), cluster_(cluster), plans_(plans), is_told_(is_told) {}

  // Sets `work.scope`: what the config says by the line's signal, and over that
  // by its first result's name. Error: scopes that contradict each other.
  Status find_scope(LineWork& work) const;
  // Whether the line makes state such as an optimizer's moments ("m = mul w
  // 0"): point by point out of created tensors alone, under a name of which the
  // config says shard:. Then it is cut as if it was created.
  static bool is_state(const LineWork& work);
  // The setting as a layout on the set of ranks, of a tensor of this type. Left
  // out are cuts of dimensions that it lacks, or that its sizes do not allow;
  // nothing if none of them is left, or there is no setting.
  std::optional<Layout> pin_of(const std::optional<CutSetting>& setting,
                               const Type& type, uint32_t set);
  // Sets on which ranks the line runs, how the config wants result 0 (the pin),
  // and the plan. The ranks are those that the config says, or else those of
  // the largest operand.
  void choose(LineWork& work);

  // The cuts of the config that cut some tensor so far.
  const CutsInUse& cuts_in_use() const { return cuts_in_use_; }

 private:
  uint32_t set_of(const LineWork& work);
  void find_pin(LineWork& work);
  std::optional<Layout> weight_pin(const LineWork& work, size_t argument);
  PlannedLine describe(const LineWork& work);

  const Config& config_;
  Cluster& cluster_;
  PlanCache& plans_;
  bool is_told_;
  CutsInUse cuts_in_use_;
};

// Whether the line makes or changes values point by point.
bool is_pointwise(const Op& op);

}  // namespace gt::shard
