#include "grad/name_set.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/hash.h"

namespace gt::grad {

void NameSet::add(const NameSet& other) {
  names.insert(names.end(), other.names.begin(), other.names.end());
  is_unknown = is_unknown || other.is_unknown;
}

bool NameSet::has(const NamedSince& name) const {
  return is_unknown || std::ranges::binary_search(names, name);
}

bool NameSet::includes(const NameSet& other) const {
  if (is_unknown) return true;
  return !other.is_unknown && std::ranges::includes(names, other.names);
}

NameSets::Ref NameSets::of(NameSet set) {
  std::ranges::sort(set.names);
  set.names.erase(std::unique(set.names.begin(), set.names.end()),
                  set.names.end());
  if (set.is_unknown || set.names.size() > kMostNames) return unknown_;
  if (set.names.empty()) return {};
  uint64_t hash = 0;
  for (const NamedSince& n : set.names) {
    const uint64_t words[] = {hash, n.name, n.since};
    hash = hash_bytes({reinterpret_cast<const char*>(words), sizeof words});
  }
  Ref& recent = recent_[hash % kRecent];
  if (recent && **recent == set) return recent;
  if (*total_ + set.names.size() > kMostTogether) return unknown_;
  recent = Ref(Counted(std::move(set), total_));
  return recent;
}

}  // namespace gt::grad
