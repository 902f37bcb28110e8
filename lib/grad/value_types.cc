#include "grad/value_types.h"

#include <algorithm>
#include <numeric>

#include "stream/ranks.h"

namespace gt::grad {

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

size_t PlacedTypeHash::operator()(const PlacedType& type) const {
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

TypeId ValueTypes::id(PlacedType type) {
  GT_CHECK(!type.ranks.empty());
  const bool alike =
      std::all_of(type.types.begin(), type.types.end(),
                  [&](const Type& t) { return t == type.types[0]; });
  if (alike) type.types = std::vector<Type>(1, type.types[0]);
  type.ranks.shrink_to_fit();
  const size_t weight = weight_of(type);
  const size_t before = placed_.size();
  const TypeId id = placed_.id(std::move(type));
  if (placed_.size() > before) weight_ += weight;
  return id | kPlaced;
}

void ValueTypes::keep_only(const std::unordered_set<TypeId>& uses) {
  weight_ = 0;
  placed_.keep_only([&](TypeId id) {
    const bool is_used = uses.count(id | kPlaced) > 0;
    if (is_used) weight_ += weight_of(placed_[id]);
    return is_used;
  });
  limit_ = std::max(kLimit, 2 * weight_);
  ++rounds_;
}

const Ranks& ValueTypes::ranks(TypeId id) const {
  static const Ranks kNone;
  return is_placed(id) ? placed(id).ranks : kNone;
}

std::string ValueTypes::describe(TypeId id) const {
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

}  // namespace gt::grad
