// Types as small numbers, so that equal types compare in one instruction. One
// number stands for the type of an unplaced value, or for all that is known of
// a placed one: its ranks, the types of its pieces, what it is on each axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "spmd/join.h"
#include "spmd/placement.h"
#include "spmd/rank_set.h"
#include "stream/type.h"

namespace gt {

using TypeId = uint32_t;

struct PlacedType {
  Ranks ranks;              // ascending
  std::vector<Type> types;  // one for all, or one a rank
  Placement letters;
  // With the dimensions that axes shard, as far as that is known.
  std::optional<Placement> global = std::nullopt;
  const Type& on(int64_t rank) const;
  friend bool operator==(const PlacedType&, const PlacedType&) = default;
};

// From the ranks in any order, and the types in that order.
PlacedType placed_type(const std::vector<int64_t>& ranks,
                       const std::vector<Type>& by_position, Placement letters);

class TypeIds {
 public:
  TypeId id(const Type& type) {
    const auto [it, fresh] =
        ids_.try_emplace(type, static_cast<TypeId>(types_.size()));
    if (fresh) types_.push_back(type);
    return it->second;
  }
  TypeId id(PlacedType type);

  static bool is_placed(TypeId id) { return (id & kPlaced) != 0; }
  // Of a placed one the type on its first rank.
  const Type& operator[](TypeId id) const {
    return is_placed(id) ? placed(id).types[0] : types_[id];
  }
  const Type& on(TypeId id, int64_t rank) const {
    return is_placed(id) ? placed(id).on(rank) : types_[id];
  }
  const PlacedType& placed(TypeId id) const { return placed_[id & ~kPlaced]; }
  // None of an unplaced one.
  const Ranks& ranks(TypeId id) const;
  // "f32[2,3]"; of uneven pieces "f32[2,3]@0-1 f32[1,3]@2".
  std::string describe(TypeId id) const;

  // A rank set may be large, so the types of placed values that are gone go as
  // well once they take much room. Numbers then mean something else: `uses`
  // tells which are in use, and rounds() counts how often that happened.
  bool is_crowded() const { return weight_ > limit_; }
  void keep_only(const std::unordered_set<TypeId>& uses);
  uint64_t rounds() const { return rounds_; }

 private:
  static constexpr TypeId kPlaced = TypeId{1} << 31;

  static size_t hash_of(const PlacedType& type);
  static constexpr size_t kLimit = size_t{1} << 22;
  static size_t weight_of(const PlacedType& type) {
    return type.ranks.size() + type.types.size() * 10;
  }

  std::unordered_map<Type, TypeId, TypeHash> ids_;
  std::deque<Type> types_;                              // references stay valid
  std::unordered_multimap<size_t, TypeId> placed_ids_;  // by hash
  std::deque<PlacedType> placed_;
  std::vector<TypeId> free_;  // slots of placed_
  size_t weight_ = 0;         // of them all, in numbers
  size_t limit_ = kLimit;
  uint64_t rounds_ = 0;
};

// Meshes as small numbers; 0 is none.
using MeshId = uint32_t;

class MeshIds {
 public:
  MeshId id(const Mesh* mesh);
  const Mesh* operator[](MeshId id) const {
    return id == 0 ? nullptr : &meshes_[id - 1];
  }

 private:
  std::unordered_map<std::string, MeshId> ids_;
  std::deque<Mesh> meshes_;
};

}  // namespace gt
