// Gives types small numbers, so that two types are compared with one comparison
// (Stamp, symbol_table.h). A number stands for the type of one value, or for
// the list of the types of a placed value's pieces.
//
// A type gets its number when it is first asked for. The number stays the same
// until clear(), after which all numbers are given anew: a caller of clear()
// must forget every number that it has kept (the Walker clears when there are
// too many types).
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
  // Returns the number of a list of pieces' types, in their order. If all
  // pieces are alike, it is the number of their type.
  TypeId id(std::vector<TypeId> pieces);

  // Returns the number of the type of the piece at `place` in the list.
  TypeId piece(TypeId id, size_t place) const {
    return is_list(id) ? lists_[id & ~kList][place] : id;
  }
  // Returns the type of a number, which must not be that of a list. The
  // reference is valid until clear().
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
