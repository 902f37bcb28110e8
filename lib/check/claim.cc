#include "check/claim.h"

#include <algorithm>

#include "check/remesh.h"
#include "ops/call.h"
#include "spmd/join.h"

namespace gt {

bool claim(const ClaimIn& in, SpmdType& type, std::vector<Kinded>& problems) {
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
  SpmdType made = type_;
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
    SpmdType one, moved;
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
                          SpmdType& made) {
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
    SpmdType one, moved;
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

bool Claimant::claim_spec(SpmdType& made) {
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
