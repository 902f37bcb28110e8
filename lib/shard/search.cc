#include "shard/search.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <set>

#include "ops/families.h"
#include "ops/table.h"
#include "shard/partitioner.h"
#include "stream/line.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

constexpr size_t kMaxGroups = 24;  // the largest; others follow their readers
constexpr size_t kMaxSweeps = 3;
constexpr double kLeastBytes = 4096;  // below, a cut is not worth a line

// Tensors that are cut alike: "h.*.w" of h.0.w and h.1.w.
struct Group {
  std::string pattern;
  std::set<std::string> names;
  Type type;
  double bytes = 0;
  bool is_weight = false;  // a grad asks for its gradient
};

// What a group may be: no cut, or a dimension over axes.
struct Choice {
  std::string axes;  // "dp+tp", the outer one first; "": not cut
  int32_t dim = 0;
  bool operator==(const Choice&) const = default;
};

struct Price {
  double seconds = 0;
  double bytes = 0;  // that a rank holds at most
};

struct SearchMesh {
  std::vector<MeshAxis> axes;  // or several that count as one
  size_t data = 0;             // the axis over which batches are cut at first
};

std::string figure(const char* key, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%s: %.15g", key, value);
  return text;
}

// As a config says it; "" of the machine that is taken where nothing is said.
std::string machine_text(const Machine& machine) {
  const Machine usual;
  std::string out;
  const auto add = [&](const char* key, double value, double by_default) {
    if (value != by_default)
      out += (out.empty() ? "" : ", ") + figure(key, value);
  };
  add("flops", machine.flops, usual.flops);
  add("memory_bandwidth", machine.memory_bandwidth, usual.memory_bandwidth);
  add("bandwidth", machine.bandwidth, usual.bandwidth);
  add("latency", machine.latency, usual.latency);
  add("memory", machine.memory, usual.memory);
  return out.empty() ? "" : "machine: {" + out + "}\n";
}

std::string pattern_of(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) {
      out += c;
    } else if (out.empty() || out.back() != '*') {
      out += '*';
    }
  }
  return out;
}

class Search {
 public:
  explicit Search(const SearchJob& job) : job_(job) {}

  Result<std::string> run() {
    if (Status s = read(); !s.ok()) return s.error();
    PlanCache plans;
    const auto alone = price("mesh: {dp: 1}\n" + settings(), plans);
    if (!alone.ok()) return alone.error();
    std::string best;
    Price least;
    for (const SearchMesh& mesh : meshes()) {
      // Where memory binds, a group may gain only once others are cut as well.
      std::vector<MeshAxis> beginnings{mesh.axes[mesh.data]};
      if (all_of(mesh).name != beginnings[0].name) {
        beginnings.push_back(all_of(mesh));
      }
      for (const MeshAxis& axis : beginnings) {
        const auto found = descend(mesh, batches_over(axis));
        if (!found.ok()) return found.error();
        if (best.empty() || is_better(found.value().second, least)) {
          best = found.value().first;
          least = found.value().second;
        }
        if (excess(least) == 0) break;
      }
    }
    if (excess(least) > 0) {
      best =
          "# That is more memory than the machine has; nothing was found "
          "that fits.\n" +
          best;
    }
    char line[160];
    std::snprintf(line, sizeof line,
                  "# Expected: %.4g ms, %.4g MB a rank; %.4g ms, %.4g MB on "
                  "one rank alone.\n",
                  least.seconds * 1e3, least.bytes / 1e6,
                  alone.value().seconds * 1e3, alone.value().bytes / 1e6);
    return line + best;
  }

 private:
  std::vector<SearchMesh> meshes() const {
    std::vector<SearchMesh> out;
    if (!job_.given.has_mesh()) {
      for (int64_t dp = job_.ranks; dp >= 1; --dp) {
        if (job_.ranks % dp != 0) continue;
        const int64_t tp = job_.ranks / dp;
        out.push_back({{{{dp, 1}, "dp"}, {{tp, 1}, "tp"}}, 0});
      }
      return out;
    }
    SearchMesh& mesh = out.emplace_back();
    mesh.axes = job_.given.mesh().axes();
    for (size_t a = 0; a < mesh.axes.size(); ++a) {
      if (mesh.axes[a].name == "dp") mesh.data = a;
    }
    return out;
  }

  // What is given and is no choice.
  std::string settings() const {
    return machine_text(job_.given.machine()) +
           (job_.given.regather() ? "regather: true\n" : "");
  }

