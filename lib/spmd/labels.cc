#include "spmd/labels.h"

#include "stream/ranks.h"

namespace gt {

const Operand* first_name(const Line& line) {
  for (const Operand& operand : line.operands) {
    if (operand.kind == Operand::Kind::kName) return &operand;
  }
  return nullptr;
}

std::string_view space_name(const Line& line) {
  if (!line.results.empty()) return line.results[0].text;
  const Operand* operand = first_name(line);
  return operand == nullptr ? std::string_view{} : operand->text;
}

std::string name_in(std::string_view space) {
  return std::string(space) + (space.empty() ? "x" : "/x");
}

std::string print_label(const Line& line) {
  if (const std::string_view* as = line.key("as")) {
    if (std::string name = unquote(*as); is_name(name)) return name;
  }
  if (const Operand* operand = first_name(line)) {
    return full_name(operand->text, operand->ranks);
  }
  return "print";  // no operand is a name
}

std::vector<std::string> bound_names(
    const Line& line, const std::function<bool(int64_t rank)>& wanted) {
  std::vector<std::string> names;
  for (const Name& name : line.results) {
    if (name.ranks.empty()) {
      names.emplace_back(name.text);
      continue;
    }
    const auto ranks = parse_ranks(name.ranks);
    if (!ranks.ok()) continue;
    for (const int64_t rank : ranks.value()) {
      if (wanted && !wanted(rank)) continue;
      names.push_back(full_name(name.text, std::to_string(rank)));
    }
  }
  return names;
}

std::vector<std::string> print_labels(
    const Line& line, const std::function<bool(int64_t rank)>& wanted) {
  const Operand* operand = first_name(line);
  if (operand == nullptr || operand->ranks.empty()) return {print_label(line)};
  const std::string_view* as = line.key("as");
  std::string name(operand->text);
  if (as != nullptr && is_name(unquote(*as))) name = unquote(*as);
  const auto ranks = parse_ranks(operand->ranks);
  if (!ranks.ok()) return {name};
  if (line.key("split") != nullptr ||
      (as != nullptr && ranks.value().size() == 1)) {
    if (wanted && !wanted(ranks.value()[0])) return {};
    return {name};
  }
  std::vector<std::string> labels;
  for (const int64_t rank : ranks.value()) {
    if (wanted && !wanted(rank)) continue;
    labels.push_back(full_name(name, std::to_string(rank)));
  }
  return labels;
}

}  // namespace gt
