#include "spmd/claim.h"

#include <algorithm>
#include <utility>

#include "ops/call.h"
#include "spmd/remesh.h"

namespace gt {

// ---- the notes' texts -------------------------------------------------------

namespace {

// Removes the text up to the first `c`, and that character, from the front of
// `text`, and returns what was before `c`.
std::string_view take_until(std::string_view& text, char c) {
  const std::string_view word = text.substr(0, text.find(c));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

}  // namespace

std::vector<TypeItem> type_items(std::string_view text) {
  std::vector<TypeItem> items;
  if (!text.empty() && text.find(':') == std::string_view::npos) {
    items.push_back({"", text});
    return items;
  }
  while (!text.empty()) {
    std::string_view end = take_until(text, ',');
    const std::string_view axis = take_until(end, ':');
    items.push_back({axis, end});
  }
  return items;
}

std::vector<std::vector<std::string_view>> spec_items(std::string_view text) {
  std::vector<std::vector<std::string_view>> spec;
  for (;;) {
    const bool is_last = text.find(',') == std::string_view::npos;
    std::string_view word = take_until(text, ',');
    auto& entry = spec.emplace_back();
    while (!word.empty() && word != "-") entry.push_back(take_until(word, '+'));
    if (is_last) return spec;
  }
}

namespace {

// Returns the axes that a note names; nothing, and a fault, for an unknown one.
std::optional<std::vector<Axis>> axes_named(std::string_view name,
                                            const AxisNames& names,
                                            TypeFaults& faults) {
  auto axes = names.find(name);
  if (axes.ok()) return std::move(axes.value());
  faults.add(
      {.rule = names.mesh() == nullptr ? Rule::kNoMesh : Rule::kUnknownAxis,
       .text = axes.error().message,
       .more = std::string(name)});
  return std::nullopt;
}

bool take_items(std::string_view text, const AxisNames& names, Claim& claim,
                TypeFaults& faults) {
  for (const TypeItem& item : type_items(text)) {
    claim.all = item.axis.empty() && text.find(':') == std::string_view::npos;
    std::vector<Axis> axes;
    if (!claim.all) {
      auto named = axes_named(item.axis, names, faults);
      if (!named.has_value()) return false;
      axes = std::move(*named);
    }
    const auto end = parse_end(item.end);
    if (!end.ok()) {
      return faults.add({.rule = Rule::kUnknownAxis,
                         .text = end.error().message,
                         .more = std::string(item.axis)});
    }
    claim.items.push_back({std::move(axes), end.value()});
  }
  return true;
}

bool take_spec(std::string_view text, const AxisNames& names, Claim& claim,
               TypeFaults& faults) {
  claim.has_spec = true;
  for (const auto& entry : spec_items(text)) {
    SpecEntry& of = claim.spec.emplace_back();
    for (const std::string_view name : entry) {
      const auto axes = axes_named(name, names, faults);
      if (!axes.has_value()) return false;
      of.insert(of.end(), axes->begin(), axes->end());
    }
  }
  return true;
}

// Checks that the axes of one type are coordinates of a grid together.
bool check_apart(std::string_view text, const Claim& claim,
                 TypeFaults& faults) {
  const std::vector<TypeItem> items = type_items(text);
  std::vector<Axis> typed;
  for (size_t i = 0; i < claim.items.size(); ++i) {
    for (const Axis& axis : claim.items[i].axes) {
      if (std::find(typed.begin(), typed.end(), axis) != typed.end() &&
          axis.size > 1) {
        return faults.add(
            {.rule = Rule::kAxisTwice, .more = std::string(items[i].axis)});
      }
      typed.push_back(axis);
    }
  }
  if (are_independent(typed)) return true;
  return faults.add({.rule = Rule::kAxesOverlap,
                     .text = std::string(text),
                     .more = std::string(items[0].axis)});
}

}  // namespace

std::optional<Claim> parse_claim(std::string_view type, std::string_view spec,
                                 const AxisNames& names, TypeFaults& faults) {
  Claim claim;
  if (!take_items(type, names, claim, faults)) return std::nullopt;
  if (!spec.empty() && !take_spec(spec, names, claim, faults)) {
    return std::nullopt;
  }
  if (!check_apart(type, claim, faults)) return std::nullopt;
  return claim;
}

// ---- what comes of a claim --------------------------------------------------

namespace {

using Items = std::vector<std::pair<Axis, const Claim::Item*>>;

class Claimant {
 public:
  Claimant(const ClaimIn& in, const Claim& claim, TypeFaults& faults)
      : in_(in), claim_(claim), faults_(faults) {}

