#include "shard/claims.h"

#include <algorithm>
#include <cstdint>

#include "spmd/claim.h"
#include "stream/notes.h"

namespace gt::shard {
namespace {

// No setting of the config has this number.
constexpr size_t kNoSetting = SIZE_MAX;

// Calls f(axis, end) for each item of a type such as "dp:S0,tp:R" that can be
// read.
template <typename F>
void for_each_type(std::string_view type, F f) {
  for (const TypeItem& item : type_items(type)) {
    const auto end = parse_end(item.end);
    if (end.ok() && !item.axis.empty()) f(item.axis, end.value());
  }
}

// Calls f(axis, dim) for each axis in a spec such as "dp+tp,-". The outer axis
// of a dimension comes first.
template <typename F>
void for_each_cut(std::string_view spec, F f) {
  int64_t dim = 0;
  for (const auto& axes : spec_items(spec)) {
    for (const std::string_view axis : axes) f(axis, dim);
    ++dim;
  }
}

bool is_claim(const Note& note) {
  return note.key == "type" || note.key == "spec" || note.key == "partial" ||
         note.key == "local" || note.key == "unchecked";
}

}  // namespace

Claims take_claims(Line& line) {
  Claims claims;
  if (std::none_of(line.notes.begin(), line.notes.end(), is_claim)) {
    return claims;
  }
  if (const std::string_view* type = line.note("type")) {
    claims.type = part_of_result(unquote(*type), 0);
  }
  if (const std::string_view* spec = line.note("spec")) {
    claims.spec = part_of_result(unquote(*spec), 0);
  }
  std::erase_if(line.notes, is_claim);
  return claims;
}

std::optional<CutSetting> wished_cuts(const Claims& claims) {
  CutSetting wish{{}, 0, kNoSetting};
  const auto add = [&](std::string_view axis, int64_t dim) {
    const bool is_there =
        std::any_of(wish.cuts.begin(), wish.cuts.end(),
                    [&](const SplitEntry& cut) { return cut.axis == axis; });
    if (!is_there) wish.cuts.push_back({std::string(axis), dim, 1});
  };
  for_each_cut(claims.spec, add);
  for_each_type(claims.type, [&](std::string_view axis, const End& end) {
    if (end.letter == 'S') add(axis, end.dim);
  });
  if (wish.cuts.empty()) return std::nullopt;
  return wish;
}

bool claims_hold(const Claims& claims, const Cluster& cluster,
                 const Layout& layout) {
  bool all = true;
  const auto is_cut = [&](std::string_view name, int64_t dim) {
    const size_t axis = cluster.axis_index(name);
    if (axis == cluster.axes()) return true;
    const AxisCut* cut = layout.cut_of(axis);
    return cut != nullptr && (dim < 0 || cut->dim == dim);
  };
  for_each_cut(claims.spec, [&](std::string_view axis, int64_t dim) {
    all = all && is_cut(axis, dim);
  });
  for_each_type(claims.type, [&](std::string_view name, const End& end) {
    const size_t axis = cluster.axis_index(name);
    if (axis == cluster.axes()) return;
    const bool cut = layout.cut_of(axis) != nullptr;
    const bool so = end.letter == 'S'   ? is_cut(name, end.dim)
                    : end.letter == 'V' ? cut
                    : end.letter == 'P' ? layout.is_partial(axis)
                                        : !cut && !layout.is_partial(axis);
    all = all && so;
  });
  return all;
}

}  // namespace gt::shard
