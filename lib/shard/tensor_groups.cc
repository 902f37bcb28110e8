#include "shard/tensor_groups.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "ops/families.h"
#include "ops/table.h"
#include "stream/line.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

// This many groups are taken. The layouts of the others are left to their
// readers.
constexpr size_t kMaxGroups = 64;

using GroupsByPattern = std::map<std::string, TensorGroup>;

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

void add(GroupsByPattern& made, const std::string& name, const Type& type) {
  TensorGroup& group = made[pattern_of(name)];
  if (group.names.empty()) group.type = type;
  if (!group.names.insert(name).second) return;
  group.bytes += static_cast<double>(type.bytes());
  group.pattern = group.names.size() == 1 ? name : pattern_of(name);
}

// Adds the tensor that the line creates, or takes from created data.
void add_created(GroupsByPattern& made, const Line& line) {
  const Op* op = find_op(line.op);
  if (op == nullptr || line.results.size() != 1) return;
  const bool takes = op->row->lineage == Lineage::kPart;
  if (op->family != &kCreation && !takes) return;
  const std::string name(line.results[0].text);
  for (const Operand& o : line.operands) {
    if (o.kind != Operand::Kind::kType) continue;
    const auto type = parse_type(o.text);
    if (type.ok()) add(made, name, type.value());
  }
  if (!takes || line.operands.empty() || line.note("bwd") != nullptr) return;
  const std::string data(line.operands[0].text);
  const auto from = made.find(pattern_of(data));
  if (from == made.end() || !from->second.names.contains(data)) return;
  add(made, name, from->second.type);
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

}  // namespace

Result<std::vector<TensorGroup>> tensor_groups(
    const std::vector<std::string>& lines, std::optional<size_t>& culprit) {
  GroupsByPattern made;
  std::set<std::string> weights;
  std::set<std::string> read;  // before the first gradient
  bool is_empty = true;
  bool is_forward = true;
  Line line;
  for (size_t i = 0; i < lines.size(); ++i) {
    culprit = i;
    if (Status s = parse_line(lines[i], line); !s.ok()) return s.error();
    if (line.kind != Line::Kind::kInstruction) continue;
    is_empty = false;
    if (is_placed(line)) {
      culprit.reset();  // that is so of the whole stream
      return Error{
          "the stream is placed already, and --plan finds how to place one; "
          "give it the stream that gt-shard read"};
    }
    for (const Note& note : line.notes) {
      if (note.key == "grad") weights.insert(unquote(note.value));
    }
    is_forward = is_forward && line.note("bwd") == nullptr;
    if (is_forward) {
      for (const Operand& o : line.operands) read.insert(std::string(o.text));
    }
    add_created(made, line);
  }
  culprit.reset();
  if (is_empty) {
    return Error{"the stream has no line to plan for; give it one whole step"};
  }
  std::vector<TensorGroup> groups;
  for (auto& [pattern, group] : made) {
    group.is_weight = has_any(weights, group);
    group.is_batch = !group.is_weight && has_any(read, group);
    if (!group.type.shape.empty() && is_unambiguous(group, made)) {
      groups.push_back(group);
    }
  }
  // A batch is often smaller than any weight, and how it is cut decides most.
  const auto matters_more = [](const TensorGroup& a, const TensorGroup& b) {
    return a.is_batch != b.is_batch ? a.is_batch : a.bytes > b.bytes;
  };
  std::stable_sort(groups.begin(), groups.end(), matters_more);
  if (groups.size() > kMaxGroups) groups.resize(kMaxGroups);
  return groups;
}

}  // namespace gt::shard
