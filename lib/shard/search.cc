#include "shard/search.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/message.h"
#include "shard/partitioner.h"
#include "shard/tensor_groups.h"

namespace gt::shard {
namespace {

constexpr size_t kMaxSweeps = 3;
constexpr double kLeastBytes = 4096;  // smaller groups are not cut

// How a group may be cut: not at all, or one dimension over axes.
struct Choice {
  std::string axes;  // "dp+tp", outer axis first; "": not cut
  int32_t dim = 0;
  bool operator==(const Choice&) const = default;
};

struct Price {
  double seconds = 0;
  double bytes = 0;  // the most bytes that a rank holds
};

struct SearchMesh {
  Mesh mesh;
  size_t data = 0;  // the axis over which batches are cut at first
  const std::vector<MeshAxis>& axes() const { return mesh.axes(); }
};

struct Candidate {
  SearchMesh mesh;
  std::vector<Choice> chosen;  // by group
  Price price;
};

Mesh mesh_of(const std::vector<std::pair<const char*, int64_t>>& axes) {
  Mesh mesh;
  for (const auto& [name, size] : axes) GT_CHECK(mesh.add(name, size).ok());
  return mesh;
}

class Search {
 public:
  Search(const SearchJob& job, std::vector<TensorGroup> groups,
         std::optional<size_t>& culprit)
      : job_(job), groups_(std::move(groups)), culprit_(culprit) {}

  Result<std::string> run() const {
    PlanCache plans;
    const auto alone = price({mesh_of({{"dp", 1}}), 0}, {}, {}, plans);
    if (!alone.ok()) return alone.error();
    std::optional<Candidate> best;
    for (const SearchMesh& mesh : meshes()) {
      for (const MeshAxis& axis : beginnings(mesh)) {
        auto found = descend(mesh, batches_over(axis));
        if (!found.ok()) return found.error();
        if (!best || is_better(found.value().price, best->price)) {
          best = std::move(found.value());
        }
        if (excess(best->price) == 0) break;
      }
    }
    return describe(*best, *alone.value());
  }

 private:
  std::vector<SearchMesh> meshes() const {
    std::vector<SearchMesh> out;
    if (!job_.given.has_mesh()) {
      for (int64_t dp = job_.ranks; dp >= 1; --dp) {
        if (job_.ranks % dp != 0) continue;
        out.push_back({mesh_of({{"dp", dp}, {"tp", job_.ranks / dp}}), 0});
      }
      return out;
    }
    SearchMesh& mesh = out.emplace_back(SearchMesh{job_.given.mesh(), 0});
    const std::vector<MeshAxis>& axes = mesh.axes();
    for (size_t a = 0; a < axes.size(); ++a) {
      if (axes[a].name == "dp") mesh.data = a;
    }
    return out;
  }

  // Returns the axes over which batches may be cut at the beginning of a
  // search. If memory is short, a group may gain only after others are cut as
  // well, so a second search begins with batches cut over all axes.
  static std::vector<MeshAxis> beginnings(const SearchMesh& mesh) {
    std::vector<MeshAxis> out{mesh.axes()[mesh.data]};
    MeshAxis all = all_of(mesh);
    if (all.name != out[0].name) out.push_back(std::move(all));
    return out;
  }

  // Returns the bytes by which the price exceeds the machine's memory, or 0.
  double excess(const Price& price) const {
    const double memory = job_.given.machine().memory;
    return memory == 0 ? 0 : std::max(0.0, price.bytes - memory);
  }
  bool is_better(const Price& a, const Price& b) const {
    const double over = excess(a), before = excess(b);
    return over != before ? over < before : a.seconds < b.seconds * (1 - 1e-6);
  }

  // ---- prices ---------------------------------------------------------------

  Config config(const SearchMesh& mesh,
                const std::vector<Choice>& choices) const {
    ConfigFile file;
    file.is_own_form = file.has_mesh = true;
    file.is_empty = false;
    file.mesh = mesh.mesh;
    file.machine = job_.given.machine();
    file.regather = job_.given.regather();
    file.ring = job_.given.ring();
    file.overlap = job_.given.overlap();
    file.chunks = job_.given.chunks();
    file.sums = job_.given.sums();
    file.precision = job_.given.precision();
    for (size_t g = 0; g < choices.size(); ++g) {
      const Choice& choice = choices[g];
      if (choice.axes.empty()) continue;
      ConfigEntry& entry = file.tensors.emplace_back();
      entry.name = groups_[g].pattern;
      entry.scope.shard = CutSetting{{{choice.axes, choice.dim, 1}}};
    }
    return Config(std::move(file));
  }

