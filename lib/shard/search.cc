#include "shard/search.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>

#include "base/message.h"
#include "shard/cut_search.h"
#include "shard/partitioner.h"
#include "shard/plan_meshes.h"
#include "shard/plan_table.h"
#include "shard/stage_cuts.h"

namespace gt::shard {
namespace {

// How many meshes a descent improves behind the first ones, and how many are
// priced in order, each with its first kind of schedule and then the best ones
// with all.
constexpr size_t kDescents = 3, kInOrder = 32, kAllKinds = 4;
// How many lines all descents, and all prices in order, may take together. A
// line that a schedule puts in order takes as long as several.
constexpr size_t kDescentLines = 1'000'000, kOrderedLines = 1'500'000;
constexpr size_t kScheduledLine = 4;
// A form of the step, with all that is needed to price it.
struct Form {
  Form(const SearchForm& said, std::vector<TensorGroup> found,
       const Config& given)
      : name(said.name),
        lines(said.lines),
        step(said.lines),
        groups(std::move(found)),
        layers(layers_of(said.lines)),
        pricer(step, given.machine()),
        writer(given, groups, layers) {}
  Form(const Form&) = delete;

  const std::string& name;
  const std::vector<std::string>& lines;
  const StepForm step;
  const std::vector<TensorGroup> groups;
  const std::vector<LayerScopes> layers;
  StepPricer pricer;
  const PlanWriter writer;
};

// A form on a mesh.
struct Candidate {
  Form* form = nullptr;
  PlanMesh mesh;
  FoundCuts found;
  std::vector<LayerCost> costs;  // by layer, if there are stages
  StepPrice estimate;
  bool is_descended = false;
};

// A way of running a form that was priced in order.
struct Way {
  const Candidate* candidate = nullptr;
  PlanGuess guess;
  StepPrice price;
};

class Search {
 public:
  Search(const SearchJob& job, std::deque<Form>& forms)
      : job_(job), forms_(forms), order_{job.given.machine().memory} {}

  FoundConfig run() {
    find_candidates();
    descend_best();
    price_in_order();
    const Way& best =
        *std::ranges::min_element(ways_, [this](const Way& a, const Way& b) {
          return order_.is_better(a.price, b.price);
        });
    return {describe(best), plan_table(weighed(), order_)};
  }

 private:
  // ---- brief prices ---------------------------------------------------------

  // Finds cuts and an estimate for each form on each mesh. The first mesh, and
  // the first one with another axis, are improved by a descent, and what it
  // finds is tried on all meshes behind it.
  void find_candidates() {
    for (Form& form : forms_) {
      std::vector<PlanGuess> known;
      bool has_wide = false;
      for (PlanMesh& mesh : meshes_for(job_.given, job_.ranks, form.groups,
                                       form.layers.size())) {
        Candidate& made = candidates_.emplace_back();
        made.form = &form;
        made.mesh = std::move(mesh);
        CutSearch cuts(job_.given, form.groups, form.pricer, made.mesh);
        auto found = cuts.begin(known);
        GT_CHECK(found.has_value());
        made.found = std::move(*found);
        const bool is_wide = made.mesh.within.axes().back().size > 1;
        if (known.empty() || (is_wide && !has_wide)) {
          has_wide = is_wide;
          descend(made, cuts);
          known.push_back(made.found.guess);
        }
        estimate(made);
      }
    }
  }

  void descend(Candidate& candidate, CutSearch& cuts) {
    cuts.descend(candidate.found,
                 kDescentLines / (2 + kDescents) / forms_.size());
    candidate.is_descended = true;
  }

  void descend_best() {
    sort_candidates();
    for (size_t i = 0; i < std::min(kDescents, candidates_.size()); ++i) {
      Candidate& candidate = candidates_[i];
      if (candidate.is_descended) continue;
      CutSearch cuts(job_.given, candidate.form->groups, candidate.form->pricer,
                     candidate.mesh);
      descend(candidate, cuts);
      estimate(candidate);
    }
    sort_candidates();
  }

