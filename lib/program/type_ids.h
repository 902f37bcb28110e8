// Types as small numbers, so that what a line was typed under is checked by one
// compare. A number stands for the type of one value, or for the types of the
// pieces of a placed one.
#pragma once

#include <cstddef>
#include <vector>

#include "base/hash.h"
#include "base/interner.h"
#include "program/ids.h"
#include "stream/type.h"

namespace gt {

class TypeIds {
 public:
  TypeId id(const Type& type) { return types_.id(type); }
  // Of pieces, in their order; of pieces that are all alike the number of one.
  TypeId id(std::vector<TypeId> pieces);

  // The number of the piece in that place.
  TypeId piece(TypeId id, size_t place) const {
    return is_list(id) ? lists_[id & ~kList][place] : id;
  }
  // Of one value. It stays where it is until clear().
  const Type& operator[](TypeId id) const { return types_[id]; }
  size_t size() const { return types_.size() + lists_.size(); }
  void clear() {
    types_.clear();
    lists_.clear();
  }

 private:
  static constexpr TypeId kList = TypeId{1} << 31;
  static bool is_list(TypeId id) { return (id & kList) != 0; }
  struct ListHash {
    size_t operator()(const std::vector<TypeId>& ids) const {
      return hash_bytes({reinterpret_cast<const char*>(ids.data()),
                         ids.size() * sizeof ids[0]});
    }
  };

  Interner<Type, TypeHash> types_{2};  // kNoType and kFailedType
  Interner<std::vector<TypeId>, ListHash> lists_;
};

}  // namespace gt
