#include "program/type_ids.h"

#include <algorithm>
#include <utility>

namespace gt {

TypeId TypeIds::id(std::vector<TypeId> pieces) {
  if (std::all_of(pieces.begin(), pieces.end(),
                  [&](TypeId id) { return id == pieces[0]; })) {
    return pieces[0];
  }
  return lists_.id(std::move(pieces)) | kList;
}

}  // namespace gt