  // Bytes beyond the machine's memory.
  double excess(const Price& price) const {
    const double memory = job_.given.machine().memory;
    return memory == 0 ? 0 : std::max(0.0, price.bytes - memory);
  }
  bool is_better(const Price& a, const Price& b) const {
    const double over = excess(a), before = excess(b);
    return over != before ? over < before : a.seconds < b.seconds * (1 - 1e-6);
  }

  // ---- the program ----------------------------------------------------------

  Status read() {
    std::map<std::string, Group> made;
    std::set<std::string> weights;
    bool is_empty = true;
    Line line;
    for (const std::string& text : job_.lines) {
      if (Status s = parse_line(text, line); !s.ok()) return s;
      is_empty &= line.kind != Line::Kind::kInstruction;
      if (line.kind == Line::Kind::kInstruction && is_placed(line)) {
        return Error{
            "the stream is placed already, and --plan finds how to place one; "
            "give it the stream that gt-shard read"};
      }
      for (const Note& note : line.notes) {
        if (note.key == "grad") weights.insert(unquote(note.value));
      }
      const Op* op = find_op(line.op);
      const bool creates = op != nullptr && op->family == &kCreation;
      const bool takes = op != nullptr && op->row->lineage == Lineage::kPart;
      if (line.results.size() != 1 || !(creates || takes)) continue;
      const std::string name(line.results[0].text);
      for (const Operand& o : line.operands) {
        if (o.kind != Operand::Kind::kType) continue;
        const auto type = parse_type(o.text);
        if (type.ok()) add(made, name, type.value());
      }
      if (takes && line.note("bwd") == nullptr &&
          is_made(made, line.operands[0].text)) {
        add(made, name, made.at(pattern_of(line.operands[0].text)).type);
      }
    }
    if (is_empty) {
      return Error{
          "the stream has no line to plan for; give it one whole step"};
    }
    for (auto& [pattern, group] : made) {
      group.is_weight =
          std::any_of(group.names.begin(), group.names.end(),
                      [&](const std::string& n) { return weights.count(n); });
      if (!group.type.shape.empty() && is_unambiguous(group, made)) {
        groups_.push_back(group);
      }
    }
    std::sort(groups_.begin(), groups_.end(),
              [](const Group& a, const Group& b) { return a.bytes > b.bytes; });
    if (groups_.size() > kMaxGroups) groups_.resize(kMaxGroups);
    return ok_status();
  }

  static void add(std::map<std::string, Group>& made, const std::string& name,
                  const Type& type) {
    Group& group = made[pattern_of(name)];
    if (group.names.empty()) group.type = type;
    if (!group.names.insert(name).second) return;
    group.bytes += static_cast<double>(type.bytes());
    group.pattern = group.names.size() == 1 ? name : pattern_of(name);
  }

  static bool is_made(const std::map<std::string, Group>& made,
                      std::string_view name) {
    const auto it = made.find(pattern_of(name));
    return it != made.end() && it->second.names.count(std::string(name)) > 0;
  }

  // Its pattern means nobody else.
  static bool is_unambiguous(const Group& group,
                             const std::map<std::string, Group>& made) {
    for (const auto& [pattern, other] : made) {
      for (const std::string& name : other.names) {
        const bool ours = group.names.count(name) > 0;
        if (!ours && glob_matches(group.pattern, name)) return false;
      }
    }
    return true;
  }

  // ---- prices ---------------------------------------------------------------

  std::string config(const SearchMesh& mesh,
                     const std::vector<Choice>& choices) const {
    std::string out = "mesh: {";
    for (const MeshAxis& axis : mesh.axes) {
      out += (out.back() == '{' ? "" : ", ") + axis.name + ": " +
             std::to_string(axis.size);
    }
    out += "}\n" + settings();
    std::string tensors;
    for (size_t g = 0; g < choices.size(); ++g) {
      if (choices[g].axes.empty()) continue;
      tensors += "  \"" + groups_[g].pattern + "\": {shard: {" +
                 choices[g].axes + ": " + std::to_string(choices[g].dim) +
                 "}}\n";
    }
    return tensors.empty() ? out : out + "tensors:\n" + tensors;
  }

  Status take_all(Partitioner& partitioner) const {
    std::string out;
    for (const std::string& line : job_.lines) {
      out.clear();
      if (Status s = partitioner.take(line, out); !s.ok()) return s;
    }
    return ok_status();
  }