  void sort_candidates() {
    std::ranges::stable_sort(candidates_,
                             [this](const Candidate& a, const Candidate& b) {
                               return order_.is_better(a.estimate, b.estimate);
                             });
  }

  // Sets the estimate, from the brief price. Stages take turns: the slowest one
  // sets the pace for all microbatches but one, and that goes through all.
  void estimate(Candidate& made) const {
    made.estimate = made.found.price;
    const int64_t stages = made.mesh.stages;
    if (stages == 1) return;
    Form& form = *made.form;
    made.costs = form.pricer.layer_costs(
        form.writer.config(made.mesh.within, made.found.guess), form.layers);
    const auto parts = parts_of(stages, stages, false);
    const std::vector<size_t> part = cut_into_parts(made.costs, parts);
    std::vector<double> seconds(parts.size());
    double all = 0;
    for (size_t i = 0; i < part.size(); ++i) {
      seconds[part[i]] += made.costs[i].seconds;
      all += made.costs[i].seconds;
    }
    const auto count = static_cast<double>(form.step.microbatches());
    made.estimate.seconds =
        all / count + std::ranges::max(seconds) * (1 - 1 / count);
    made.estimate.bytes /= static_cast<double>(stages);
  }

  // ---- prices in order ------------------------------------------------------

  std::vector<Placement> placements(const Candidate& candidate) const {
    const Form& form = *candidate.form;
    const int64_t stages = candidate.mesh.stages;
    if (stages == 1 || !form.step.has_microbatches()) return {{}};
    return placements_for(job_.given, stages, form.layers.size());
  }

  // Prices a guess, if that takes no more than so many lines together with what
  // was priced before.
  void price(const Candidate& candidate, PlanGuess guess, size_t most_lines) {
    Form& form = *candidate.form;
    const bool is_scheduled = guess.kind != nullptr || job_.given.schedule();
    const size_t lines =
        ordered_lines_ +
        form.pricer.lines() * (is_scheduled ? kScheduledLine : 1);
    if (!ways_.empty() && lines > most_lines) return;
    ordered_lines_ = lines;
    const auto found = form.pricer.in_order(form.writer.config(
        candidate.mesh.mesh, guess, candidate.mesh.stage_axis));
    if (found) ways_.push_back({&candidate, std::move(guess), *found});
  }

  PlanGuess placed(const Candidate& candidate,
                   const Placement& placement) const {
    PlanGuess guess = candidate.found.guess;
    if (candidate.mesh.stages > 1) {
      const size_t microbatches = candidate.form->step.microbatches();
      guess.stages =
          stages_for(candidate.costs, candidate.mesh.stages, placement,
                     static_cast<int64_t>(microbatches), order_.memory);
    }
    guess.kind = placement.kind;
    return guess;
  }

  void price_in_order() {
    for (size_t i = 0; i < std::min(kInOrder, candidates_.size()); ++i) {
      const Candidate& candidate = candidates_[i];
      price(candidate, placed(candidate, placements(candidate).front()),
            kOrderedLines / 2);
    }
    if (ways_.empty()) {  // no stage is possible where the given mesh wants it
      price(candidates_.front(), candidates_.front().found.guess, 0);
    }
    GT_CHECK(!ways_.empty());
    for (const Way& way : best_ways()) {
      const Candidate& candidate = *way.candidate;
      if (cuts_weights(candidate)) {
        PlanGuess guess = way.guess;
        guess.regather = true;
        price(candidate, std::move(guess), kOrderedLines);
      }
      const std::vector<Placement> all = placements(candidate);
      for (size_t i = 1; i < all.size(); ++i) {
        price(candidate, placed(candidate, all[i]), kOrderedLines);
      }
    }
  }

  // Returns true if weights are gathered and kept, which may not be worth it.
  static bool cuts_weights(const Candidate& candidate) {
    const std::vector<TensorGroup>& groups = candidate.form->groups;
    if (candidate.found.guess.regather) return false;
    for (size_t g = 0; g < groups.size(); ++g) {
      const bool is_cut = !candidate.found.guess.cuts[g].empty();
      if (is_cut && groups[g].role == GroupRole::kWeight) return true;
    }
    return false;
  }

