#include "shard/search.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <set>

#include "ops/families.h"
#include "ops/table.h"
#include "shard/partitioner.h"
#include "spmd/config.h"
#include "stream/line.h"

namespace gt {
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

// What a group may be: no cut, or a dimension over an axis.
struct Choice {
  std::string axis;  // "": not cut
  int32_t dim = 0;
};

struct Price {
  double seconds = 0;
  double bytes = 0;
};

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
    const auto alone = price("", plans);
    if (!alone.ok()) return alone.error();
    std::string best;
    Price least;
    for (int64_t dp = job_.ranks; dp >= 1; --dp) {
      if (job_.ranks % dp != 0) continue;
      const auto found = descend(dp, job_.ranks / dp);
      if (!found.ok()) return found.error();
      if (!best.empty() && found.value().second.seconds >= least.seconds) {
        continue;
      }
      best = found.value().first;
      least = found.value().second;
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
  // ---- the program ----------------------------------------------------------

  Status read() {
    std::map<std::string, Group> made;
    std::set<std::string> weights;
    Line line;
    for (const std::string& text : job_.lines) {
      if (Status s = parse_line(text, line); !s.ok()) return s;
      for (const Note& note : line.notes) {
        if (note.key == "grad") weights.insert(unquote(note.value));
      }
      const Op* op = find_op(line.op);
      const bool creates = op != nullptr && op->family == &kCreation;
      const bool takes = line.op == "slice" || line.op == "gather";
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

  std::string config(int64_t dp, int64_t tp,
                     const std::vector<Choice>& choices) const {
    std::string out = "mesh: {dp: " + std::to_string(dp) +
                      ", tp: " + std::to_string(tp) + "}\n";
    std::string tensors;
    for (size_t g = 0; g < choices.size(); ++g) {
      if (choices[g].axis.empty()) continue;
      tensors += "  \"" + groups_[g].pattern + "\": {shard: {" +
                 choices[g].axis + ": " + std::to_string(choices[g].dim) +
                 "}}\n";
    }
    return tensors.empty() ? out : out + "tensors:\n" + tensors;
  }

  Result<Price> price(const std::string& text, PlanCache& plans) const {
    const auto config =
        Config::parse(text.empty() ? "mesh: {dp: 1}\n" : text, "plan", 0);
    if (!config.ok()) return config.error();
    Partitioner partitioner(config.value(), nullptr, &plans);
    std::string out;
    for (const std::string& line : job_.lines) {
      out.clear();
      if (Status s = partitioner.take(line, out); !s.ok()) return s.error();
    }
    return Price{partitioner.costs().seconds, partitioner.costs().peak_bytes};
  }

  std::vector<Choice> choices_of(const Group& group, int64_t dp,
                                 int64_t tp) const {
    std::vector<Choice> out{{}};
    const size_t rank = group.type.shape.size();
    if (dp > 1 && !group.is_weight) out.push_back({"dp", 0});
    if (group.bytes < kLeastBytes) return out;
    for (size_t d = 0; tp > 1 && d < std::min<size_t>(rank, 3); ++d) {
      if (group.is_weight && rank < 2) break;  // follows what reads it
      if (group.type.shape[d] >= tp) {
        out.push_back({"tp", static_cast<int32_t>(d)});
      }
    }
    return out;
  }

  Result<std::pair<std::string, Price>> descend(int64_t dp, int64_t tp) const {
    std::vector<Choice> chosen(groups_.size());
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (dp > 1 && !groups_[g].is_weight) chosen[g] = {"dp", 0};
    }
    PlanCache plans;
    auto least = price(config(dp, tp, chosen), plans);
    if (!least.ok()) return least.error();
    for (size_t sweep = 0; sweep < kMaxSweeps; ++sweep) {
      bool gained = false;
      for (size_t g = 0; g < groups_.size(); ++g) {
        for (const Choice& choice : choices_of(groups_[g], dp, tp)) {
          std::vector<Choice> guess = chosen;
          guess[g] = choice;
          const auto cost = price(config(dp, tp, guess), plans);
          if (!cost.ok()) return cost.error();
          if (cost.value().seconds >= least.value().seconds * (1 - 1e-6)) {
            continue;
          }
          least = cost;
          chosen = guess;
          gained = true;
        }
      }
      if (!gained) break;
    }
    return std::pair{config(dp, tp, chosen), least.value()};
  }

  const SearchJob& job_;
  std::vector<Group> groups_;
};

}  // namespace

Result<std::string> search_config(const SearchJob& job) {
  return Search(job).run();
}

}  // namespace gt
