// Searches for the best cuts of the tensors of a step on a mesh, by coordinate
// descent: it takes the groups of tensors (tensor_groups.h) in turn, and keeps
// each cut that improves the price (step_price.h), until no group brings an
// improvement. The moments of an optimizer are cut together, as their weight is
// or by themselves, since one alone gains nothing.
#pragma once

#include <optional>
#include <vector>

#include "shard/plan_meshes.h"
#include "shard/plan_text.h"
#include "shard/step_price.h"

namespace gt::shard {

// Of two prices the one that exceeds the memory by less is better; if neither
// exceeds it by less, the faster one.
struct PriceOrder {
  double memory = 0;  // bytes; 0: no limit

  double excess(const StepPrice& price) const {
    return memory == 0 ? 0 : std::max(0.0, price.bytes - memory);
  }
  bool is_better(const StepPrice& a, const StepPrice& b) const {
    const double over = excess(a), before = excess(b);
    return over != before ? over < before : a.seconds < b.seconds * (1 - 1e-6);
  }
};

struct FoundCuts {
  PlanGuess guess;
  StepPrice price;  // the brief one, of all layers on the ranks of a stage
};

class CutSearch {
 public:
  CutSearch(const Config& given, const std::vector<TensorGroup>& groups,
            StepPricer& pricer, const PlanMesh& mesh);

  // Returns the best of the guesses with which a descent begins. These are the
  // batches cut over the data axis, with and without the moments of optimizers;
  // or no cuts; or if that does not fit into memory, batches cut over all axes;
  // or weights cut over the data axis, too, and gathered for each use. And what
  // was found for other meshes, as far as it suits this one.
  std::optional<FoundCuts> begin(const std::vector<PlanGuess>& others);
  // Improves the guess until nothing is gained any more, or until `most_lines`
  // lines were taken for prices.
  void descend(FoundCuts& found, size_t most_lines);

 private:
  using Choices = std::vector<GroupCuts>;

  std::vector<MeshAxis> wide_axes() const;
  PlanGuess batches_over(const MeshAxis& axis, bool with_moments) const;
  PlanGuess all_over(const MeshAxis& axis) const;
  PlanGuess fitted(const PlanGuess& other) const;
  bool try_guess(const PlanGuess& guess, std::optional<FoundCuts>& best);
  Choices choices_of(const TensorGroup& group) const;
  std::vector<PlanGuess> neighbours(const PlanGuess& guess, size_t group) const;
  void add_cuts(const TensorGroup& group, const MeshAxis& axis, size_t first,
                Choices& out) const;

  const std::vector<TensorGroup>& groups_;
  StepPricer& pricer_;
  const PlanMesh& mesh_;
  const PriceOrder order_;
  const PlanWriter writer_;
  const bool regathers_;  // as the given config says
  PlanCache plans_;
};

}  // namespace gt::shard
