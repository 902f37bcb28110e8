#include "shard/rank_classes.h"

#include <algorithm>
#include <map>

namespace gt::shard {

// Sets of ranks mostly differ in their size or in one of these ranks.
size_t RankClasses::Hash::operator()(const Ranks& ranks) const {
  size_t h = ranks.size();
  for (size_t i = 0; i < ranks.size(); i += (ranks.size() + 7) / 8) {
    h = h * 31 + static_cast<size_t>(ranks[i]);
  }
  return h;
}

uint32_t RankClasses::set_of(const Ranks& ranks) {
  const auto [it, is_new] =
      set_by_ranks_.try_emplace(ranks, static_cast<uint32_t>(sets_.size()));
  if (!is_new) return it->second;
  const uint32_t number = it->second;
  sets_.push_back({ranks, find_classes(ranks)});
  return number;
}

std::vector<uint32_t> RankClasses::find_classes(const Ranks& ranks) {
  if (!ranks.empty() && static_cast<size_t>(ranks.back()) >= class_of_.size()) {
    class_of_.resize(static_cast<size_t>(ranks.back()) + 1, kNone);
  }
  std::map<uint32_t, Ranks> meant;  // by class
  for (const int64_t rank : ranks) {
    meant[class_of_[static_cast<size_t>(rank)]].push_back(rank);
  }
  std::vector<uint32_t> classes;
  for (const auto& [c, some] : meant) {
    const bool is_all = c != kNone && some.size() == members_[c].size();
    classes.push_back(is_all ? c : split(c, some));
  }
  std::ranges::sort(classes);
  return classes;
}

// Makes the ranks a class of their own, and adds it to the sets that theirs is
// part of.
uint32_t RankClasses::split(uint32_t from, const Ranks& away) {
  const auto made = static_cast<uint32_t>(members_.size());
  members_.push_back(away);
  origins_.push_back(from);
  for (const int64_t rank : away) class_of_[static_cast<size_t>(rank)] = made;
  if (from == kNone) return made;
  members_[from] = without(members_[from], away);
  for (Set& set : sets_) {
    if (std::ranges::binary_search(set.classes, from)) {
      set.classes.push_back(made);  // the largest of all
    }
  }
  return made;
}

Ranks RankClasses::first_ranks(const Ranks& ranks) {
  Ranks first;
  for (const uint32_t c : classes(set_of(ranks))) {
    first.push_back(members_[c].front());
  }
  return ascending(std::move(first));
}

Ranks RankClasses::all_ranks(const Ranks& first) const {
  Ranks all;
  for (const int64_t rank : first) {
    const Ranks& more = members_[class_of_[static_cast<size_t>(rank)]];
    all.insert(all.end(), more.begin(), more.end());
  }
  return ascending(std::move(all));
}

}  // namespace gt::shard
