#include "shard/cut_search.h"

#include <algorithm>

#include "base/result.h"

namespace gt::shard {
namespace {

constexpr size_t kMaxSweeps = 3;
constexpr double kLeastBytes = 4096;  // smaller groups are not cut
constexpr size_t kMostDims = 3;       // only the first ones are cut

const std::vector<LayerScopes> kNoLayers;

MeshAxis joined(const MeshAxis& outer, const MeshAxis& inner) {
  return {{outer.size * inner.size, 1}, outer.name + "+" + inner.name};
}

MeshAxis all_of(const std::vector<MeshAxis>& axes) {
  MeshAxis all;
  for (const MeshAxis& axis : axes) {
    all = all.size == 1 ? axis : joined(all, axis);
  }
  return all;
}

}  // namespace

CutSearch::CutSearch(const Config& given,
                     const std::vector<TensorGroup>& groups, StepPricer& pricer,
                     const PlanMesh& mesh)
    : groups_(groups),
      pricer_(pricer),
      mesh_(mesh),
      order_{given.machine().memory * static_cast<double>(mesh.stages)},
      writer_(given, groups, kNoLayers),
      regathers_(given.regather()) {}

// ---- where a descent begins -------------------------------------------------

std::vector<MeshAxis> CutSearch::wide_axes() const {
  std::vector<MeshAxis> axes;
  for (const MeshAxis& axis : mesh_.within.axes()) {
    if (axis.size > 1) axes.push_back(axis);
  }
  return axes;
}

// Batches are cut over the axis in their first dimension, and so are moments if
// that is wanted.
PlanGuess CutSearch::batches_over(const MeshAxis& axis,
                                  bool with_moments) const {
  PlanGuess guess{std::vector<GroupCuts>(groups_.size()), regathers_, {}};
  for (size_t g = 0; g < groups_.size(); ++g) {
    const GroupRole role = groups_[g].role;
    const bool is_cut = role == GroupRole::kBatch || with_moments;
    if (axis.size > 1 && is_cut && role != GroupRole::kWeight &&
        role != GroupRole::kSource && groups_[g].type.shape[0] >= axis.size) {
      guess.cuts[g] = {{axis.name, 0}};
    }
  }
  return guess;
}

// Weights, too, each in the first dimension that is long enough.
PlanGuess CutSearch::all_over(const MeshAxis& axis) const {
  PlanGuess guess = batches_over(axis, true);
  guess.regather = true;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].role != GroupRole::kWeight || axis.size == 1) continue;
    Choices choices;
    add_cuts(groups_[g], axis, 0, choices);
    if (!choices.empty()) guess.cuts[g] = choices.front();
  }
  return guess;
}

// Returns what remains of a guess for another mesh with the same axes: cuts
// over axes of one rank are left out, and those of dimensions that are too
// short.
PlanGuess CutSearch::fitted(const PlanGuess& other) const {
  PlanGuess guess = other;
  for (size_t g = 0; g < groups_.size(); ++g) {
    GroupCuts cuts;
    for (const auto& [names, dim] : other.cuts[g]) {
      const auto axes = mesh_.within.resolve(names);
      if (!axes.ok()) continue;
      std::vector<MeshAxis> wide;
      for (const MeshAxis* axis : axes.value()) {
        if (axis->size > 1) wide.push_back(*axis);
      }
      const MeshAxis axis = all_of(wide);
      const Shape& shape = groups_[g].type.shape;
      const bool is_long = static_cast<size_t>(dim) < shape.size() &&
                           shape[static_cast<size_t>(dim)] >= axis.size;
      if (axis.size > 1 && is_long) cuts.emplace_back(axis.name, dim);
    }
    guess.cuts[g] = std::move(cuts);
  }
  return guess;
}

bool CutSearch::try_guess(const PlanGuess& guess,
                          std::optional<FoundCuts>& best) {
  const auto price =
      pricer_.brief(writer_.config(mesh_.within, guess), plans_,
                    [&](const StepPrice& so_far) {
                      return !best || order_.is_better(so_far, best->price);
                    });
  if (price) best = FoundCuts{guess, *price};
  return price.has_value();
}

