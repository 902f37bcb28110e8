#include "check/registers.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/hash.h"
#include "spmd/rank_set.h"
#include "stream/ranks.h"

namespace gt::check {
namespace {

// Appends everything that distinguishes two values, as bytes.
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

// Returns the value on some of its ranks, if the others hold another value now.
ShardedValue kept(const ShardedValue& value,
                  const std::vector<int64_t>& ranks) {
  ShardedValue out = value;
  if (out.bound.empty()) out.bound = value.ranks;
  out.ranks.clear();
  out.pieces.clear();
  for (size_t p = 0; p < value.ranks.size(); ++p) {
    if (!contains(ranks, value.ranks[p])) continue;
    out.ranks.push_back(value.ranks[p]);
    if (!value.pieces.empty()) out.pieces.push_back(value.pieces[p]);
  }
  return out;
}

}  // namespace

size_t CheckRegisters::Hash::operator()(
    const std::vector<ShardedValue>& parts) const {
  std::string text;
  for (const ShardedValue& part : parts) append_bytes(text, part);
  return hash_bytes(text);
}

Content CheckRegisters::intern(std::vector<ShardedValue> parts) {
  return parts.empty() ? kNoType : contents_.id(std::move(parts));
}

Content CheckRegisters::with(Content content, const ShardedValue& value) {
  std::vector<ShardedValue> parts;
  const Content rest = without(content, value.ranks);
  parts = contents_[rest];
  parts.push_back(value);
  return intern(std::move(parts));
}

namespace {

// True if the value is known to be whole on each of its ranks.
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

// Returns one value on the ranks of both, which hold the same.
ShardedValue spread(const ShardedValue& part, const ShardedValue& copy,
                    const AxisNames& names) {
  ShardedValue out = part;
  out.bound.clear();
  out.type = Placement{};
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

Content CheckRegisters::with_copy(Content content,
                                  const std::vector<int64_t>& from,
                                  const ShardedValue& copy,
                                  const AxisNames& names) {
  for (const ShardedValue& part : contents_[content]) {
    const Ranks ranks = ascending(part.ranks);
    if (!includes(ranks, ascending(from)) || !is_whole(part, names)) continue;
    const bool apart = common(ranks, ascending(copy.ranks)).empty();
    if (apart && is_whole(copy, names) && copy.pieces[0] == part.pieces[0]) {
      return with(content, spread(part, copy, names));
    }
  }
  return with(content, copy);
}

Content CheckRegisters::without(Content content,
                                const std::vector<int64_t>& ranks) {
  std::vector<ShardedValue> left;
  for (const ShardedValue& part : contents_[content]) {
    if (part.ranks == ranks) continue;
    std::vector<int64_t> stay;
    for (const int64_t rank : part.ranks) {
      if (!contains(ranks, rank)) stay.push_back(rank);
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
  for (SymbolId id = 0; id < size(); ++id) {
    if (content(id) == kNoType || !glob_matches(glob, name_of(id))) continue;
    leaves(content(id));
    set(id, kNoType);
  }
}

void CheckRegisters::forget_dead() {
  std::unordered_set<Content> held;
  for (SymbolId id = 0; id < size(); ++id) held.insert(content(id));
  contents_.keep_only([&](Content content) { return held.count(content) > 0; });
  most_ = std::max(kContents, 2 * contents_.size());
}

std::vector<std::string> CheckRegisters::some_full_names() const {
  std::vector<std::string> names;
  for (const std::string_view name : some_live_names()) {
    for (const ShardedValue& part : parts(content(find(name)))) {
      names.push_back(full_name(
          name, part.ranks.empty() ? "" : to_string(ascending(part.ranks))));
    }
  }
  return names;
}

}  // namespace gt::check
