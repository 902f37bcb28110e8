#include "grad/reads.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/lazy_table.h"
#include "ops/table.h"

namespace gt::grad {
namespace {

std::string base_name(std::string name) {
  if (name.ends_with("...")) name.resize(name.size() - 3);
  return name;
}

int parameter_named(const std::vector<Parameter>& all,
                    const std::string& name) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// An operand that takes any kind of word may also be a tensor's name, such as
// the start of a slice.
bool may_be_tensor(const Parameter& parameter) {
  return parameter.role == Role::kTensor || parameter.role == Role::kAny;
}

GradientReads reads_of(const Op& op, const std::string& operand) {
  GradientReads reads;
  std::set<std::string> wanted = {"d" + operand};
  for (auto line = op.gradient.rbegin(); line != op.gradient.rend(); ++line) {
    const bool writes = std::any_of(
        line->results.begin(), line->results.end(),
        [&](const std::string& r) { return wanted.count(base_name(r)) > 0; });
    if (!writes) continue;
    reads.defined = true;
    for (const std::string& word : line->operands) {
      const std::string name = base_name(word);
      wanted.insert(name);
      if (const int p = parameter_named(op.operands, name); p >= 0) {
        if (may_be_tensor(op.operands[static_cast<size_t>(p)])) {
          reads.operands.push_back({static_cast<uint32_t>(p), &*line});
        }
      } else if (const int r = parameter_named(op.results, name); r >= 0) {
        reads.results.push_back({static_cast<uint32_t>(r), &*line});
      }
    }
  }
  return reads;
}

std::vector<GradientReads> reads_of(const Op& op) {
  std::vector<GradientReads> reads;
  for (const Parameter& p : op.operands) {
    reads.push_back(may_be_tensor(p) ? reads_of(op, p.name) : GradientReads{});
  }
  return reads;
}

}  // namespace

const std::vector<GradientReads>& gradient_reads(const Op& op) {
  static const LazyTable<std::vector<GradientReads>> all(
      all_rows().size(), [](size_t id) { return reads_of(op_at(id)); });
  return all[op.id];
}

}  // namespace gt::grad
