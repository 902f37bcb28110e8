// Chooses the memory block that each step of a recipe writes.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "exec/memory/pool.h"
#include "exec/recipe/draft.h"

namespace gt::exec {
namespace {

constexpr int32_t kForever = INT32_MAX;

class BlockPlan {
 public:
  BlockPlan(const Draft& draft, TypeIds& types, Recipe& recipe)
      : draft_(draft),
        types_(types),
        recipe_(recipe),
        last_use_(draft.roots.size(), -1),
        block_of_(draft.roots.size(), kNoValue) {}

  void run() {
    find_last_uses();
    for (size_t s = 0; s < draft_.steps.size(); ++s) plan_step(s);
    find_in_place();
  }

  int32_t value_of(int32_t root) const {
    if (root == kNoValue) return kNoValue;
    const Root& r = draft_.roots[at(root)];
    const auto arguments = static_cast<int32_t>(recipe_.arguments);
    switch (r.kind) {
      case Root::Kind::kArgument:
        return r.index;
      case Root::Kind::kProduced:
        return arguments + block_of_[at(root)];
      case Root::Kind::kConstant:
        break;
    }
    return arguments + static_cast<int32_t>(recipe_.blocks.size()) + r.index;
  }

 private:
  struct FirstWrite {
    size_t step;
    size_t out;
  };

  static size_t at(int32_t i) { return static_cast<size_t>(i); }

  void find_last_uses() {
    for (size_t s = 0; s < draft_.steps.size(); ++s) {
      const DraftStep& step = draft_.steps[s];
      for (const int32_t root : step.out) use(root, s);
      for (const int32_t root : step.in) use(root, s);
    }
    for (const int32_t root : draft_.results) last_use_[at(root)] = kForever;
  }
  void use(int32_t root, size_t step) {
    if (root != kNoValue) last_use_[at(root)] = static_cast<int32_t>(step);
  }

  bool dies_at(int32_t root, size_t step) const {
    return root != kNoValue &&
           draft_.roots[at(root)].kind == Root::Kind::kProduced &&
           last_use_[at(root)] == static_cast<int32_t>(step);
  }

  // The operands of a step by their root, since a line may have thousands.
  class Operands {
   public:
    explicit Operands(const DraftStep& step) : step_(step) {
      for (size_t k = 0; k < step.in.size(); ++k) {
        places_.emplace(step.in[k], k);
      }
    }
    // Whether the kernel may write result `out` over every operand that is
    // `root`.
    bool may_overwrite(int32_t root, size_t out) const {
      const auto [begin, end] = places_.equal_range(root);
      return std::all_of(begin, end, [&](const auto& place) {
        return step_.kernel->in_place(place.second, out);
      });
    }

   private:
    const DraftStep& step_;
    std::unordered_multimap<int32_t, size_t> places_;
  };

  void plan_step(size_t s) {
    const DraftStep& step = draft_.steps[s];
    const Operands operands(step);
    std::unordered_set<int32_t> taken;  // blocks of the results so far
    std::unordered_set<int32_t> kept;   // of these, those that are read later
    for (size_t out = 0; out < step.out.size(); ++out) {
      const int32_t block = choose(s, operands, out, taken);
      block_of_[at(step.out[out])] = block;
      taken.insert(block);
      if (!dies_at(step.out[out], s)) kept.insert(block);
    }
    for (const auto* roots : {&step.in, &step.out}) {
      for (const int32_t root : *roots) {
        if (!dies_at(root, s)) continue;
        // A block that was taken in place is in use.
        const int32_t block = block_of_[at(root)];
        if (kept.count(block) == 0) free_block(block);
      }
    }
  }

  void free_block(int32_t block) {
    if (is_free_[at(block)]) return;
    is_free_[at(block)] = true;
    free_.push_back(block);
  }

