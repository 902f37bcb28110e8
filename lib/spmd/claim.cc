#include "spmd/claim.h"

#include <algorithm>

#include "base/message.h"
#include "base/text.h"
#include "ops/call.h"
#include "ops/ends.h"
#include "spmd/remesh.h"

namespace gt {
namespace {

bool take_type_items(std::string_view text, const AxisNames& names,
                     Claim& claim, Kinded& problem) {
  if (text.empty()) return true;
  if (text.find(':') == std::string_view::npos) {
    const auto end = parse_end(text);
    if (!end.ok()) {
      problem = {"axis-unknown", "", end.error().message};
      return false;
    }
    claim.all = true;
    claim.items.push_back({{}, "", end.value().letter, end.value().dim});
    return true;
  }
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t colon = std::min(word.find(':'), word.size());
    const std::string name(word.substr(0, colon));
    const auto end = parse_end(word.substr(std::min(colon + 1, word.size())));
    const auto axes = names.find(name);
    if (!axes.ok() || !end.ok()) {
      problem = {names.mesh() == nullptr ? "no-mesh" : "axis-unknown", name,
                 axes.ok() ? end.error().message : axes.error().message};
      return false;
    }
    claim.items.push_back(
        {axes.value(), name, end.value().letter, end.value().dim});
  }
  return true;
}

bool take_spec_entries(std::string_view text, const AxisNames& names,
                       Claim& claim, Kinded& problem) {
  claim.has_spec = true;
  for (;;) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    SpecEntry& entry = claim.spec.emplace_back();
    while (word != "-" && !word.empty()) {
      const size_t plus = std::min(word.find('+'), word.size());
      const std::string name(word.substr(0, plus));
      const auto axes = names.find(name);
      if (!axes.ok()) {
        problem = {names.mesh() == nullptr ? "no-mesh" : "axis-unknown", name,
                   axes.error().message};
        return false;
      }
      entry.insert(entry.end(), axes.value().begin(), axes.value().end());
      word.remove_prefix(std::min(plus + 1, word.size()));
    }
    if (comma == text.size()) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

bool parse_claim(std::string_view type, std::string_view spec,
                 const AxisNames& names, Claim& claim, Kinded& problem) {
  if (!take_type_items(type, names, claim, problem)) return false;
  if (!spec.empty() && !take_spec_entries(spec, names, claim, problem)) {
    return false;
  }
  std::vector<Axis> typed;
  for (const Claim::Item& item : claim.items) {
    for (const Axis& axis : item.axes) {
      if (std::find(typed.begin(), typed.end(), axis) != typed.end() &&
          axis.size > 1) {
        problem = {"overlap", item.name, "the axis is typed twice"};
        return false;
      }
      typed.push_back(axis);
    }
  }
  if (!are_independent(typed)) {
    problem = {"overlap", claim.items[0].name,
               "axes of one type share ranks without being independent: " +
                   std::string(type)};
    return false;
  }
  return true;
}

bool claim(const ClaimIn& in, Placement& type, std::vector<Kinded>& problems) {
  Claim claim;
  Kinded problem;
  if (!parse_claim(in.type, in.spec, in.names, claim, problem)) {
    problems.push_back(problem);
    return false;
  }
  return Claimant(in, claim, type, problems).run();
}

bool Claimant::fail(const char* kind, const Axis* axis, std::string message) {
  problems_.push_back(
      {kind, axis == nullptr ? "" : in_.names.name(*axis), std::move(message)});
  return false;
}

bool Claimant::run() {
  Items items;
  for (const Claim::Item& item : claim_.items) {
    const std::vector<Axis>& axes = claim_.all ? in_.within : item.axes;
    for (const Axis& axis : axes) items.emplace_back(axis, &item);
  }
  if (!check_dims(items)) return false;
  Placement made = type_;
  if (made.axes.empty()) {
    // Nothing is known yet: all that is stated holds.
    for (const auto& [axis, item] : items) {
      made.set(axis, item->letter == 'S' ? 'V' : item->letter);
      if (item->letter == 'S' && !in_.is_local(axis)) {
        made.shard(axis, dim_of(*item), in_.dims);
      }
    }
  } else {
    if (!move(items)) return false;
    for (const auto& [axis, item] : items) {
      if (!claim_axis(axis, *item, made)) return false;
    }
  }
  if (claim_.has_spec && !claim_spec(made)) return false;
  type_ = std::move(made);
  return true;
}

// Two axes that claim one dimension need #spec=, which says the outer one.
bool Claimant::check_dims(const Items& items) {
  std::vector<bool> taken(in_.dims);
  for (const auto& [axis, item] : items) {
    if (item->letter != 'S') continue;
    const int64_t d = normal_axis(item->dim, in_.dims);
    if (d < 0) {
      return fail("shard-range", &axis,
                  "S" + std::to_string(item->dim) + " of a tensor of " +
                      std::to_string(in_.dims) + " dimensions");
    }
    if (taken[static_cast<size_t>(d)]) {
      return fail(
          "shard-dup", &axis,
          "dimension " + std::to_string(d) +
              " is claimed by two axes; #spec= says which is the outer");
    }
    taken[static_cast<size_t>(d)] = true;
  }
  if (!claim_.has_spec) return true;
  if (claim_.spec.size() != in_.dims) {
    return fail("spec-len", nullptr,
                "the spec has " + std::to_string(claim_.spec.size()) +
                    " entries, the tensor " + std::to_string(in_.dims) +
                    " dimensions");
  }
  for (const auto& [axis, item] : items) {
    if (item->letter == 'S') {
      return fail("spec-both", &axis,
                  "S" + std::to_string(item->dim) + " stands beside #spec=");
    }
  }
  return true;
}

size_t Claimant::dim_of(const Claim::Item& item) const {
  return static_cast<size_t>(normal_axis(item.dim, in_.dims));
}

// Claims on axes of another mesh speak of the current one's.
bool Claimant::move(Items& items) {
  Items current;
  for (const auto& [axis, item] : items) {
    if (in_.names.is_current(axis)) {
      current.emplace_back(axis, item);
      continue;
    }
    Placement one, moved;
    Kinded problem;
    one.set(axis, item->letter == 'S' ? 'V' : item->letter);
    if (!remesh_to_current(one, in_.names, moved, problem)) {
      problems_.push_back(problem);
      return false;
    }
    for (const AxisType& a : moved.axes) current.emplace_back(a.axis, item);
  }
  items = std::move(current);
  return true;
}

bool Claimant::claim_axis(const Axis& axis, const Claim::Item& item,
                          Placement& made) {
  if (std::find(in_.within.begin(), in_.within.end(), axis) ==
      in_.within.end()) {
    return true;
  }
  const char is = made.on(axis);
  const char wanted = item.letter == 'S' ? 'V' : item.letter;
  const int dim = made.dim_of(axis);
  const bool pends = is == 'V' && wanted == 'P' && dim < 0;
  const bool declares = in_.is_source && is == 'R' && wanted != 'V';
  if (is == kUntyped || is == wanted || pends || declares) {
    if (is != wanted) made.set(axis, wanted);
  } else {
    return fail(
        "assert", &axis,
        std::string("claimed ") + item.letter +
            (item.letter == 'S' ? std::to_string(item.dim) : "") +
            ", but it is " + is +
            (dim >= 0 ? ", sharded on dimension " + std::to_string(dim) : "") +
            (in_.is_source && item.letter == 'S'
                 ? "; split=" + in_.names.name(axis) + ":" +
                       std::to_string(item.dim) + " is what cuts"
                 : ""));
  }
  if (item.letter != 'S' || in_.is_local(axis)) return true;
  const size_t d = dim_of(item);
  if (dim == static_cast<int>(d)) return true;
  if (dim >= 0) {
    return fail("spec-conflict", &axis,
                "claimed to shard dimension " + std::to_string(d) +
                    ", but it shards " + std::to_string(dim));
  }
  if (made.is_sharded() && !made.spec[d].empty()) {
    return fail("spec-conflict", &axis,
                "dimension " + std::to_string(d) + " is sharded already, by " +
                    in_.names.spec_text(made, true));
  }
  made.shard(axis, d, in_.dims);
  return true;
}

// Axes of another mesh as those of the current one.
bool Claimant::expand(SpecEntry& entry) {
  SpecEntry current;
  for (const Axis& axis : entry) {
    Placement one, moved;
    Kinded problem;
    one.set(axis, 'V');
    if (!remesh_to_current(one, in_.names, moved, problem)) {
      problems_.push_back(problem);
      return false;
    }
    for (const AxisType& a : moved.axes) current.push_back(a.axis);
  }
  entry = std::move(current);
  return true;
}

bool Claimant::claim_spec(Placement& made) {
  const bool known_axes = !type_.axes.empty();
  for (size_t d = 0; d < claim_.spec.size(); ++d) {
    SpecEntry entry = claim_.spec[d];
    if (known_axes && !expand(entry)) return false;
    for (const Axis& axis : entry) {
      const char is = made.on(axis);
      if (is == kUntyped && axis.size > 1) {
        made.set(axis, 'V');
      } else if (is != 'V' && axis.size > 1) {
        return fail("spec-type", &axis,
                    std::string("#spec= names the axis, which is ") + is);
      }
      if (std::count(entry.begin(), entry.end(), axis) > 1 ||
          std::any_of(claim_.spec.begin() + static_cast<long>(d) + 1,
                      claim_.spec.end(), [&](const SpecEntry& e) {
                        return std::find(e.begin(), e.end(), axis) != e.end();
                      })) {
        return fail("shard-dup", &axis, "#spec= names the axis twice");
      }
      const int dim = made.dim_of(axis);
      if (dim >= 0 && static_cast<size_t>(dim) != d) {
        return fail("spec-conflict", &axis,
                    "#spec= has it on dimension " + std::to_string(d) +
                        ", but it shards " + std::to_string(dim));
      }
    }
    const SpecEntry none;
    const SpecEntry& known = made.is_sharded() ? made.spec[d] : none;
    SpecEntry stated;
    for (const Axis& axis : entry) {
      if (axis.size > 1) stated.push_back(axis);
    }
    if (!known.empty() && known != stated) {
      return fail("spec-conflict", stated.empty() ? nullptr : &stated[0],
                  "#spec= contradicts what is known, " +
                      in_.names.spec_text(made, true));
    }
    if (in_.is_local_mode || !known.empty()) continue;
    for (const Axis& axis : stated) made.shard(axis, d, in_.dims);
  }
  return true;
}

}  // namespace gt
