#include "check/registers.h"

#include <algorithm>
#include <map>

#include "spmd/join.h"
#include "spmd/rank_set.h"

namespace gt {
namespace {

// All that tells one value from another, as bytes.
void append_bytes(std::string& out, const ShardedValue& value) {
  const auto put = [&out](int64_t n) {
    out.append(reinterpret_cast<const char*>(&n), sizeof n);
  };
  put(static_cast<int64_t>(value.state) * 2 + value.carries_gradient);
  put(static_cast<int64_t>(value.ranks.size()));
  for (const int64_t rank : value.ranks) put(rank);
  put(static_cast<int64_t>(value.bound.size()));
  for (const int64_t rank : value.bound) put(rank);
  put(static_cast<int64_t>(value.type.axes.size()));
  for (const AxisType& a : value.type.axes) {
    put(a.axis.size);
    put(a.axis.stride);
    put(a.letter);
    put(a.pending);
  }
  put(static_cast<int64_t>(value.type.spec.size()));
  for (const SpecEntry& entry : value.type.spec) {
    put(static_cast<int64_t>(entry.size()));
    for (const Axis& axis : entry) {
      put(axis.size);
      put(axis.stride);
    }
  }
  put(static_cast<int64_t>(value.pieces.size()));
  const Type* last = nullptr;
  for (const Type& piece : value.pieces) {
    if (last != nullptr && *last == piece) {
      out += '=';
      continue;
    }
    out += to_string(piece);
    last = &piece;
  }
}

bool is_in(int64_t rank, const std::vector<int64_t>& ranks) {
  return position_of(rank, ranks) < ranks.size();
}

// The value on those of its ranks, the others of which hold another now.
ShardedValue kept(const ShardedValue& value,
                  const std::vector<int64_t>& ranks) {
  ShardedValue out = value;
  if (out.bound.empty()) out.bound = value.ranks;
  out.ranks.clear();
  out.pieces.clear();
  for (size_t p = 0; p < value.ranks.size(); ++p) {
    if (!is_in(value.ranks[p], ranks)) continue;
    out.ranks.push_back(value.ranks[p]);
    if (!value.pieces.empty()) out.pieces.push_back(value.pieces[p]);
  }
  return out;
}

using Parts = std::vector<const ShardedValue*>;

// Of parts on ranks of their own what all of their ranks hold.
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

  // What parts are on the axis alike holds of all only if ranks that differ
  // along it alone have one part: two that were bound apart are unrelated.
  bool is_one_part(const Axis& axis) const {
    std::map<int64_t, const ShardedValue*> lines;
    for (const auto& [rank, part] : part_of_) {
      if (lines.try_emplace(axis.origin(rank), part).first->second != part) {
        return false;
      }
    }
    return true;
  }

  // What reduce leaves beside its root, which was bound anew: nothing is owed.
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

  // A part's cuts by the axes that cut all parts alike.
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
  const SpmdType& first_;
  std::map<int64_t, const ShardedValue*> part_of_;  // by rank
  std::vector<Axis> cuts_;
  ShardedValue value_;
};

}  // namespace

std::vector<std::unique_ptr<std::vector<ShardedValue>>>
CheckRegisters::first() {
  std::vector<std::unique_ptr<std::vector<ShardedValue>>> contents;
  contents.push_back(std::make_unique<std::vector<ShardedValue>>());
  return contents;
}

CheckRegisters::Slot* CheckRegisters::slot(std::string_view name) {
  if (const auto it = slots_.find(name); it != slots_.end()) {
    return &it->second;
  }
  return &slots_.emplace(name, Slot{}).first->second;
}

CheckRegisters::Content CheckRegisters::intern(
    std::vector<ShardedValue> parts) {
  if (parts.empty()) return 0;
  std::string text;
  for (const ShardedValue& part : parts) append_bytes(text, part);
  const auto [it, fresh] = by_text_.try_emplace(
      std::move(text), static_cast<Content>(contents_.size()));
  if (fresh) {
    contents_.push_back(
        std::make_unique<std::vector<ShardedValue>>(std::move(parts)));
  }
  return it->second;
}

