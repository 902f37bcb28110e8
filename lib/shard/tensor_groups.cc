#include "shard/tensor_groups.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "ops/families.h"
#include "ops/table.h"
#include "shard/partitioner.h"
#include "stream/line.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

// This many groups are taken. The layouts of the others are left to their
// readers.
constexpr size_t kMaxGroups = 64;

using GroupsByPattern = std::map<std::string, TensorGroup>;

// Returns the same for a name and for the pattern that it belongs to.
std::string pattern_of(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool digit =
        c == '*' || std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) {
      out += c;
    } else if (out.empty() || out.back() != '*') {
      out += '*';
    }
  }
  return out;
}

bool has_any(const std::set<std::string>& names, const TensorGroup& group) {
  return std::ranges::any_of(
      group.names, [&](const std::string& n) { return names.contains(n); });
}

// Returns true if the group's pattern matches no name of another group.
bool is_unambiguous(const TensorGroup& group, const GroupsByPattern& made) {
  for (const auto& [pattern, other] : made) {
    for (const std::string& name : other.names) {
      const bool ours = group.names.contains(name);
      if (!ours && glob_matches(group.pattern, name)) return false;
    }
  }
  return true;
}

// Follows the lines of a step. Data is what is computed of created tensors
// alone, without weights, in front of the first gradient.
class GroupFinder {
 public:
  explicit GroupFinder(std::set<std::string> weights)
      : weights_(std::move(weights)) {}

  // Takes the next line. type_of() returns the type of what a name holds behind
  // the line, or null.
  template <typename TypeOf>
  void take(const Line& line, const TypeOf& type_of) {
    const Op* op = find_op(line.op);
    if (op == nullptr) return;
    is_forward_ = is_forward_ && line.note("bwd") == nullptr;
    const bool is_created = op->family == &kCreation;
    if (is_created && line.results.size() == 1) {
      const std::string name(line.results[0].text);
      if (const Type* type = type_of(name)) add_created(name, *type);
    }
    if (is_forward_) follow(line, is_created, type_of);
    if (!is_forward_ && line.results.size() > 1) note_moments(line);
  }

  // Returns the groups that matter most.
  std::vector<TensorGroup> groups() {
    std::vector<TensorGroup> out = all_groups();
    // A batch is often smaller than any weight, and how it is cut decides most.
    std::ranges::stable_sort(
        out, [](const TensorGroup& a, const TensorGroup& b) {
          const bool is_batch = a.role == GroupRole::kBatch;
          return is_batch != (b.role == GroupRole::kBatch) ? is_batch
                                                           : a.bytes > b.bytes;
        });
    if (out.size() > kMaxGroups) out.resize(kMaxGroups);
    join_moments(out);
    return out;
  }

 private:
  std::vector<TensorGroup> all_groups() {
    std::vector<TensorGroup> out;
    for (auto& [pattern, group] : made_) {
      group.role = has_any(weights_, group)   ? GroupRole::kWeight
                   : has_any(fed_, group)     ? GroupRole::kBatch
                   : has_any(sources_, group) ? GroupRole::kSource
                                              : GroupRole::kOther;
      if (!group.type.shape.empty() && is_unambiguous(group, made_)) {
        out.push_back(group);
      }
    }
    for (auto& [name, group] : computed_) {
      if (!group.type.shape.empty()) out.push_back(std::move(group));
    }
    return out;
  }

  // The line updates a weight, and moments with it.
  void note_moments(const Line& line) {
    const std::string weight(line.results[0].text);
    if (!weights_.contains(weight)) return;
    for (size_t r = 1; r < line.results.size(); ++r) {
      moments_[pattern_of(weight)].insert(pattern_of(line.results[r].text));
    }
  }

  void join_moments(std::vector<TensorGroup>& groups) const {
    for (TensorGroup& weight : groups) {
      const auto found = moments_.find(pattern_of(weight.pattern));
      if (weight.role != GroupRole::kWeight || found == moments_.end()) {
        continue;
      }
      for (size_t g = 0; g < groups.size(); ++g) {
        if (groups[g].role != GroupRole::kOther ||
            !found->second.contains(pattern_of(groups[g].pattern))) {
          continue;
        }
        groups[g].role = GroupRole::kMoment;
        weight.moments.push_back(g);
      }
    }
  }

