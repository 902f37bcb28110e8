// What gt-shard --plan may choose, and the config that says so.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "shard/config.h"
#include "shard/layer_chain.h"
#include "shard/tensor_groups.h"
#include "spmd/mesh.h"

namespace gt::shard {

// How the tensors of a group are cut: dimensions over axes, such as 0 over "dp"
// or "dp+tp". Without cuts they are whole on each rank, or as their readers
// want them.
using GroupCuts = std::vector<std::pair<std::string, int32_t>>;

struct PlanGuess {
  std::vector<GroupCuts> cuts;  // by group
  bool regather = false;        // gathered weights are not kept
  // Where each layer runs along the mesh's axis for stages; empty: there are
  // no stages.
  std::vector<int64_t> stages;
  const ScheduleKind* kind = nullptr;  // null: lines stay in their order
};

class PlanWriter {
 public:
  // The settings of `given` are written as well, but for its mesh and entries.
  PlanWriter(const Config& given, const std::vector<TensorGroup>& groups,
             const std::vector<LayerScopes>& layers)
      : given_(given), groups_(groups), layers_(layers) {}

  // Returns a config as YAML. `stage_axis` is the name of the axis for stages.
  std::string text(const Mesh& mesh, const PlanGuess& guess,
                   const std::string& stage_axis = "") const;
  // Returns the config that text() is.
  Config config(const Mesh& mesh, const PlanGuess& guess,
                const std::string& stage_axis = "") const;
  // Takes those cuts off the guess that are not in use. A cut may cut no
  // tensor, as of zeros that are made in the layout that their reader wants. It
  // costs nothing, but gt-shard would refuse its entry as one without effect.
  static void drop_unused(PlanGuess& guess, const CutsInUse& used);

 private:
  std::string settings(const PlanGuess& guess) const;
  std::string schedule(const PlanGuess& guess) const;
  std::string signals(const PlanGuess& guess,
                      const std::string& stage_axis) const;
  std::string tensors(const PlanGuess& guess) const;

  const Config& given_;
  const std::vector<TensorGroup>& groups_;
  const std::vector<LayerScopes>& layers_;
};

}  // namespace gt::shard
