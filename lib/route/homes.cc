#include "route/homes.h"

#include <algorithm>

#include "stream/ranks.h"

namespace gt {
namespace {

std::string_view base_of(std::string_view name) {
  return name.substr(0, name.find('@'));
}

}  // namespace

HomeId Homes::find(std::string_view name) const {
  const HomeId id = names_.find(name);
  return id == kNoHome || !homes_[id].is_live() ? kNoHome : id;
}

const std::vector<HomeId>& Homes::pieces(std::string_view base) const {
  static const std::vector<HomeId> kNothing;
  const auto it = pieces_.find(base);
  return it == pieces_.end() ? kNothing : it->second;
}

TypeNumbers::Id Homes::piece_of(const Home& home, int64_t rank,
                                const TypeNumbers& types) {
  if (!home.ranks) return home.stamp.type;
  const auto place = place_in(*home.ranks, rank);
  return place ? types.piece(home.stamp.type, *place) : TypeNumbers::kNone;
}

TypeNumbers::Id Homes::piece(std::span<const HomeId> pieces, int64_t rank,
                             const TypeNumbers& types) const {
  for (const HomeId id : pieces) {
    const auto type = piece_of(homes_[id], rank, types);
    if (type != TypeNumbers::kNone) return type;
  }
  return TypeNumbers::kNone;
}

HomeId Homes::obtain(std::string_view name) {
  const auto [id, is_other] = names_.obtain(
      name, [this](HomeId known) { return homes_[known].is_live(); });
  if (id == homes_.size()) homes_.emplace_back();
  if (is_other) {
    ++homes_[id].stamp.generation;
    homes_[id].ranks.reset();
    homes_[id].wanted_by = 0;
  }
  return id;
}

HomeId Homes::obtain_piece(std::string_view base, const Ranks& ranks) {
  const HomeId id = obtain(std::string(base) + "@" + to_string(ranks));
  if (!homes_[id].ranks) homes_[id].ranks = Shared<Ranks>(ranks);
  return id;
}

void Homes::claim(HomeId id, TypeNumbers::Id type, TypeNumbers& types) {
  const std::string_view base = base_of(names_.name_of(id));
  carve(base, *homes_[id].ranks, types);
  homes_[id].stamp.type = type;
  const auto it = pieces_.find(base);
  if (it == pieces_.end()) {
    pieces_.emplace(std::string(base), std::vector<HomeId>{id});
  } else {
    it->second.push_back(id);
  }
}

void Homes::fail(HomeId id, FailureText why, TypeNumbers& types) {
  bind(id, TypeNumbers::kFailed, types);
  failures_[id] = std::move(why);
}

FailureText Homes::failure_of(HomeId id) const {
  if (failures_.empty()) return nullptr;
  const auto it = failures_.find(id);
  return it == failures_.end() ? nullptr : it->second;
}

void Homes::release(HomeId id) {
  Home& home = homes_[id];
  failures_.erase(id);
  home.holders.clear();
  home.recipe.reset();
  if (home.ranks && home.is_live()) {
    const auto it = pieces_.find(base_of(names_.name_of(id)));
    std::erase(it->second, id);
    if (it->second.empty()) pieces_.erase(it);
  }
  home.stamp.type = TypeNumbers::kNone;
  names_.release(id);
}

void Homes::carve(std::string_view base, const Ranks& ranks,
                  TypeNumbers& types) {
  const std::vector<HomeId> live = pieces(base);
  for (const HomeId id : live) {
    const Shared<Ranks> all = homes_[id].ranks;
    const Ranks rest = without(*all, ranks);
    if (rest.size() == all->size()) continue;
    ++carved_;
    std::vector<TypeNumbers::Id> left;
    for (const int64_t rank : rest) {
      left.push_back(piece_of(homes_[id], rank, types));
    }
    const FailureText why = failure_of(id);
    release(id);
    if (rest.empty()) continue;
    const HomeId other = obtain_piece(base, rest);
    claim(other, types.intern(left), types);
    if (why != nullptr) failures_[other] = why;
  }
}

HomeId Homes::separate(std::string_view base, const Ranks& ranks,
                       TypeNumbers& types) {
  const HomeId id = obtain_piece(base, ranks);
  if (homes_[id].is_live()) return id;
  std::vector<TypeNumbers::Id> own;
  const std::vector<HomeId> all = pieces(base);
  for (const int64_t rank : ranks) own.push_back(piece(all, rank, types));
  FailureText why;
  for (const HomeId other : all) {
    if (why == nullptr) why = failure_of(other);
  }
  claim(id, types.intern(own), types);
  if (why != nullptr) failures_[id] = why;
  return id;
}

bool Homes::has_pieces_under(std::string_view prefix) const {
  return std::any_of(pieces_.begin(), pieces_.end(), [&](const auto& entry) {
    return std::string_view(entry.first).starts_with(prefix);
  });
}

void Homes::renumber_types(TypeNumbers& types) {
  const TypeNumbers old = std::exchange(types, TypeNumbers());
  std::unordered_map<TypeNumbers::Id, TypeNumbers::Id> known = {
      {TypeNumbers::kNone, TypeNumbers::kNone},
      {TypeNumbers::kFailed, TypeNumbers::kFailed}};
  const auto renumber = [&](TypeNumbers::Id id) {
    const auto [it, fresh] = known.try_emplace(id);
    if (fresh) it->second = types.intern(old[id]);
    return it->second;
  };
  for (Home& home : homes_) {
    if (!home.is_live()) continue;
    const size_t count = home.ranks ? home.ranks->size() : 1;
    std::vector<TypeNumbers::Id> pieces;
    for (size_t i = 0; i < count; ++i) {
      pieces.push_back(renumber(old.piece(home.stamp.type, i)));
    }
    home.stamp.type = types.intern(pieces);
  }
}

std::vector<std::string_view> Homes::some_live_names() const {
  return some_names(names_, [this](HomeId id) { return homes_[id].is_live(); });
}

}  // namespace gt