  // Gives the partitioner the lines of the step, while go_on() is true.
  template <class GoOn>
  Status take_all(Partitioner& partitioner, const GoOn& go_on) const {
    std::string out;
    for (size_t i = 0; i < job_.lines.size() && go_on(); ++i) {
      out.clear();
      culprit_ = i;
      if (Status s = partitioner.take(job_.lines[i], out); !s.ok()) return s;
    }
    culprit_.reset();
    return ok_status();
  }

  static Price price_so_far(const Partitioner& partitioner) {
    return {partitioner.seconds(), partitioner.peak_bytes()};
  }

  // Returns the price of a guess, or nothing if it is not better than `least`.
  // Neither the seconds nor the peak become less with another line, so the
  // lines are taken only until that is sure.
  Result<std::optional<Price>> price(const SearchMesh& mesh,
                                     const std::vector<Choice>& choices,
                                     const std::optional<Price>& least,
                                     PlanCache& plans) const {
    const Config guess = config(mesh, choices);
    Partitioner partitioner(guess, nullptr, plans);
    const auto may_be_best = [&] {
      return !least || is_better(price_so_far(partitioner), *least);
    };
    if (Status s = take_all(partitioner, may_be_best); !s.ok()) {
      return s.error();
    }
    if (!may_be_best()) return std::optional<Price>{};
    return std::optional<Price>(price_so_far(partitioner));
  }

  // Returns the ways in which a group may be cut over one axis. Batches may be
  // cut over the data axis in their first dimension. If the mesh has no other
  // axis, it may also cut weights, and other dimensions.
  static std::vector<Choice> choices_of(const TensorGroup& group,
                                        const SearchMesh& mesh) {
    std::vector<Choice> out{{}};
    for (size_t a = 0; a < mesh.axes().size(); ++a) {
      const MeshAxis& axis = mesh.axes()[a];
      const bool is_data = a == mesh.data && mesh.axes().size() > 1;
      if (axis.size == 1) continue;
      if (a == mesh.data && !group.is_weight) out.push_back({axis.name, 0});
      if (is_data) continue;
      const bool has_first = a == mesh.data && !group.is_weight;
      add_cuts(group, axis, has_first ? 1 : 0, out);
    }
    return out;
  }

  // Returns the ways in which a group may be cut over several axes together.
  // They include cuts of weights over the data axis, which take less memory and
  // send more.
  static std::vector<Choice> wide_choices_of(const TensorGroup& group,
                                             const SearchMesh& mesh) {
    std::vector<MeshAxis> axes;
    for (const MeshAxis& axis : mesh.axes()) {
      if (axis.size > 1) axes.push_back(axis);
    }
    std::vector<Choice> out;
    if (axes.size() < 2) return out;
    if (group.is_weight && mesh.axes()[mesh.data].size > 1) {
      add_cuts(group, mesh.axes()[mesh.data], 0, out);
    }
    for (size_t a = 0; a + 1 < axes.size(); ++a) {
      for (size_t b = a + 1; b < axes.size(); ++b) {
        add_cuts(group, joined(axes[a], axes[b]), 0, out);
      }
    }
    if (axes.size() > 2) add_cuts(group, all_of(mesh), 0, out);
    return out;
  }

  // Returns one axis made of all axes with more than one rank.
  static MeshAxis all_of(const SearchMesh& mesh) {
    MeshAxis all;
    for (const MeshAxis& axis : mesh.axes()) {
      if (axis.size == 1) continue;
      all = all.size == 1 ? axis : joined(all, axis);
    }
    return all;
  }

  // Returns the choices with which a search begins: all groups but those of
  // weights are cut over the axis in their first dimension.
  std::vector<Choice> batches_over(const MeshAxis& axis) const {
    std::vector<Choice> chosen(groups_.size());
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (axis.size > 1 && !groups_[g].is_weight) chosen[g] = {axis.name, 0};
    }
    return chosen;
  }

  static MeshAxis joined(const MeshAxis& outer, const MeshAxis& inner) {
    return {{outer.size * inner.size, 1}, outer.name + "+" + inner.name};
  }

  static void add_cuts(const TensorGroup& group, const MeshAxis& axis,
                       size_t first, std::vector<Choice>& out) {
    const Shape& shape = group.type.shape;
    if (group.bytes < kLeastBytes) return;
    if (group.is_weight && shape.size() < 2) return;  // its readers decide
    for (size_t d = first; d < std::min<size_t>(shape.size(), 3); ++d) {
      if (shape[d] >= axis.size) {
        out.push_back({axis.name, static_cast<int32_t>(d)});
      }
    }
  }