  std::optional<Placement> run(const Placement& known) {
    Items items;
    for (const Claim::Item& item : claim_.items) {
      const std::vector<Axis>& axes = claim_.all ? in_.within : item.axes;
      for (const Axis& axis : axes) items.emplace_back(axis, &item);
    }
    if (!check_dims(items)) return std::nullopt;
    Placement made = known;
    if (made.axes.empty()) {
      take_all(items, made);
    } else {
      if (!move(items)) return std::nullopt;
      for (const auto& [axis, item] : items) {
        const bool fits = claim_axis(axis, *item, made);
        if (!fits && !in_.passes_over) return std::nullopt;
      }
    }
    const bool is_known = !known.axes.empty();
    if (claim_.has_spec && !claim_spec(is_known, made)) return std::nullopt;
    return made;
  }

 private:
  size_t dim_of(const Claim::Item& item) const {
    return static_cast<size_t>(normal_axis(item.end.dim, in_.dims));
  }

  // Checks the dimensions. Two axes that claim one dimension need #spec=, which
  // says which is the outer one.
  bool check_dims(const Items& items) {
    std::vector<bool> taken(in_.dims);
    for (const auto& [axis, item] : items) {
      if (item->end.letter != 'S') continue;
      const int64_t d = normal_axis(item->end.dim, in_.dims);
      if (d < 0) {
        return faults_.add({.rule = Rule::kClaimRange,
                            .axes = {axis},
                            .dim = item->end.dim,
                            .n = static_cast<int64_t>(in_.dims)});
      }
      if (taken[static_cast<size_t>(d)]) {
        return faults_.add(
            {.rule = Rule::kClaimedTwice, .axes = {axis}, .dim = d});
      }
      taken[static_cast<size_t>(d)] = true;
    }
    if (!claim_.has_spec) return true;
    if (claim_.spec.size() != in_.dims) {
      return faults_.add({.rule = Rule::kSpecLength,
                          .n = static_cast<int64_t>(claim_.spec.size()),
                          .m = static_cast<int64_t>(in_.dims)});
    }
    for (const auto& [axis, item] : items) {
      if (item->end.letter != 'S') continue;
      return faults_.add(
          {.rule = Rule::kSpecBoth, .axes = {axis}, .dim = item->end.dim});
    }
    return true;
  }

  // Takes over all that is stated, since nothing is known yet.
  void take_all(const Items& items, Placement& made) const {
    for (const auto& [axis, item] : items) {
      made.set(axis, item->letter());
      if (item->end.letter == 'S' && !in_.is_local(axis)) {
        made.shard(axis, dim_of(*item), in_.dims);
      }
    }
  }

  // Returns the axes of the current mesh that an axis of another mesh stands
  // for.
  std::optional<std::vector<Axis>> current(const Axis& axis, char letter) {
    Placement one;
    one.set(axis, letter);
    const auto moved = remesh_to_current(one, in_.names, faults_);
    if (!moved.has_value()) return std::nullopt;
    std::vector<Axis> axes;
    for (const AxisType& a : moved->axes) axes.push_back(a.axis);
    return axes;
  }

  // Translates claims on axes of another mesh to the axes of the current one.
  bool move(Items& items) {
    Items moved;
    for (const auto& [axis, item] : items) {
      if (in_.names.is_current(axis)) {
        moved.emplace_back(axis, item);
        continue;
      }
      const auto axes = current(axis, item->letter());
      if (!axes.has_value()) return false;
      for (const Axis& a : *axes) moved.emplace_back(a, item);
    }
    items = std::move(moved);
    return true;
  }

