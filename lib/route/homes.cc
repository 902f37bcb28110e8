#include "route/homes.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace gt::route {

TypeId Homes::piece_of(const Home& home, int64_t rank, const TypeIds& types) {
  if (!home.ranks) return home.stamp.type;
  const auto place = place_in(*home.ranks, rank);
  return place ? types.piece(home.stamp.type, *place) : kNoType;
}

TypeId Homes::piece(std::span<const HomeId> parts, int64_t rank,
                    const TypeIds& types) const {
  for (const HomeId id : parts) {
    const TypeId type = piece_of((*this)[id], rank, types);
    if (type != kNoType) return type;
  }
  return kNoType;
}

void Homes::claim(HomeId id, TypeId type, TypeIds& types) {
  Home& home = (*this)[id];
  carve(without_ranks(name_of(id)), *home.ranks, types);
  (*this)[id].stamp.type = type;
  add_part(id);
}

void Homes::fail(HomeId id, FailureText why, TypeIds& types) {
  bind(id, kFailedType, types);
  note_failure(id, std::move(why));
}

void Homes::release(HomeId id) {
  Home& home = (*this)[id];
  forget_failure(id);
  home.holders.clear();
  home.recipe.reset();
  if (home.ranks && home.is_live()) drop_part(id);
  home.stamp.type = kNoType;
  retire(id);
}

void Homes::lose(uint32_t worker) {
  for (HomeId id = 0; id < size(); ++id) {
    Holders& holders = (*this)[id].holders;
    const auto at = std::find(holders.begin(), holders.end(), worker);
    if (at == holders.end() || holders.size() == 1) continue;
    *at = holders.back();
    holders.pop_back();
  }
}

void Homes::carve(std::string_view base, const Ranks& ranks, TypeIds& types) {
  PlacedSymbolTable::carve(base, ranks, [&](HomeId id, const Ranks& rest) {
    ++carved_;
    std::vector<TypeId> left;
    for (const int64_t rank : rest) {
      left.push_back(piece_of((*this)[id], rank, types));
    }
    const FailureText why = failure_of(id);
    release(id);
    if (rest.empty()) return;
    const HomeId other = obtain_part(base, rest);
    claim(other, types.id(std::move(left)), types);
    if (why != nullptr) note_failure(other, why);
  });
}

HomeId Homes::separate(std::string_view base, const Ranks& ranks,
                       TypeIds& types) {
  const HomeId id = obtain_part(base, ranks);
  if ((*this)[id].is_live()) return id;
  std::vector<TypeId> own;
  const std::vector<HomeId> all = parts(base);
  for (const int64_t rank : ranks) own.push_back(piece(all, rank, types));
  FailureText why;
  for (const HomeId other : all) {
    if (why == nullptr) why = failure_of(other);
  }
  claim(id, types.id(std::move(own)), types);
  if (why != nullptr) note_failure(id, why);
  return id;
}

void Homes::renumber_types(TypeIds& types) {
  const TypeIds old = std::exchange(types, TypeIds());
  std::unordered_map<TypeId, TypeId> known = {{kNoType, kNoType},
                                              {kFailedType, kFailedType}};
  const auto renumber = [&](TypeId id) {
    const auto [it, fresh] = known.try_emplace(id);
    if (fresh) it->second = types.id(old[id]);
    return it->second;
  };
  for (HomeId id = 0; id < size(); ++id) {
    Home& home = (*this)[id];
    if (!home.is_live()) continue;
    const size_t count = home.ranks ? home.ranks->size() : 1;
    std::vector<TypeId> pieces;
    for (size_t i = 0; i < count; ++i) {
      pieces.push_back(renumber(old.piece(home.stamp.type, i)));
    }
    home.stamp.type = types.id(std::move(pieces));
  }
}

}  // namespace gt::route
