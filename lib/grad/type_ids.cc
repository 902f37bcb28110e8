#include "grad/type_ids.h"

#include <algorithm>
#include <numeric>

#include "stream/ranks.h"

namespace gt {

const Type& PlacedType::on(int64_t rank) const {
  if (types.size() == 1) return types[0];
  const auto at = std::lower_bound(ranks.begin(), ranks.end(), rank);
  GT_CHECK(at != ranks.end() && *at == rank);
  return types[static_cast<size_t>(at - ranks.begin())];
}

PlacedType placed_type(const std::vector<int64_t>& ranks,
                       const std::vector<Type>& by_position,
                       Placement letters) {
  std::vector<size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return ranks[a] < ranks[b]; });
  PlacedType type{{}, {}, std::move(letters)};
  for (const size_t p : order) {
    type.ranks.push_back(ranks[p]);
    type.types.push_back(by_position[p]);
  }
  return type;
}

size_t TypeIds::hash_of(const PlacedType& type) {
  size_t h = type.ranks.size();
  const auto mix = [&h](size_t x) { h = (h ^ x) * 0x9e3779b97f4a7c15U; };
  for (const int64_t rank : type.ranks) mix(static_cast<size_t>(rank));
  for (const Type& t : type.types) mix(TypeHash()(t));
  for (const AxisType& a : type.letters.axes) {
    mix(static_cast<size_t>(a.axis.stride) * 256 +
        static_cast<size_t>(a.letter));
  }
  return h ^ (h >> 32);
}

TypeId TypeIds::id(PlacedType type) {
  GT_CHECK(!type.ranks.empty());
  const bool alike =
      std::all_of(type.types.begin(), type.types.end(),
                  [&](const Type& t) { return t == type.types[0]; });
  if (alike) type.types = std::vector<Type>(1, type.types[0]);
  type.ranks.shrink_to_fit();
  const size_t hash = hash_of(type);
  const auto [begin, end] = placed_ids_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (placed(it->second) == type) return it->second;
  }
  weight_ += weight_of(type);
  TypeId slot = static_cast<TypeId>(placed_.size());
  if (free_.empty()) {
    placed_.push_back(std::move(type));
  } else {
    slot = free_.back();
    free_.pop_back();
    placed_[slot] = std::move(type);
  }
  placed_ids_.emplace(hash, slot | kPlaced);
  return slot | kPlaced;
}

void TypeIds::keep_only(const std::unordered_set<TypeId>& uses) {
  std::erase_if(placed_ids_, [&](const auto& entry) {
    if (uses.count(entry.second) > 0) return false;
    PlacedType& type = placed_[entry.second & ~kPlaced];
    weight_ -= weight_of(type);
    type = {};
    free_.push_back(entry.second & ~kPlaced);
    return true;
  });
  limit_ = std::max(kLimit, 2 * weight_);
  ++rounds_;
}

const Ranks& TypeIds::ranks(TypeId id) const {
  static const Ranks kNone;
  return is_placed(id) ? placed(id).ranks : kNone;
}

std::string TypeIds::describe(TypeId id) const {
  if (!is_placed(id) || placed(id).types.size() == 1) {
    return to_string((*this)[id]);
  }
  const PlacedType& type = placed(id);
  std::string out;
  for (size_t i = 0; i < type.types.size(); ++i) {
    const Type& t = type.types[i];
    const auto before = type.types.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(type.types.begin(), before, t) != before) continue;
    Ranks same;
    for (size_t j = i; j < type.types.size(); ++j) {
      if (type.types[j] == t) same.push_back(type.ranks[j]);
    }
    out += (out.empty() ? "" : " ") + to_string(t) + "@" + to_string(same);
  }
  return out;
}

MeshId MeshIds::id(const Mesh* mesh) {
  if (mesh == nullptr) return 0;
  const auto [it, fresh] = ids_.try_emplace(
      mesh->describe_all(), static_cast<MeshId>(meshes_.size() + 1));
  if (fresh) meshes_.push_back(*mesh);
  return it->second;
}

}  // namespace gt