std::optional<FoundCuts> CutSearch::begin(
    const std::vector<PlanGuess>& others) {
  std::optional<FoundCuts> best;
  for (const PlanGuess& other : others) try_guess(fitted(other), best);
  const MeshAxis& data = mesh_.within.axes()[mesh_.data];
  try_guess(batches_over(data, false), best);
  try_guess(batches_over(data, true), best);
  try_guess({std::vector<GroupCuts>(groups_.size()), regathers_, {}}, best);
  if (best && order_.excess(best->price) == 0) return best;
  const MeshAxis all = all_of(wide_axes());
  if (all.name != data.name) try_guess(batches_over(all, true), best);
  if (data.size > 1) try_guess(all_over(data), best);
  return best;
}

// ---- the descent ------------------------------------------------------------

void CutSearch::add_cuts(const TensorGroup& group, const MeshAxis& axis,
                         size_t first, Choices& out) const {
  const Shape& shape = group.type.shape;
  if (group.bytes < kLeastBytes && group.role != GroupRole::kBatch) return;
  if (group.role == GroupRole::kWeight && shape.size() < 2)
    return;  // readers decide
  for (size_t d = first; d < std::min(shape.size(), kMostDims); ++d) {
    if (shape[d] >= axis.size) {
      out.push_back({{axis.name, static_cast<int32_t>(d)}});
    }
  }
}

// Returns the ways in which a group may be cut. If the mesh has other axes,
// too, the data axis cuts the first dimension of batches alone, or weights,
// which takes less memory and sends more.
CutSearch::Choices CutSearch::choices_of(const TensorGroup& group) const {
  const std::vector<MeshAxis> wide = wide_axes();
  const MeshAxis& data = mesh_.within.axes()[mesh_.data];
  const bool is_weight = group.role == GroupRole::kWeight;
  Choices out{{}};
  for (const MeshAxis& axis : wide) {
    const bool is_data = axis.name == data.name;
    const bool is_long = group.type.shape[0] >= axis.size;
    if (is_data && !is_weight && is_long) out.push_back({{axis.name, 0}});
    if (is_data && wide.size() > 1 && !is_weight) continue;
    add_cuts(group, axis, is_data && !is_weight ? 1 : 0, out);
    if (group.role != GroupRole::kBatch || is_data || data.size == 1 ||
        group.type.shape[0] < data.size) {
      continue;
    }
    // Another axis cuts a batch within the parts of the data axis.
    Choices within;
    add_cuts(group, axis, 1, within);
    for (const GroupCuts& cuts : within) {
      out.push_back({{data.name, 0}, cuts.front()});
    }
  }
  for (size_t a = 0; a + 1 < wide.size(); ++a) {
    for (size_t b = a + 1; b < wide.size(); ++b) {
      add_cuts(group, joined(wide[a], wide[b]), 0, out);
    }
  }
  if (wide.size() > 2) add_cuts(group, all_of(wide), 0, out);
  return out;
}

// Returns the guesses that differ in how this group is cut, or its moments.
std::vector<PlanGuess> CutSearch::neighbours(const PlanGuess& guess,
                                             size_t group) const {
  const std::vector<size_t>& moments = groups_[group].moments;
  std::vector<PlanGuess> out;
  for (const GroupCuts& cuts : choices_of(groups_[group])) {
    PlanGuess& all = out.emplace_back(guess);
    for (const size_t m : moments) all.cuts[m] = cuts;
    if (!moments.empty()) out.push_back(all);
    out.back().cuts[group] = cuts;
  }
  std::erase_if(out, [&](const PlanGuess& g) { return g.cuts == guess.cuts; });
  return out;
}

void CutSearch::descend(FoundCuts& found, size_t most_lines) {
  const size_t end = pricer_.lines_taken() + most_lines;
  std::optional<FoundCuts> best = found;
  // Continues until each group has had a turn since the last gain.
  size_t idle = 0;
  for (size_t turn = 0; turn < kMaxSweeps * groups_.size(); ++turn) {
    if (idle++ == groups_.size()) break;
    const size_t g = turn % groups_.size();
    if (groups_[g].role == GroupRole::kMoment) continue;
    for (const PlanGuess& guess : neighbours(best->guess, g)) {
      if (pricer_.lines_taken() >= end) break;
      if (try_guess(guess, best)) idle = 0;
    }
  }
  found = *best;
}

}  // namespace gt::shard
