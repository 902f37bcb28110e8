#include "check/registers.h"

#include <algorithm>

#include "spmd/join.h"

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

// The value on those of its ranks; its type as far as it holds of them.
ShardedValue kept(const ShardedValue& value,
                  const std::vector<int64_t>& ranks) {
  ShardedValue out = value;
  out.ranks.clear();
  out.pieces.clear();
  for (size_t p = 0; p < value.ranks.size(); ++p) {
    if (!is_in(value.ranks[p], ranks)) continue;
    out.ranks.push_back(value.ranks[p]);
    if (!value.pieces.empty()) out.pieces.push_back(value.pieces[p]);
  }
  return out;
}

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
  std::vector<const ShardedValue*> holders;
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
  ShardedValue joined;
  joined.ranks = ranks;
  joined.state = ShardedValue::State::kTyped;
  for (const int64_t rank : ranks) {
    for (const ShardedValue* part : holders) {
      if (part->state != ShardedValue::State::kTyped)
        joined.state = part->state;
      const size_t at = position_of(rank, part->ranks);
      if (at >= part->pieces.size()) continue;
      joined.pieces.push_back(part->pieces[at]);
    }
  }
  if (joined.pieces.size() != ranks.size()) joined.pieces.clear();
  for (const Axis& axis : names.mesh_axes()) {
    if (extent_along(axis, ranks) < 2) continue;
    bool same = true, varies = true;
    const char letter = holders[0]->type.on(axis);
    for (const ShardedValue* part : holders) {
      const char is = part->type.on(axis);
      same = same && is == letter && letter != kUntyped &&
             extent_along(axis, part->ranks) == extent_along(axis, ranks) &&
             part->type.dim_of(axis) == holders[0]->type.dim_of(axis);
      varies = varies && (is == 'R' || is == 'V' || is == kUntyped);
    }
    if (same) {
      joined.type.set(axis, letter, holders[0]->type.pending(axis));
      const int dim = holders[0]->type.dim_of(axis);
      if (dim >= 0) {
        joined.type.shard(axis, static_cast<size_t>(dim),
                          holders[0]->type.spec.size());
      }
    } else if (varies) {
      joined.type.set(axis, 'V');
    }
  }
  return joined;
}

CheckRegisters::Content CheckRegisters::with(Content content,
                                             const ShardedValue& value) {
  if (!value.is_placed()) return intern({value});
  std::vector<ShardedValue> parts;
  const Content rest = without(content, value.ranks);
  parts = *contents_[rest];
  parts.push_back(value);
  return intern(std::move(parts));
}

CheckRegisters::Content CheckRegisters::without(
    Content content, const std::vector<int64_t>& ranks) {
  std::vector<ShardedValue> left;
  for (const ShardedValue& part : *contents_[content]) {
    if (!part.is_placed() || ranks.empty() || part.ranks == ranks) continue;
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
