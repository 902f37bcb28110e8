#include "shard/plan_meshes.h"

#include <algorithm>

#include "base/result.h"

namespace gt::shard {
namespace {

// More ranks than a node has, or than this, seldom share a product with profit.
constexpr int64_t kMostTensorRanks = 8;

Mesh mesh_of(const std::vector<std::pair<std::string, int64_t>>& axes) {
  Mesh mesh;
  for (const auto& [name, size] : axes) GT_CHECK(mesh.add(name, size).ok());
  return mesh;
}

PlanMesh given_mesh(const Mesh& given, int64_t layers) {
  PlanMesh out;
  out.mesh = given;
  std::vector<std::pair<std::string, int64_t>> others;
  for (const MeshAxis& axis : given.axes()) {
    if (axis.name == "pp" && axis.size > 1 && axis.size <= layers) {
      out.stage_axis = axis.name;
      out.stages = axis.size;
      continue;
    }
    if (axis.name == "dp") out.data = others.size();
    others.emplace_back(axis.name, axis.size);
  }
  if (others.empty()) others.emplace_back("dp", 1);
  out.within = mesh_of(others);
  return out;
}

PlanMesh new_mesh(int64_t pp, int64_t dp, int64_t tp) {
  PlanMesh out;
  out.within = mesh_of({{"dp", dp}, {"tp", tp}});
  out.mesh = out.within;
  out.stages = pp;
  if (pp == 1) return out;
  out.mesh = mesh_of({{"pp", pp}, {"dp", dp}, {"tp", tp}});
  out.stage_axis = "pp";
  return out;
}

// Returns the meshes of which is_wanted(dp, tp) is true.
template <typename IsWanted>
std::vector<PlanMesh> new_meshes(int64_t ranks, int64_t layers,
                                 const IsWanted& is_wanted) {
  std::vector<PlanMesh> out;
  for (int64_t pp = 1; pp == 1 || pp <= std::min(ranks, layers); ++pp) {
    if (ranks % pp != 0) continue;
    for (int64_t dp = ranks / pp; dp >= 1; --dp) {
      const int64_t tp = ranks / pp / dp;
      if (pp * dp * tp == ranks && is_wanted(dp, tp)) {
        out.push_back(new_mesh(pp, dp, tp));
      }
    }
  }
  return out;
}

}  // namespace

std::vector<PlanMesh> meshes_for(const Config& given, int64_t ranks,
                                 const std::vector<TensorGroup>& groups,
                                 size_t layers) {
  const auto count = static_cast<int64_t>(layers);
  if (given.has_mesh()) return {given_mesh(given.mesh(), count)};
  int64_t rows = 0;
  for (const TensorGroup& group : groups) {
    if (group.role != GroupRole::kBatch) continue;
    rows = std::max(rows, group.type.shape[0]);
  }
  const std::vector<LinkLevel>& levels = given.machine().levels;
  const auto is_likely = [&](int64_t dp, int64_t tp) {
    const bool is_near =
        levels.empty() || tp <= std::max(kMostTensorRanks, levels[0].ranks);
    return is_near && (rows == 0 || dp <= rows);
  };
  std::vector<PlanMesh> likely = new_meshes(ranks, count, is_likely);
  if (!likely.empty()) return likely;
  return new_meshes(ranks, count, [](int64_t, int64_t) { return true; });
}

std::vector<Placement> placements_for(const Config& given, int64_t stages,
                                      size_t layers) {
  std::vector<Placement> out;
  const auto add = [&](const ScheduleKind& kind) {
    if (!kind.wants_parts) return out.push_back({&kind, 1});
    const int64_t most = kind.wants_return ? 2 : 4;
    for (int64_t parts = 2; parts <= most; parts *= 2) {
      if (parts * stages <= static_cast<int64_t>(layers)) {
        out.push_back({&kind, parts});
      }
    }
  };
  if (given.schedule()) {
    add(*given.schedule()->kind);
    if (out.empty()) out.push_back({given.schedule()->kind, 1});
    return out;
  }
  const ScheduleKind* first = find_schedule_kind("1f1b");
  add(*first);
  // Those behind are mostly faster.
  for (size_t i = schedule_kinds().size(); i-- > 0;) {
    if (&schedule_kinds()[i] != first) add(schedule_kinds()[i]);
  }
  return out;
}

std::vector<int64_t> stages_for(const std::vector<LayerCost>& layers,
                                int64_t stages, const Placement& placement,
                                int64_t microbatches, double memory) {
  const ScheduleKind* kind = placement.kind;
  const int64_t all = stages * placement.parts;
  std::vector<StagePart> parts =
      parts_of(stages, all, kind != nullptr && kind->wants_return);
  for (StagePart& part : parts) {
    const int64_t bound =
        kind == nullptr
            ? 1
            : kind->bound({all, stages, part.stage, placement.parts});
    // The bound is for all parts of a rank together.
    part.open =
        std::min(microbatches,
                 placement.parts == 1 ? bound : bound / placement.parts + 1);
    part.memory = memory / static_cast<double>(placement.parts);
  }
  std::vector<int64_t> out;
  for (const size_t part : cut_into_parts(layers, parts)) {
    out.push_back(parts[part].stage);
  }
  return out;
}

}  // namespace gt::shard