std::optional<ShardedValue> read_parts(const std::vector<ShardedValue>& all,
                                       const std::vector<int64_t>& ranks,
                                       const AxisNames& names) {
  Parts holders;
  for (const ShardedValue& part : all) {
    if (part.ranks == ranks) return part;
    const bool holds =
        std::any_of(ranks.begin(), ranks.end(),
                    [&](int64_t rank) { return is_in(rank, part.ranks); });
    if (holds) holders.push_back(&part);
  }
  size_t found = 0;
  for (const ShardedValue* part : holders) {
    for (const int64_t rank : ranks) found += is_in(rank, part->ranks);
  }
  if (holders.empty() || found != ranks.size()) return std::nullopt;
  if (holders.size() == 1) return *holders[0];
  return JoinedParts(holders, ranks).on(names.mesh_axes());
}

CheckRegisters::Content CheckRegisters::with(Content content,
                                             const ShardedValue& value) {
  std::vector<ShardedValue> parts;
  const Content rest = without(content, value.ranks);
  parts = *contents_[rest];
  parts.push_back(value);
  return intern(std::move(parts));
}

namespace {

// Known to be one on all of its ranks.
bool is_whole(const ShardedValue& value, const AxisNames& names) {
  if (value.state != ShardedValue::State::kTyped || value.pieces.empty()) {
    return false;
  }
  for (const Axis& axis : names.mesh_axes()) {
    const char is = value.type.on(axis);
    const bool whole = is == 'R' || is == 'I';
    if (!whole && extent_along(axis, value.ranks) > 1) return false;
  }
  return true;
}

// The value on the ranks of both, which hold the same.
ShardedValue spread(const ShardedValue& part, const ShardedValue& copy,
                    const AxisNames& names) {
  ShardedValue out = part;
  out.bound.clear();
  out.type = SpmdType{};
  out.ranks = together(ascending(part.ranks), ascending(copy.ranks));
  out.pieces.assign(out.ranks.size(), part.pieces[0]);
  for (const Axis& axis : names.mesh_axes()) {
    if (extent_along(axis, out.ranks) < 2) continue;
    const bool same = part.type.on(axis) == 'I' && copy.type.on(axis) == 'I';
    out.type.set(axis, same ? 'I' : 'R');
  }
  return out;
}

}  // namespace

CheckRegisters::Content CheckRegisters::with_copy(
    Content content, const std::vector<int64_t>& from, const ShardedValue& copy,
    const AxisNames& names) {
  for (const ShardedValue& part : *contents_[content]) {
    const Ranks ranks = ascending(part.ranks);
    if (!includes(ranks, ascending(from)) || !is_whole(part, names)) continue;
    const bool apart = common(ranks, ascending(copy.ranks)).empty();
    if (apart && is_whole(copy, names) && copy.pieces[0] == part.pieces[0]) {
      return with(content, spread(part, copy, names));
    }
  }
  return with(content, copy);
}

CheckRegisters::Content CheckRegisters::without(
    Content content, const std::vector<int64_t>& ranks) {
  std::vector<ShardedValue> left;
  for (const ShardedValue& part : *contents_[content]) {
    if (part.ranks == ranks) continue;
    std::vector<int64_t> stay;
    for (const int64_t rank : part.ranks) {
      if (!is_in(rank, ranks)) stay.push_back(rank);
    }
    if (stay.size() == part.ranks.size()) {
      left.push_back(part);
    } else if (!stay.empty()) {
      left.push_back(kept(part, stay));
    }
  }
  return intern(std::move(left));
}

void CheckRegisters::release(std::string_view glob,
                             const std::function<void(Content)>& leaves) {
  for (auto& [name, slot] : slots_) {
    if (slot.content == 0 || !glob_matches(glob, name)) continue;
    leaves(slot.content);
    set(&slot, 0);
  }
}

void CheckRegisters::forget_dead() {
  std::erase_if(slots_,
                [](const auto& item) { return item.second.content == 0; });
  const auto old = std::move(contents_);
  contents_ = first();
  by_text_.clear();
  for (auto& [name, slot] : slots_) slot.content = intern(*old[slot.content]);
  most_ = std::max(kContents, 2 * contents_.size());
}

}  // namespace gt