  int32_t choose(size_t s, const Operands& operands, size_t out,
                 const std::unordered_set<int32_t>& taken) {
    const DraftStep& step = draft_.steps[s];
    const TypeId type = types_.id(draft_.roots[at(step.out[out])].type);
    const uint32_t size_class = size_class_of(types_[type].bytes());
    for (const int32_t root : step.in) {
      if (!dies_at(root, s)) continue;
      const int32_t block = block_of_[at(root)];
      if (has_class(block, size_class) && taken.count(block) == 0 &&
          operands.may_overwrite(root, out)) {
        return block;
      }
    }
    for (size_t i = 0; i < free_.size(); ++i) {
      const int32_t block = free_[i];
      if (!has_class(block, size_class)) continue;
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
      is_free_[at(block)] = false;
      return block;
    }
    recipe_.blocks.push_back({size_class, type, {}});
    is_free_.push_back(false);
    first_write_.push_back({s, out});
    return static_cast<int32_t>(recipe_.blocks.size()) - 1;
  }

  bool has_class(int32_t block, uint32_t size_class) const {
    return recipe_.blocks[at(block)].size_class == size_class;
  }

  // Blocks are in the order of the steps that write them first, so each step's
  // operands are looked up once.
  void find_in_place() {
    std::optional<Operands> operands;
    for (size_t b = 0; b < recipe_.blocks.size(); ++b) {
      const size_t step = first_write_[b].step;
      if (b == 0 || step != first_write_[b - 1].step) {
        operands.emplace(draft_.steps[step]);
      }
      find_in_place(b, *operands);
    }
  }

  void find_in_place(size_t b, const Operands& operands) {
    const FirstWrite first = first_write_[b];
    for (size_t i = 0; i < draft_.roots.size(); ++i) {
      const Root& root = draft_.roots[i];
      if (root.kind != Root::Kind::kArgument || root.is_number()) continue;
      if (last_use_[i] > static_cast<int32_t>(first.step)) continue;
      if (size_class_of(root.type.bytes()) != recipe_.blocks[b].size_class) {
        continue;
      }
      if (operands.may_overwrite(static_cast<int32_t>(i), first.out)) {
        recipe_.blocks[b].in_place.push_back(root.index);
      }
    }
  }

  const Draft& draft_;
  TypeIds& types_;
  Recipe& recipe_;
  std::vector<int32_t> last_use_;        // step, by root
  std::vector<int32_t> block_of_;        // by root
  std::vector<int32_t> free_;            // blocks
  std::vector<bool> is_free_;            // by block
  std::vector<FirstWrite> first_write_;  // by block
};

bool is_simple(const Recipe& recipe) {
  if (recipe.steps.size() != 1) return false;
  const RecipeStep& step = recipe.steps[0];
  if (step.in.size() != recipe.arguments ||
      step.out.size() != recipe.blocks.size()) {
    return false;
  }
  for (size_t i = 0; i < step.in.size(); ++i) {
    if (step.in[i] != kNoValue && step.in[i] != static_cast<int32_t>(i)) {
      return false;
    }
  }
  for (size_t i = 0; i < step.out.size(); ++i) {
    if (step.out[i] != static_cast<int32_t>(recipe.arguments + i)) return false;
  }
  return true;
}

}  // namespace

void plan_blocks(Draft draft, TypeIds& types, Recipe& recipe) {
  BlockPlan plan(draft, types, recipe);
  plan.run();
  for (size_t r = 0; r < draft.results.size(); ++r) {
    recipe.results[r].value = plan.value_of(draft.results[r]);
  }
  for (const Root& root : draft.roots) {
    if (root.kind == Root::Kind::kArgument && root.is_number()) {
      recipe.numbers.push_back(static_cast<uint32_t>(root.index));
    }
  }
  recipe.may_be_recorded = true;
  for (DraftStep& step : draft.steps) {
    for (int32_t& value : step.in) value = plan.value_of(value);
    for (int32_t& value : step.out) value = plan.value_of(value);
    recipe.may_be_recorded &= step.kernel->may_be_recorded();
    recipe.steps.push_back(
        {std::move(step.kernel), std::move(step.in), std::move(step.out)});
  }
  recipe.is_simple = is_simple(recipe);
  if (recipe.is_simple) {
    recipe.fusible_elements = recipe.steps[0].kernel->fusible_elements();
  }
}

}  // namespace gt::exec
