#include "shard/register_bytes.h"

#include <algorithm>
#include <map>

namespace gt::shard {
namespace {

constexpr uint32_t kNoClass = ~uint32_t{0};

}  // namespace

void RegisterBytes::bind(const std::string& name, const Ranks& ranks,
                         uint64_t bytes) {
  const uint32_t group = group_of(ranks);
  take_away(name, group);
  add(name, group, bytes);
}

void RegisterBytes::bind(const std::string& name, const Ranks& ranks,
                         const std::vector<uint64_t>& bytes) {
  std::map<uint64_t, Ranks> by_bytes;
  for (size_t i = 0; i < ranks.size(); ++i) {
    by_bytes[bytes[i]].push_back(ranks[i]);
  }
  take_away(name, group_of(ranks));
  for (const auto& [n, some] : by_bytes) add(name, group_of(some), n);
}

void RegisterBytes::free(const std::string& name, const Ranks& ranks) {
  take_away(name, group_of(ranks));
  end_line();
}

void RegisterBytes::end_line() {
  for (const Piece& piece : replaced_) {
    for (const uint32_t c : groups_[piece.group].classes) {
      held_[c] -= piece.bytes;
    }
  }
  replaced_.clear();
}

void RegisterBytes::add(const std::string& name, uint32_t group,
                        uint64_t bytes) {
  for (const uint32_t c : groups_[group].classes) {
    held_[c] += bytes;
    most_ = std::max(most_, held_[c]);
  }
  registers_[name].push_back({group, bytes});
}

// Moves what the name holds on the group's ranks to replaced_.
void RegisterBytes::take_away(const std::string& name, uint32_t group) {
  const auto it = registers_.find(name);
  if (it == registers_.end()) return;
  std::vector<Piece> left;
  for (const Piece& piece : it->second) {
    if (piece.group == group) {
      replaced_.push_back(piece);
      continue;
    }
    const Ranks& has = groups_[piece.group].ranks;
    const Ranks& goes = groups_[group].ranks;
    const Ranks inside = common(has, goes), outside = without(has, goes);
    if (!inside.empty()) replaced_.push_back({group_of(inside), piece.bytes});
    if (!outside.empty()) left.push_back({group_of(outside), piece.bytes});
  }
  if (left.empty()) {
    registers_.erase(it);
  } else {
    it->second = std::move(left);
  }
}

// ---- ranks that hold the same -----------------------------------------------

// Sets of ranks mostly differ in their size or in one of these ranks.
size_t RegisterBytes::Hash::operator()(const Ranks& ranks) const {
  size_t h = ranks.size();
  for (size_t i = 0; i < ranks.size(); i += (ranks.size() + 7) / 8) {
    h = h * 31 + static_cast<size_t>(ranks[i]);
  }
  return h;
}

uint32_t RegisterBytes::group_of(const Ranks& ranks) {
  const auto [it, is_new] =
      group_by_ranks_.try_emplace(ranks, static_cast<uint32_t>(groups_.size()));
  if (!is_new) return it->second;
  const uint32_t number = it->second;
  groups_.push_back({ranks, classes_of(ranks)});
  return number;
}

// Returns the classes of the ranks. Classes of which only some ranks are meant
// are split, and ranks that held nothing yet become a class.
std::vector<uint32_t> RegisterBytes::classes_of(const Ranks& ranks) {
  if (!ranks.empty() && static_cast<size_t>(ranks.back()) >= class_of_.size()) {
    class_of_.resize(static_cast<size_t>(ranks.back()) + 1, kNoClass);
  }
  std::map<uint32_t, Ranks> meant;  // by class
  for (const int64_t rank : ranks) {
    meant[class_of_[static_cast<size_t>(rank)]].push_back(rank);
  }
  std::vector<uint32_t> classes;
  for (const auto& [c, some] : meant) {
    const bool is_all = c != kNoClass && some.size() == sizes_[c];
    classes.push_back(is_all ? c : split(c, some));
  }
  std::ranges::sort(classes);
  return classes;
}

// Makes the ranks a class of their own, which holds what theirs held, and adds
// it to the groups that theirs is part of.
uint32_t RegisterBytes::split(uint32_t from, const Ranks& away) {
  const auto made = static_cast<uint32_t>(held_.size());
  held_.push_back(from == kNoClass ? 0 : held_[from]);
  sizes_.push_back(away.size());
  for (const int64_t rank : away) class_of_[static_cast<size_t>(rank)] = made;
  if (from == kNoClass) return made;
  sizes_[from] -= away.size();
  for (Group& group : groups_) {
    if (std::ranges::binary_search(group.classes, from)) {
      group.classes.push_back(made);  // the largest of all
    }
  }
  return made;
}

}  // namespace gt::shard
