#include "shard/register_bytes.h"

#include <algorithm>
#include <map>

namespace gt::shard {

void RegisterBytes::bind(const std::string& name, const Ranks& ranks,
                         uint64_t bytes) {
  const uint32_t set = set_of(ranks);
  take_away(name, set);
  add(name, set, bytes);
}

void RegisterBytes::bind(const std::string& name, const Ranks& ranks,
                         const std::vector<uint64_t>& bytes) {
  const auto differs = [&](uint64_t n) { return n != bytes.front(); };
  if (!bytes.empty() && std::ranges::none_of(bytes, differs)) {
    return bind(name, ranks, bytes.front());
  }
  std::map<uint64_t, Ranks> by_bytes;
  for (size_t i = 0; i < ranks.size(); ++i) {
    by_bytes[bytes[i]].push_back(ranks[i]);
  }
  take_away(name, set_of(ranks));
  for (const auto& [n, some] : by_bytes) add(name, set_of(some), n);
}

void RegisterBytes::free(const std::string& name, const Ranks& ranks) {
  take_away(name, set_of(ranks));
  end_line();
}

void RegisterBytes::end_line() {
  for (const Piece& piece : replaced_) {
    for (const uint32_t c : ranks_.classes(piece.set)) held_[c] -= piece.bytes;
  }
  replaced_.clear();
}

void RegisterBytes::add(const std::string& name, uint32_t set, uint64_t bytes) {
  for (const uint32_t c : ranks_.classes(set)) {
    held_[c] += bytes;
    most_ = std::max(most_, held_[c]);
  }
  registers_[name].push_back({set, bytes});
}

// Moves what the name holds on the set's ranks to replaced_.
void RegisterBytes::take_away(const std::string& name, uint32_t set) {
  const auto it = registers_.find(name);
  if (it == registers_.end()) return;
  std::vector<Piece> left;
  for (const Piece& piece : it->second) {
    if (piece.set == set) {
      replaced_.push_back(piece);
      continue;
    }
    const Ranks& has = ranks_.ranks(piece.set);
    const Ranks& goes = ranks_.ranks(set);
    const Ranks inside = common(has, goes), outside = without(has, goes);
    if (!inside.empty()) replaced_.push_back({set_of(inside), piece.bytes});
    if (!outside.empty()) left.push_back({set_of(outside), piece.bytes});
  }
  if (left.empty()) {
    registers_.erase(it);
  } else {
    it->second = std::move(left);
  }
}

// A class that was split from another holds what that holds.
uint32_t RegisterBytes::set_of(const Ranks& ranks) {
  const uint32_t set = ranks_.set_of(ranks);
  while (held_.size() < ranks_.size()) {
    const uint32_t from = ranks_.origin(static_cast<uint32_t>(held_.size()));
    held_.push_back(from == RankClasses::kNone ? 0 : held_[from]);
  }
  return set;
}

}  // namespace gt::shard
