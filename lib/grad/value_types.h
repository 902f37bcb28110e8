// Gives types small numbers, so that equal types are found with one comparison.
// One number stands for the type of an unplaced value, or for all that is known
// of a placed one: its ranks, the types of its pieces, what it is on each axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/interner.h"
#include "program/type_ids.h"
#include "spmd/join.h"
#include "spmd/placement.h"
#include "spmd/rank_set.h"
#include "stream/type.h"

namespace gt::grad {

struct PlacedType {
  Ranks ranks;              // ascending
  std::vector<Type> types;  // one for all ranks, or one for each
  Placement letters;        // R, I, V or P on each axis (spmd/placement.h)
  // The letters with the dimensions that axes shard; nothing if that is not
  // known.
  std::optional<Placement> global = std::nullopt;
  const Type& on(int64_t rank) const;
  friend bool operator==(const PlacedType&, const PlacedType&) = default;
};

// Returns the type of a value on ranks in any order, with the types of the
// pieces in the same order.
PlacedType placed_type(const std::vector<int64_t>& ranks,
                       const std::vector<Type>& by_position, Placement letters);

struct PlacedTypeHash {
  size_t operator()(const PlacedType& type) const;
};

class ValueTypes {
 public:
  TypeId id(const Type& type) { return unplaced_.id(type); }
  TypeId id(PlacedType type);

  static bool is_placed(TypeId id) { return (id & kPlaced) != 0; }
  // Returns the type; for a placed one, that on its first rank.
  const Type& operator[](TypeId id) const {
    return is_placed(id) ? placed(id).types[0] : unplaced_[id];
  }
  const Type& on(TypeId id, int64_t rank) const {
    return is_placed(id) ? placed(id).on(rank) : unplaced_[id];
  }
  const PlacedType& placed(TypeId id) const { return placed_[id & ~kPlaced]; }
  // Returns no ranks for an unplaced type.
  const Ranks& ranks(TypeId id) const;
  // Returns "f32[2,3]", or "f32[2,3]@0-1 f32[1,3]@2" for uneven pieces.
  std::string describe(TypeId id) const;

  // A rank set may be large, so once the types of placed values take much room
  // (is_crowded), those that are not in use should be dropped: keep_only()
  // keeps those in `uses`. The numbers of the others will stand for other
  // types, so whoever kept a number must compare rounds(), which grows each
  // time.
  bool is_crowded() const { return weight_ > limit_; }
  void keep_only(const std::unordered_set<TypeId>& uses);
  uint64_t rounds() const { return rounds_; }

 private:
  static constexpr TypeId kPlaced = TypeId{1} << 31;
  static constexpr size_t kLimit = size_t{1} << 22;
  static size_t weight_of(const PlacedType& type) {
    return type.ranks.size() + type.types.size() * 10;
  }

  TypeIds unplaced_;
  Interner<PlacedType, PlacedTypeHash> placed_;
  size_t weight_ = 0;  // size of the placed ones, in numbers
  size_t limit_ = kLimit;
  uint64_t rounds_ = 0;
};

// The number of a mesh; 0 stands for none.
using MeshId = uint32_t;

class MeshIds {
 public:
  MeshId id(const Mesh* mesh) {
    return mesh == nullptr ? 0 : meshes_.id({mesh->describe_all(), *mesh});
  }
  const Mesh* operator[](MeshId id) const {
    return id == 0 ? nullptr : &meshes_[id].mesh;
  }

 private:
  struct Described {
    std::string text;
    Mesh mesh;
    bool operator==(const Described& other) const { return text == other.text; }
  };
  struct DescribedHash {
    size_t operator()(const Described& mesh) const {
      return hash_bytes(mesh.text);
    }
  };
  Interner<Described, DescribedHash> meshes_{1};
};

}  // namespace gt::grad
