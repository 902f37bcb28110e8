#include "route/value_locations.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace gt::route {

TypeId ValueLocations::piece_of(const ValueLocation& location, int64_t rank,
                                const TypeIds& types) {
  if (!location.ranks) return location.stamp.type;
  const auto place = place_in(*location.ranks, rank);
  return place ? types.piece(location.stamp.type, *place) : kNoType;
}

TypeId ValueLocations::piece(std::span<const SymbolId> parts, int64_t rank,
                             const TypeIds& types) const {
  for (const SymbolId id : parts) {
    const TypeId type = piece_of((*this)[id], rank, types);
    if (type != kNoType) return type;
  }
  return kNoType;
}

void ValueLocations::claim(SymbolId id, TypeId type, TypeIds& types) {
  ValueLocation& location = (*this)[id];
  carve(without_ranks(name_of(id)), *location.ranks, types);
  (*this)[id].stamp.type = type;
  add_part(id);
}

void ValueLocations::fail(SymbolId id, FailureText why, TypeIds& types) {
  bind(id, kFailedType, types);
  note_failure(id, std::move(why));
}

void ValueLocations::release(SymbolId id) {
  ValueLocation& location = (*this)[id];
  forget_failure(id);
  location.holders.clear();
  location.recipe.reset();
  if (location.ranks && location.is_live()) drop_part(id);
  location.stamp.type = kNoType;
  retire(id);
}

void ValueLocations::lose(uint32_t worker) {
  for (SymbolId id = 0; id < size(); ++id) {
    Holders& holders = (*this)[id].holders;
    const auto at = std::find(holders.begin(), holders.end(), worker);
    if (at == holders.end() || holders.size() == 1) continue;
    *at = holders.back();
    holders.pop_back();
  }
}

void ValueLocations::carve(std::string_view base, const Ranks& ranks,
                           TypeIds& types) {
  PlacedSymbolTable::carve(base, ranks, [&](SymbolId id, const Ranks& rest) {
    ++carved_;
    std::vector<TypeId> left;
    for (const int64_t rank : rest) {
      left.push_back(piece_of((*this)[id], rank, types));
    }
    const FailureText why = failure_of(id);
    release(id);
    if (rest.empty()) return;
    const SymbolId other = obtain_part(base, rest);
    claim(other, types.id(std::move(left)), types);
    if (why != nullptr) note_failure(other, why);
  });
}

SymbolId ValueLocations::separate(std::string_view base, const Ranks& ranks,
                                  TypeIds& types) {
  const SymbolId id = obtain_part(base, ranks);
  if ((*this)[id].is_live()) return id;
  std::vector<TypeId> own;
  const std::vector<SymbolId> all = parts(base);
  for (const int64_t rank : ranks) own.push_back(piece(all, rank, types));
  FailureText why;
  for (const SymbolId other : all) {
    if (why == nullptr) why = failure_of(other);
  }
  claim(id, types.id(std::move(own)), types);
  if (why != nullptr) note_failure(id, why);
  return id;
}

void ValueLocations::renumber_types(TypeIds& types) {
  const TypeIds old = std::exchange(types, TypeIds());
  std::unordered_map<TypeId, TypeId> known = {{kNoType, kNoType},
                                              {kFailedType, kFailedType}};
  const auto renumber = [&](TypeId id) {
    const auto [it, fresh] = known.try_emplace(id);
    if (fresh) it->second = types.id(old[id]);
    return it->second;
  };
  for (SymbolId id = 0; id < size(); ++id) {
    ValueLocation& location = (*this)[id];
    if (!location.is_live()) continue;
    const size_t count = location.ranks ? location.ranks->size() : 1;
    std::vector<TypeId> pieces;
    for (size_t i = 0; i < count; ++i) {
      pieces.push_back(renumber(old.piece(location.stamp.type, i)));
    }
    location.stamp.type = types.id(std::move(pieces));
  }
}

}  // namespace gt::route