  Result<Candidate> descend(const SearchMesh& mesh,
                            std::vector<Choice> chosen) const {
    PlanCache plans;
    const auto first = price(mesh, chosen, {}, plans);
    if (!first.ok()) return first.error();
    std::optional<Price> least = first.value();
    // Continues until each group has had a turn since the last gain.
    size_t idle = 0;
    for (size_t turn = 0; turn < kMaxSweeps * groups_.size(); ++turn) {
      if (idle++ == groups_.size()) break;
      const size_t g = turn % groups_.size();
      std::vector<Choice> choices = choices_of(groups_[g], mesh);
      for (Choice& wide : wide_choices_of(groups_[g], mesh)) {
        choices.push_back(std::move(wide));
      }
      for (const Choice& choice : choices) {
        if (choice == chosen[g]) continue;
        std::vector<Choice> guess = chosen;
        guess[g] = choice;
        const auto better = price(mesh, guess, least, plans);
        if (!better.ok()) return better.error();
        if (!better.value()) continue;
        least = better.value();
        chosen = std::move(guess);
        idle = 0;
      }
    }
    return Candidate{mesh, std::move(chosen), *least};
  }

  // ---- the answer -----------------------------------------------------------

  std::string describe(const Candidate& best, const Price& alone) const {
    char line[160];
    std::snprintf(line, sizeof line,
                  "# Expected: %.4g ms, %.4g MB a rank; %.4g ms, %.4g MB on "
                  "one rank alone.\n",
                  best.price.seconds * 1e3, best.price.bytes / 1e6,
                  alone.seconds * 1e3, alone.bytes / 1e6);
    std::string out = line;
    if (excess(best.price) > 0) {
      out +=
          "# That is more memory than the machine has; nothing was found "
          "that fits.\n";
    }
    return out + yaml(best.mesh, effective(best));
  }

  // Returns the YAML text of the config that config() makes.
  std::string yaml(const SearchMesh& mesh,
                   const std::vector<Choice>& choices) const {
    const int64_t chunks = job_.given.chunks();
    std::string out = "mesh: {";
    for (const MeshAxis& axis : mesh.axes()) {
      out += (out.back() == '{' ? "" : ", ") + axis.name + ": " +
             std::to_string(axis.size);
    }
    out += "}\n" + machine_yaml(job_.given.machine()) +
           (job_.given.regather() ? "regather: true\n" : "") +
           (job_.given.ring() ? "ring: true\n" : "") +
           (job_.given.overlap() ? "" : "overlap: false\n") +
           (chunks == 1 ? ""
            : chunks == kChunksByCost
                ? "chunks: auto\n"
                : "chunks: " + std::to_string(chunks) + "\n") +
           dtype_yaml("sums", job_.given.sums()) +
           dtype_yaml("precision", job_.given.precision()) + schedule_yaml();
    std::string tensors;
    for (size_t g = 0; g < choices.size(); ++g) {
      if (choices[g].axes.empty()) continue;
      tensors += "  \"" + groups_[g].pattern + "\": {shard: {" +
                 choices[g].axes + ": " + std::to_string(choices[g].dim) +
                 "}}\n";
    }
    return tensors.empty() ? out : out + "tensors:\n" + tensors;
  }

  static std::string dtype_yaml(const std::string& key, Dtype said) {
    if (said == Dtype::kF32) return "";
    return key + ": " + std::string(to_string(said)) + "\n";
  }

  std::string schedule_yaml() const {
    const std::optional<Schedule>& given = job_.given.schedule();
    if (!given) return "";
    return "schedule: {kind: " + std::string(given->kind->name) +
           (given->window == 0 ? ""
                               : ", window: " + std::to_string(given->window)) +
           "}\n";
  }

  // Returns the choices that cut some tensor. A choice may cut none, as for
  // zeros that are made in the layout that their reader wants. It costs
  // nothing, but gt-shard would refuse its entry as one without effect.
  std::vector<Choice> effective(const Candidate& best) const {
    std::vector<Choice> out = best.chosen;
    const Config taken = config(best.mesh, out);
    PlanCache plans;
    Partitioner partitioner(taken, nullptr, plans);
    // It was taken when it was priced.
    GT_CHECK(take_all(partitioner, [] { return true; }).ok());
    std::string rest;
    partitioner.finish(rest);
    size_t entry = 0;  // the number that config() gives a setting
    for (Choice& choice : out) {
      if (choice.axes.empty()) continue;
      if (!partitioner.cuts_in_use().contains({entry++, choice.axes})) {
        choice = {};
      }
    }
    return out;
  }

  const SearchJob& job_;
  const std::vector<TensorGroup> groups_;
  std::optional<size_t>& culprit_;  // the line that is being taken
};

}  // namespace

Result<std::string> search_config(const SearchJob& job,
                                  std::optional<size_t>& culprit) {
  auto groups = tensor_groups(job.lines, culprit);
  if (!groups.ok()) return groups.error();
  return Search(job, std::move(groups.value()), culprit).run();
}

}  // namespace gt::shard