  // Returns the best ones of those that were priced, each of another mesh or
  // form.
  std::vector<Way> best_ways() const {
    std::vector<Way> ways = ways_;
    std::ranges::stable_sort(ways, [this](const Way& a, const Way& b) {
      return order_.is_better(a.price, b.price);
    });
    // Two meshes may come to the same.
    const auto same = std::ranges::unique(ways, [](const Way& a, const Way& b) {
      return a.price.seconds == b.price.seconds &&
             a.price.bytes == b.price.bytes;
    });
    ways.erase(same.begin(), same.end());
    ways.resize(std::min(kAllKinds, ways.size()));
    return ways;
  }

  // ---- the answer -----------------------------------------------------------

  std::vector<Weighed> weighed() const {
    std::vector<Weighed> out;
    std::vector<const Candidate*> priced;
    for (const Way& way : ways_) {
      priced.push_back(way.candidate);
      out.push_back({way.candidate->form->name,
                     way.candidate->mesh.mesh.describe(), order_text(way.guess),
                     way.price});
    }
    for (const Candidate& candidate : candidates_) {
      if (std::ranges::count(priced, &candidate) > 0) continue;
      out.push_back({candidate.form->name, candidate.mesh.mesh.describe(), "",
                     candidate.estimate, true});
    }
    return out;
  }

  static std::string order_text(const PlanGuess& guess) {
    std::string out =
        guess.kind == nullptr ? "" : std::string(guess.kind->name);
    if (guess.regather) out += out.empty() ? "regather" : ", regather";
    return out;
  }

  std::string describe(const Way& best) const {
    Form& form = *best.candidate->form;
    char line[160];
    std::snprintf(line, sizeof line,
                  "# Expected: %.4g ms, %.4g MB a rank; %.4g ms, %.4g MB on "
                  "one rank alone.\n",
                  best.price.seconds * 1e3, best.price.bytes / 1e6,
                  form.pricer.alone().seconds * 1e3,
                  form.pricer.alone().bytes / 1e6);
    std::string out = line;
    if (forms_.size() > 1) out += "# It is for " + form.name + ".\n";
    if (order_.excess(best.price) > 0) {
      out +=
          "# That is more memory than the machine has; nothing was found "
          "that fits.\n";
    }
    return out + yaml_in_use(best);
  }

  // Returns the config without entries that have no effect on the step.
  std::string yaml_in_use(const Way& best) const {
    const Form& form = *best.candidate->form;
    const PlanMesh& mesh = best.candidate->mesh;
    PlanGuess guess = best.guess;
    const Config taken = form.writer.config(mesh.mesh, guess, mesh.stage_axis);
    PlanCache plans;
    Partitioner partitioner(taken, nullptr, plans);
    std::string out;
    for (const std::string& line : form.lines) {
      GT_CHECK(partitioner.take(line, out).ok());  // as it was priced
    }
    partitioner.finish(out);
    PlanWriter::drop_unused(guess, partitioner.cuts_in_use());
    return form.writer.text(mesh.mesh, guess, mesh.stage_axis);
  }

  const SearchJob& job_;
  std::deque<Form>& forms_;
  const PriceOrder order_;
  std::vector<Candidate> candidates_;
  std::vector<Way> ways_;
  size_t ordered_lines_ = 0;
};

}  // namespace

Result<FoundConfig> search_config(const SearchJob& job,
                                  SearchCulprit& culprit) {
  std::deque<Form> forms;
  for (const SearchForm& form : job.forms) {
    culprit.form = forms.size();
    auto groups = tensor_groups(form.lines, culprit.line);
    if (!groups.ok()) return groups.error();
    forms.emplace_back(form, std::move(groups.value()), job.given);
  }
  return Search(job, forms).run();
}

}  // namespace gt::shard
