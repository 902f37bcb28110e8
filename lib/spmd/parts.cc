#include "spmd/parts.h"

#include <algorithm>
#include <map>

#include "spmd/rank_set.h"

namespace gt {
namespace {

using Parts = std::vector<const ShardedValue*>;

// Joins parts on disjoint ranks to one value on all of these ranks.
class JoinedParts {
 public:
  JoinedParts(const Parts& parts, const std::vector<int64_t>& wanted)
      : parts_(parts), first_(parts[0]->type) {
    for (const ShardedValue* part : parts) {
      for (const int64_t rank : part->ranks) part_of_[rank] = part;
    }
    value_.state = ShardedValue::State::kTyped;
    for (const auto& [rank, part] : part_of_) value_.ranks.push_back(rank);
    if (ascending(wanted) == value_.ranks) value_.ranks = wanted;
    join_pieces();
  }

  ShardedValue on(const std::vector<Axis>& axes) && {
    for (const Axis& axis : axes) {
      if (extent_along(axis, value_.ranks) > 1) join_on(axis);
    }
    join_cuts();
    return std::move(value_);
  }

 private:
  void join_pieces() {
    for (const int64_t rank : value_.ranks) {
      const ShardedValue& part = *part_of_.at(rank);
      if (part.state != ShardedValue::State::kTyped) value_.state = part.state;
      const size_t at = position_of(rank, part.ranks);
      if (at < part.pieces.size()) value_.pieces.push_back(part.pieces[at]);
    }
    if (value_.pieces.size() != value_.ranks.size()) value_.pieces.clear();
  }

  // True if ranks that differ along the axis alone always belong to one part.
  // If not, values that were bound separately meet along it and are unrelated,
  // even if all parts have one letter there.
  bool is_one_part(const Axis& axis) const {
    std::map<int64_t, const ShardedValue*> lines;
    for (const auto& [rank, part] : part_of_) {
      if (lines.try_emplace(axis.origin(rank), part).first->second != part) {
        return false;
      }
    }
    return true;
  }

  // True if the part is what reduce left on the ranks other than its root, and
  // the root was bound again: zeros, which add nothing to any sum.
  static bool has_lost_root(const ShardedValue& part, const Axis& axis) {
    const int32_t root = part.type.pending(axis) - 1;
    return part.type.on(axis) == 'P' && root >= 0 &&
           std::none_of(
               part.ranks.begin(), part.ranks.end(),
               [&](int64_t rank) { return axis.coordinate(rank) == root; });
  }

  void join_on(const Axis& axis) {
    const char letter = first_.on(axis);
    const int32_t pending = first_.pending(axis);
    const int dim = first_.dim_of(axis);
    bool same = letter != kUntyped && is_one_part(axis), varies = true;
    for (const ShardedValue* part : parts_) {
      const char is = part->type.on(axis);
      const bool whole = is == 'R' || is == 'I' || part->bound.empty() ||
                         has_whole_lines(axis, part->ranks, part->bound);
      same = same && whole && is == letter && part->type.dim_of(axis) == dim &&
             part->type.pending(axis) == pending;
      varies = varies && (is == 'R' || is == 'V' || is == kUntyped ||
                          has_lost_root(*part, axis));
    }
    if (same) {
      value_.type.set(axis, letter, pending);
      if (dim >= 0) cuts_.push_back(axis);
    } else if (varies) {
      value_.type.set(axis, 'V');
    }
  }

  // Returns a part's cuts, by the axes that cut all parts alike.
  std::vector<SpecEntry> cuts_of(const ShardedValue& part) const {
    std::vector<SpecEntry> spec = part.type.spec;
    for (SpecEntry& entry : spec) {
      std::erase_if(entry, [this](const Axis& axis) {
        return std::find(cuts_.begin(), cuts_.end(), axis) == cuts_.end();
      });
    }
    return spec;
  }

  void join_cuts() {
    if (cuts_.empty()) return;
    std::vector<SpecEntry> spec = cuts_of(*parts_[0]);
    const bool alike =
        std::all_of(parts_.begin(), parts_.end(),
                    [&](const ShardedValue* p) { return cuts_of(*p) == spec; });
    if (alike) value_.type.spec = std::move(spec);
  }

  const Parts& parts_;
  const Placement& first_;
  std::map<int64_t, const ShardedValue*> part_of_;  // by rank
  std::vector<Axis> cuts_;
  ShardedValue value_;
};

}  // namespace

std::optional<ShardedValue> read_parts(const std::vector<ShardedValue>& all,
                                       const std::vector<int64_t>& ranks,
                                       const AxisNames& names) {
  Parts holders;
  for (const ShardedValue& part : all) {
    if (part.ranks == ranks) return part;
    const bool holds =
        std::any_of(ranks.begin(), ranks.end(),
                    [&](int64_t rank) { return contains(part.ranks, rank); });
    if (holds) holders.push_back(&part);
  }
  size_t found = 0;
  for (const ShardedValue* part : holders) {
    for (const int64_t rank : ranks) found += contains(part->ranks, rank);
  }
  if (holders.empty() || found != ranks.size()) return std::nullopt;
  if (holders.size() == 1) return *holders[0];
  return JoinedParts(holders, ranks).on(names.mesh_axes());
}

}  // namespace gt
