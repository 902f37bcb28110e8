// The meshes on which gt-shard --plan tries a step, and the ways to place its
// layers on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shard/config.h"
#include "shard/stage_cuts.h"
#include "shard/tensor_groups.h"
#include "spmd/mesh.h"

namespace gt::shard {

struct PlanMesh {
  Mesh mesh;        // of all ranks
  Mesh within;      // of the ranks of a stage: without the axis for stages
  size_t data = 0;  // the axis of `within` that cuts batches first
  std::string stage_axis;  // "": there are no stages
  int64_t stages = 1;
};

// Returns the meshes of axes dp and tp, and of pp, dp and tp with at most as
// many stages as there are layers, or the given mesh, whose axis pp is for
// stages if there are layers for it. Meshes are left out whose dp is larger
// than a batch has rows, or whose tp goes far beyond the nearest level of the
// machine; unless that would leave none.
std::vector<PlanMesh> meshes_for(const Config& given, int64_t ranks,
                                 const std::vector<TensorGroup>& groups,
                                 size_t layers);

// A kind of schedule, and what it has of the model on each rank.
struct Placement {
  const ScheduleKind* kind = nullptr;  // null: no schedule
  int64_t parts = 1;                   // of the model on each rank
};

// Returns the kinds to try for a step with so many layers on this mesh, with
// the placements that suit them: those of the given schedule, or of all, the
// first of which is 1f1b.
std::vector<Placement> placements_for(const Config& given, int64_t stages,
                                      size_t layers);

// Returns the stage of each layer.
std::vector<int64_t> stages_for(const std::vector<LayerCost>& layers,
                                int64_t stages, const Placement& placement,
                                int64_t microbatches, double memory);

}  // namespace gt::shard
