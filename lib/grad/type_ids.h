// Types as small numbers, so that equal types compare in one instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "stream/type.h"

namespace gt {

class TypeIds {
 public:
  uint32_t id(const Type& type) {
    const auto [it, fresh] =
        ids_.try_emplace(type, static_cast<uint32_t>(types_.size()));
    if (fresh) types_.push_back(type);
    return it->second;
  }
  const Type& operator[](uint32_t id) const { return types_[id]; }

 private:
  struct Hash {
    size_t operator()(const Type& type) const {
      size_t h = static_cast<size_t>(type.dtype) + 1;
      for (const int64_t d : type.shape) {
        h = (h ^ static_cast<size_t>(d)) * 0x9e3779b97f4a7c15U;
      }
      return h ^ (h >> 32);
    }
  };
  std::unordered_map<Type, uint32_t, Hash> ids_;
  std::deque<Type> types_;  // references stay valid
};

}  // namespace gt
