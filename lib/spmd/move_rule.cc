// Types what moves between ranks without a pair of ends: broadcast, reduce,
// copy, redistribute between specs; and remesh, which moves nothing.
#include <algorithm>
#include <map>
#include <set>

#include "spmd/claim.h"
#include "spmd/remesh.h"
#include "spmd/rules.h"
#include "spmd/specs.h"

namespace gt {

// broadcast gives the root's copy to all ranks; for a sum that is right only if
// the root holds all of it. reduce leaves the sum with the root, and zeros
// elsewhere.
bool broadcast_or_reduce(const ReadLine& in, const std::vector<Axis>& group,
                         Findings& out) {
  const Placement& type = in.operands[0]->type;
  const auto root = group_member(in, in.call.integer("root"));
  if (!root.has_value()) return false;
  const bool broadcasts = in.collective() == Collective::kBroadcast;
  for (const Axis& axis : group) {
    const char is = type.on(axis);
    if (is == kUntyped && !in.in.mode.permissive && !in.in.mode.passes_over) {
      return fail_untyped(0, axis, out);
    }
    const bool whole = type.pending(axis) == root_on(axis, *root);
    const bool sharded = !in.is_local(axis) && type.dim_of(axis) >= 0;
    if (sharded ||
        (broadcasts ? is == 'P' && !whole : is == 'R' || is == 'I')) {
      out.faults.add(
          {.rule = broadcasts ? Rule::kBroadcastsOther : Rule::kReducesOther,
           .axes = {axis},
           .operand = 0,
           .is = sharded ? 'S' : is});
      if (!in.in.mode.passes_over) return false;
    }
    if (broadcasts) {
      out.set_all(axis, is == 'I' ? 'I' : 'R');
    } else {
      out.set_all(axis, 'P', root_on(axis, *root));
    }
  }
  return true;
}

// ---- copy -------------------------------------------------------------------

namespace {

// How a copy by position maps the coordinates along an axis: each to one of its
// own, in order (kInOrder) or not (kApart), or several to one (kTogether).
// `goes` becomes the map.
enum class Taken : uint8_t { kInOrder, kApart, kTogether };

Taken taken(const Axis& axis, const std::vector<int64_t>& from,
            const std::vector<int64_t>& to, std::map<int64_t, int64_t>& goes) {
  std::set<int64_t> ends;
  for (size_t p = 0; p < to.size(); ++p) {
    const int64_t end = axis.coordinate(to[p]);
    const auto [it, fresh] = goes.try_emplace(axis.coordinate(from[p]), end);
    if (it->second != end) return Taken::kTogether;
    ends.insert(end);
  }
  if (ends.size() != goes.size()) return Taken::kTogether;
  const bool in_order = std::equal(
      goes.begin(), goes.end(), ends.begin(),
      [](const auto& went, int64_t end) { return went.second == end; });
  return in_order ? Taken::kInOrder : Taken::kApart;
}

// A value that is not copies keeps its letter on an axis if its pieces stay in
// order; summands may change places.
bool copy_pieces(const ReadLine& in, const Axis& axis, char is, Findings& out) {
  const ShardedValue& value = *in.operands[0];
  std::map<int64_t, int64_t> goes;
  const Taken order = taken(axis, value.ranks, in.ranks(), goes);
  const bool apart = order != Taken::kInOrder;
  const bool sharded = value.type.dim_of(axis) >= 0 && !in.is_local(axis);
  if (order == Taken::kTogether || (apart && sharded)) {
    return out.faults.add(
        {.rule = Rule::kCopyReorders, .axes = {axis}, .operand = 0, .is = is});
  }
  if (in.is_local(axis)) {
    for (Placement& type : out.types) type.unshard(axis);
  }
  if (is != 'P') return true;
  const auto root = goes.find(value.type.pending(axis) - 1);
  const auto pending =
      root == goes.end() ? 0 : static_cast<int32_t>(root->second) + 1;
  out.set_all(axis, is, pending);
  return true;
}

}  // namespace

// Between rank sets of one layout the type stays as it is. The result is R on
// an axis that the source lacks; on an axis that the result lacks, the source
// must be R or I.
bool copy_between_ranks(const ReadLine& in, Findings& out) {
  const ShardedValue& value = *in.operands[0];
  for (const AxisType& a : value.type.axes) {
    if (in.is_within(a.axis) || a.letter == 'R' || a.letter == 'I') continue;
    return out.faults.add({.rule = Rule::kCopyDrops,
                           .axes = {a.axis},
                           .operand = 0,
                           .is = a.letter});
  }
  for (const Axis& axis : in.within) {
    const char is = value.type.on(axis);
    if (is == kUntyped) {
      out.set_all(axis, 'R');
      continue;
    }
    if (value.ranks.size() != in.ranks().size() || is == 'R' || is == 'I') {
      continue;
    }
    // Where the order of pieces is not checked, the letter still holds.
    if (!copy_pieces(in, axis, is, out) && !in.in.mode.passes_over) {
      return false;
    }
  }
  for (Placement& type : out.types) {
    const Placement old = type;
    for (const AxisType& a : old.axes) {
      if (in.is_within(a.axis)) continue;
      type.unshard(a.axis);
      type.drop(a.axis);
    }
  }
  return true;
}

// ---- redistribute between specs ---------------------------------------------

namespace {

bool read_specs(const ReadLine& in, size_t dims, Placement& from, Placement& to,
                Findings& out) {
  const Mesh* mesh = in.names.mesh();
  for (const char* key : {"src_spec", "dst_spec"}) {
    const std::string text = unquote(in.call.key(key));
    const auto entries = parse_spec(text, mesh, dims);
    if (entries.ok()) continue;
    const auto commas = std::count(text.begin(), text.end(), ',');
    const Rule rule = mesh == nullptr ? Rule::kNoMesh
                      : static_cast<size_t>(commas) + 1 != dims
                          ? Rule::kSpecTextLength
                          : Rule::kUnknownAxis;
    return out.faults.add(
        {.rule = rule,
         .text = std::string(key) + "=: " + entries.error().message});
  }
  const auto specs = specs_of(in.line, mesh, dims);
  if (!specs.ok()) {
    return out.faults.add(
        {.rule = Rule::kEndUnread, .text = specs.error().message});
  }
  return in.shard_by(specs.value().src, dims, from) &&
         in.shard_by(specs.value().dst, dims, to);
}

}  // namespace

// Checks that the operand is cut as src_spec= says and by nothing else, and
// that on the other axes in dst_spec= it is whole or a sum. Then types the
// result.
bool redistribute_specs(const ReadLine& in, Findings& out) {
  const ShardedValue& value = *in.operands[0];
  if (value.pieces.empty()) return false;
  Placement from, to;
  if (!read_specs(in, value.pieces[0].shape.size(), from, to, out)) {
    return false;
  }
  Placement stated = from;
  for (const Axis& axis : in.within) {
    if (in.is_local(axis)) stated.unshard(axis);
  }
  if (stated.spec != value.type.spec) {
    return out.faults.add({.rule = Rule::kSpecSource, .operand = 0});
  }
  for (const Axis& axis : in.within) {
    const bool cut = from.dim_of(axis) >= 0;
    if (!cut && to.dim_of(axis) < 0) continue;
    const char is = value.type.on(axis);
    if (is == kUntyped && !in.in.mode.permissive) {
      return fail_untyped(0, axis, out);
    }
    if (is != kUntyped && (cut ? is != 'V' : is == 'V')) {
      return out.faults.add(
          {.rule = Rule::kSpecLetters, .axes = {axis}, .operand = 0, .is = is});
    }
    for (Placement& type : out.types) {
      type.unshard(axis);
      type.set(axis, to.dim_of(axis) >= 0 ? 'V' : 'R');
    }
  }
  for (const Axis& axis : in.within) {
    if (in.is_local(axis)) to.unshard(axis);
  }
  for (Placement& type : out.types) type.spec = to.spec;
  return true;
}

// ---- remesh -----------------------------------------------------------------

namespace {

// Returns the axes that axes= names, and those of type=.
std::optional<std::vector<Axis>> remesh_axes(const ReadLine& in,
                                             const Claim& claim,
                                             Findings& out) {
  std::vector<Axis> to;
  std::string rest = unquote(in.call.key("axes"));
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const auto axes = in.names.find(rest.substr(0, comma));
    if (!axes.ok()) {
      out.faults.add(
          {.rule = Rule::kUnknownAxis, .text = axes.error().message});
      return std::nullopt;
    }
    to.insert(to.end(), axes.value().begin(), axes.value().end());
    rest.erase(0, comma + 1);
  }
  for (const Claim::Item& item : claim.items) {
    to.insert(to.end(), item.axes.begin(), item.axes.end());
  }
  return to;
}

}  // namespace

bool remesh_operand(const ReadLine& in, Findings& out) {
  const std::string stated = unquote(in.call.key("type"));
  const auto claim = parse_claim(stated, "", in.names, out.faults);
  if (!claim.has_value()) return false;
  const auto to = remesh_axes(in, *claim, out);
  if (!to.has_value()) return false;
  const auto made = remesh(in.in.operands[0]->type, *to, out.faults);
  if (!made.has_value()) return false;
  for (const Claim::Item& item : claim->items) {
    for (const Axis& axis : item.axes) {
      const char is = made->on(axis);
      if (is == item.letter()) continue;
      return out.faults.add({.rule = Rule::kRemeshClaim,
                             .axes = {axis},
                             .is = is,
                             .wanted = item.letter()});
    }
  }
  for (Placement& type : out.types) type = *made;
  return true;
}

}  // namespace gt