  Result<Price> price(const std::string& text, PlanCache& plans) const {
    const auto config = Config::parse(text, "plan", 0);
    if (!config.ok()) return config.error();
    Partitioner partitioner(config.value(), nullptr, &plans);
    if (Status s = take_all(partitioner); !s.ok()) return s.error();
    return Price{partitioner.costs().seconds, partitioner.costs().peak_bytes};
  }

  // Batches go over the data axis by their first dimension; a mesh of that
  // alone cuts weights, too.
  static std::vector<Choice> choices_of(const Group& group,
                                        const SearchMesh& mesh) {
    std::vector<Choice> out{{}};
    for (size_t a = 0; a < mesh.axes.size(); ++a) {
      const MeshAxis& axis = mesh.axes[a];
      const bool is_data = a == mesh.data && mesh.axes.size() > 1;
      if (axis.size == 1) continue;
      if (a == mesh.data && !group.is_weight) out.push_back({axis.name, 0});
      if (is_data) continue;
      const bool has_first = a == mesh.data && !group.is_weight;
      add_cuts(group, axis, has_first ? 1 : 0, out);
    }
    return out;
  }

  // Over several axes together, and weights over the data axis, which hold
  // less and send more.
  static std::vector<Choice> wide_choices_of(const Group& group,
                                             const SearchMesh& mesh) {
    std::vector<MeshAxis> axes;
    for (const MeshAxis& axis : mesh.axes) {
      if (axis.size > 1) axes.push_back(axis);
    }
    std::vector<Choice> out;
    if (axes.size() < 2) return out;
    if (group.is_weight && mesh.axes[mesh.data].size > 1) {
      add_cuts(group, mesh.axes[mesh.data], 0, out);
    }
    for (size_t a = 0; a + 1 < axes.size(); ++a) {
      for (size_t b = a + 1; b < axes.size(); ++b) {
        add_cuts(group, joined(axes[a], axes[b]), 0, out);
      }
    }
    if (axes.size() > 2) add_cuts(group, all_of(mesh), 0, out);
    return out;
  }

  // Those of more than one rank.
  static MeshAxis all_of(const SearchMesh& mesh) {
    MeshAxis all;
    for (const MeshAxis& axis : mesh.axes) {
      if (axis.size == 1) continue;
      all = all.size == 1 ? axis : joined(all, axis);
    }
    return all;
  }

  // Where a search begins: what is no weight is cut by its rows.
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

  static void add_cuts(const Group& group, const MeshAxis& axis, size_t first,
                       std::vector<Choice>& out) {
    const Shape& shape = group.type.shape;
    if (group.bytes < kLeastBytes) return;
    if (group.is_weight && shape.size() < 2) return;  // follows its readers
    for (size_t d = first; d < std::min<size_t>(shape.size(), 3); ++d) {
      if (shape[d] >= axis.size) {
        out.push_back({axis.name, static_cast<int32_t>(d)});
      }
    }
  }

  Result<std::pair<std::string, Price>> descend(
      const SearchMesh& mesh, std::vector<Choice> chosen) const {
    PlanCache plans;
    auto least = price(config(mesh, chosen), plans);
    if (!least.ok()) return least.error();
    // Until no group has gained since its turn before.
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
        const auto cost = price(config(mesh, guess), plans);
        if (!cost.ok()) return cost.error();
        if (!is_better(cost.value(), least.value())) continue;
        least = cost;
        chosen = std::move(guess);
        idle = 0;
      }
    }
    return std::pair{config(mesh, effective(mesh, chosen, plans)),
                     least.value()};
  }

  // Those that cut a tensor. A choice that none of its lines can take, as of
  // zeros that are written as their reader has them, costs nothing to make, but
  // gt-shard refuses an entry without effect.
  std::vector<Choice> effective(const SearchMesh& mesh,
                                std::vector<Choice> chosen,
                                PlanCache& plans) const {
    const auto parsed = Config::parse(config(mesh, chosen), "plan", 0);
    if (!parsed.ok()) return chosen;
    Partitioner partitioner(parsed.value(), nullptr, &plans);
    if (!take_all(partitioner).ok()) return chosen;
    std::string rest;
    partitioner.finish(rest);
    size_t entry = 0;  // as config() numbers them
    for (Choice& choice : chosen) {
      if (choice.axes.empty()) continue;
      if (!partitioner.cuts_in_use().contains({entry++, choice.axes})) {
        choice = {};
      }
    }
    return chosen;
  }

  const SearchJob& job_;
  std::vector<Group> groups_;
};

}  // namespace

Result<std::string> search_config(const SearchJob& job) {
  return Search(job).run();
}

}  // namespace gt::shard