  bool claim_axis(const Axis& axis, const Claim::Item& item, Placement& made) {
    if (!contains(in_.within, axis)) return true;
    const char is = made.on(axis);
    const char wanted = item.letter();
    const int dim = made.dim_of(axis);
    const bool pends = is == 'V' && wanted == 'P' && dim < 0;
    // Copies (R) are not unrelated values (V), but where no faults are
    // reported, a claim to that effect about a source is believed.
    const bool declares =
        in_.is_source && is == 'R' && (wanted != 'V' || in_.passes_over);
    const bool fits = is == kUntyped || is == wanted || pends || declares;
    if (!fits) {
      return faults_.add({.rule = Rule::kClaimUnlike,
                          .axes = {axis},
                          .dim = item.end.dim,
                          .n = in_.is_source ? 1 : 0,
                          .m = dim,
                          .is = is,
                          .wanted = item.end.letter});
    }
    if (is != wanted) made.set(axis, wanted);
    if (item.end.letter != 'S' || in_.is_local(axis)) return true;
    return claim_shard(axis, dim_of(item), made);
  }

  bool claim_shard(const Axis& axis, size_t d, Placement& made) {
    const int dim = made.dim_of(axis);
    if (dim == static_cast<int>(d)) return true;
    if (dim >= 0) {
      return faults_.add({.rule = Rule::kClaimOtherDim,
                          .axes = {axis},
                          .dim = static_cast<int64_t>(d),
                          .n = dim});
    }
    if (made.is_sharded() && !made.spec[d].empty()) {
      return faults_.add({.rule = Rule::kClaimTaken,
                          .axes = {axis},
                          .dim = static_cast<int64_t>(d),
                          .seen = made});
    }
    made.shard(axis, d, in_.dims);
    return true;
  }

  bool claim_spec(bool is_known, Placement& made) {
    for (size_t d = 0; d < claim_.spec.size(); ++d) {
      SpecEntry entry = claim_.spec[d];
      if (is_known && !expand(entry)) return false;
      if (!claim_entry(entry, d, made)) return false;
    }
    return true;
  }

  bool expand(SpecEntry& entry) {
    SpecEntry moved;
    for (const Axis& axis : entry) {
      const auto axes = current(axis, 'V');
      if (!axes.has_value()) return false;
      moved.insert(moved.end(), axes->begin(), axes->end());
    }
    entry = std::move(moved);
    return true;
  }

  bool claim_entry(const SpecEntry& entry, size_t d, Placement& made) {
    for (const Axis& axis : entry) {
      if (!check_entry(entry, axis, d, made)) return false;
    }
    const SpecEntry none;
    const SpecEntry& known = made.is_sharded() ? made.spec[d] : none;
    SpecEntry stated;
    for (const Axis& axis : entry) {
      if (axis.size > 1) stated.push_back(axis);
    }
    if (!known.empty() && known != stated) {
      SpecEntry first = stated;
      first.resize(std::min<size_t>(first.size(), 1));
      return faults_.add(
          {.rule = Rule::kSpecUnlike, .axes = first, .seen = made});
    }
    if (in_.is_local_mode || !known.empty()) return true;
    for (const Axis& axis : stated) made.shard(axis, d, in_.dims);
    return true;
  }

  bool check_entry(const SpecEntry& entry, const Axis& axis, size_t d,
                   Placement& made) {
    const char is = made.on(axis);
    if (is == kUntyped && axis.size > 1) {
      made.set(axis, 'V');
    } else if (is != 'V' && axis.size > 1) {
      return faults_.add({.rule = Rule::kSpecLetter, .axes = {axis}, .is = is});
    }
    const auto rest = claim_.spec.begin() + static_cast<std::ptrdiff_t>(d) + 1;
    if (std::count(entry.begin(), entry.end(), axis) > 1 ||
        std::any_of(rest, claim_.spec.end(),
                    [&](const SpecEntry& e) { return contains(e, axis); })) {
      return faults_.add({.rule = Rule::kSpecTwice, .axes = {axis}});
    }
    const int dim = made.dim_of(axis);
    if (dim < 0 || static_cast<size_t>(dim) == d) return true;
    return faults_.add({.rule = Rule::kSpecOtherDim,
                        .axes = {axis},
                        .dim = static_cast<int64_t>(d),
                        .n = dim});
  }

  const ClaimIn& in_;
  const Claim& claim_;
  TypeFaults& faults_;
};

}  // namespace

std::optional<Placement> claimed(const ClaimIn& in, const Placement& known,
                                 TypeFaults& faults) {
  const auto claim = parse_claim(in.type, in.spec, in.names, faults);
  if (!claim.has_value()) return std::nullopt;
  return Claimant(in, *claim, faults).run(known);
}

}  // namespace gt
