#include "shard/register_bytes.h"

namespace gt {

void RegisterBytes::bind(const std::string& name, const Ranks& ranks,
                         uint64_t bytes) {
  for (const int64_t rank : ranks) held_.add(rank, bytes);
  take_away(name, ranks);
  registers_[name].push_back({ranks, bytes});
}

void RegisterBytes::free(const std::string& name, const Ranks& ranks) {
  take_away(name, ranks);
  end_line();
}

void RegisterBytes::end_line() {
  for (const Part& part : replaced_) {
    for (const int64_t rank : part.ranks) held_.drop(rank, part.bytes);
  }
  replaced_.clear();
}

void RegisterBytes::take_away(const std::string& name, const Ranks& ranks) {
  const auto it = registers_.find(name);
  if (it == registers_.end()) return;
  std::vector<Part> rest;
  for (Part& part : it->second) {
    if (part.ranks == ranks) {
      replaced_.push_back(std::move(part));
      continue;
    }
    Ranks left = without(part.ranks, ranks);
    if (!left.empty()) rest.push_back({std::move(left), part.bytes});
    replaced_.push_back({common(part.ranks, ranks), part.bytes});
  }
  it->second = std::move(rest);
  if (it->second.empty()) registers_.erase(it);
}

}  // namespace gt