  void add_created(const std::string& name, const Type& type) {
    TensorGroup& group = made_[pattern_of(name)];
    if (group.names.empty()) group.type = type;
    if (!group.names.insert(name).second) return;
    group.bytes += static_cast<double>(type.bytes());
    group.pattern = group.names.size() == 1 ? name : pattern_of(name);
  }

  template <typename TypeOf>
  void follow(const Line& line, bool is_created, const TypeOf& type_of) {
    bool is_data = true, reads_data = false;
    for (const Operand& o : line.operands) {
      if (o.kind != Operand::Kind::kName) continue;
      const std::string name(o.text);
      const bool is_such = data_.contains(name) && !weights_.contains(name);
      is_data = is_data && is_such;
      reads_data |= is_such;
    }
    if (statement_of(line.op) == Statement::kFree) return;
    if (reads_data) note_reads(line, is_data);
    for (const Name& result : line.results) {
      const std::string name(result.text);
      data_.erase(name);
      if (!is_data) continue;
      const Type* type = type_of(name);
      data_[name] = {type == nullptr ? Type() : *type, is_created};
    }
  }

  // A line reads data. If it reads weights or what was computed with these,
  // too, the data is a batch.
  void note_reads(const Line& line, bool is_data) {
    for (const Operand& o : line.operands) {
      const auto found = data_.find(std::string(o.text));
      if (o.kind != Operand::Kind::kName || found == data_.end()) continue;
      const auto& [name, data] = *found;
      if (is_data) {
        sources_.insert(name);
      } else if (data.is_created) {
        fed_.insert(name);
      } else {
        TensorGroup& group = computed_[name];
        group.pattern = name;
        group.names = {name};
        group.type = data.type;
        group.bytes = static_cast<double>(data.type.bytes());
        group.role = GroupRole::kBatch;
        group.is_computed = true;
      }
    }
  }

  struct Data {
    Type type;
    bool is_created = false;
  };
  const std::set<std::string> weights_;
  GroupsByPattern made_;
  std::map<std::string, Data> data_;
  std::map<std::string, TensorGroup> computed_;
  std::map<std::string, std::set<std::string>> moments_;  // patterns
  std::set<std::string> fed_, sources_;  // names of created tensors
  bool is_forward_ = true;
};

// Calls f for each instruction of a step.
template <typename F>
Status for_each(const std::vector<std::string>& lines,
                std::optional<size_t>& culprit, F&& f) {
  bool is_empty = true;
  Line line;
  for (size_t i = 0; i < lines.size(); ++i) {
    culprit = i;
    if (Status s = parse_line(lines[i], line); !s.ok()) return s;
    if (line.kind != Line::Kind::kInstruction) continue;
    is_empty = false;
    if (is_placed(line)) {
      culprit.reset();  // that is so of the whole stream
      return Error{
          "the stream is placed already, and --plan finds how to place one; "
          "give it the stream that gt-shard read"};
    }
    if (Status s = f(lines[i], line); !s.ok()) return s;
  }
  culprit.reset();
  if (!is_empty) return ok_status();
  return Error{"the stream has no line to plan for; give it one whole step"};
}

}  // namespace

Result<std::vector<TensorGroup>> tensor_groups(
    const std::vector<std::string>& lines, std::optional<size_t>& culprit) {
  std::set<std::string> weights;
  const auto find_weights = [&](const std::string& /*text*/, const Line& line) {
    if (const std::string_view* target = line.note("grad")) {
      weights.insert(unquote(*target));
    }
    return ok_status();
  };
  if (Status s = for_each(lines, culprit, find_weights); !s.ok()) {
    return s.error();
  }
  const auto alone = Config::parse("mesh: {dp: 1}\n", "", 0);
  GT_CHECK(alone.ok());
  PlanCache plans;
  Partitioner partitioner(alone.value(), nullptr, plans);
  GroupFinder finder(std::move(weights));
  std::string out;
  const auto find_groups = [&](const std::string& text, const Line& line) {
    out.clear();
    if (Status s = partitioner.take(text, out); !s.ok()) return s;
    finder.take(line, [&](const std::string& name) {
      return partitioner.type_of(name);
    });
    return ok_status();
  };
  if (Status s = for_each(lines, culprit, find_groups); !s.ok()) {
    return s.error();
  }
  return finder.groups();
}

}  // namespace gt::shard
