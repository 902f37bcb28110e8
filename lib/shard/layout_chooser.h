// Decides in which layouts a line reads its operands and makes its results. It
// does what the config says about the line and its tensors. Whatever the config
// leaves open is chosen by the plan (plan.h), for the shortest estimated time.
// Lines that are alike share one plan (plan_cache.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shard/line_work.h"

namespace gt::shard {

class LayoutChooser {
 public:
  // `plans` must be for this mesh and machine. `is_told` means that people will
  // read the plans' words, which name the operands; then lines with other
  // operands do not share a plan.
  LayoutChooser(const Config& config, Cluster& cluster, PlanCache& plans,
                bool is_told)
      : config_(config), cluster_(cluster), plans_(plans), is_told_(is_told) {}

  // Sets `work.scope` to what the config says about the line by its signal,
  // overridden by what it says about the name of its first result. If work.at
  // has a scope, takes that one instead. Error: scopes contradict each other.
  Status find_scope(LineWork& work) const;
  // Returns true if the line makes state such as an optimizer's moments ("m =
  // mul w 0"). Such a line computes point by point from created tensors only,
  // and the config has a shard: for the name of its result. The result is then
  // cut like a created tensor.
  static bool is_state(const LineWork& work);
  // Returns the layout that a setting asks for, for a tensor of this type on
  // that set of ranks. Cuts of dimensions that the tensor lacks, or that its
  // sizes do not allow, are left out. Returns nothing if there is no setting,
  // or if all of its cuts are left out. Notes the other cuts in cuts_in_use().
  std::optional<Layout> pin_of(const std::optional<CutSetting>& setting,
                               const Type& type, uint32_t set);
  // To be called for an argument that the line will not read itself. If it is a
  // weight that is still to be created, it is cut as this line wants it.
  void pin_weight(const LineWork& work, size_t argument);
  // Returns the layout in which the line's shard: wants the weight that it
  // reads if that was written whole, or else nothing. Sets on which ranks the
  // line runs, as choose() does.
  std::optional<Layout> cut_of_whole_weight(LineWork& work);
  // Returns the ranks on which the line runs: those that the config names, or
  // else those of the largest operand.
  uint32_t set_of(const LineWork& work);
  // Sets on which ranks the line runs, the layout that the config wants for
  // result 0 (the pin), and the plan.
  void choose(LineWork& work);
  // Returns the other plans of a line whose plan is chosen. The reference is
  // valid until the next line.
  std::vector<PlanCache::Entry>& others(const LineWork& work);

  // Returns the cuts of the config that have cut some tensor so far.
  const CutsInUse& cuts_in_use() const { return cuts_in_use_; }

 private:
  void find_pin(LineWork& work);
  std::optional<Layout> weight_pin(const LineWork& work, size_t argument);
  void pin_held(const LineWork& work, size_t argument);
  std::optional<Dtype> sum_dtype(const LineWork& work) const;
  PlannedLine describe(const LineWork& work);

  const Config& config_;
  Cluster& cluster_;
  PlanCache& plans_;
  bool is_told_;
  CutsInUse cuts_in_use_;
};

// Returns true if the op computes each element of its results from the elements
// of its operands at the same index.
bool is_pointwise(const Op& op);

}  // namespace gt::shard
