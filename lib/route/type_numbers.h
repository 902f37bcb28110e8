// Types by small numbers, so that a kept line is checked by one compare. A
// number stands for the type of one value, or for the types of pieces.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "stream/type.h"

namespace gt {

class TypeNumbers {
 public:
  using Id = uint32_t;
  static constexpr Id kNone = 0;    // of a name without a value
  static constexpr Id kFailed = 1;  // of a value that never came to be

  TypeNumbers() { clear(); }

  Id intern(const Type& type);
  // Of pieces, in order; of pieces that are all alike the number of one.
  Id intern(const std::vector<Id>& pieces);

  // The number of the piece in that place.
  Id piece(Id id, size_t place) const {
    return is_list(id) ? lists_[id & ~kList][place] : id;
  }
  // Of one value. It stays where it is until clear().
  const Type& operator[](Id id) const { return types_[id]; }
  size_t size() const { return types_.size() + lists_.size(); }
  void clear();

 private:
  static constexpr Id kList = Id{1} << 31;
  static bool is_list(Id id) { return (id & kList) != 0; }

  std::unordered_map<Type, Id, TypeHash> ids_;
  std::deque<Type> types_;
  std::unordered_map<std::string, Id, TextHash, std::equal_to<>> list_ids_;
  std::vector<std::vector<Id>> lists_;
};

}  // namespace gt
