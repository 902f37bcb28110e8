// The order of a group, and what moves between ranks without a pair of types:
// broadcast, reduce, copy; and remesh, which moves nothing.
#include <algorithm>
#include <map>
#include <set>

#include "check/judge.h"
#include "spmd/join.h"
#include "spmd/remesh.h"
#include "spmd/specs.h"
#include "stream/ranks.h"

namespace gt {

// The rank at a position of its group; the coordinates of other groups' are the
// same. None: there is no such position, which is told with the shapes.
std::optional<int64_t> Judge::member(int64_t position) const {
  const auto grid = Grid::make(in_.names.mesh(), in_.where->ranks);
  if (!grid.ok()) return std::nullopt;
  const auto groups = grid.value().groups(unquote(call_.key("over")));
  if (!groups.ok() || position < 0 ||
      static_cast<size_t>(position) >= groups.value()[0].size()) {
    return std::nullopt;
  }
  return in_.where->ranks[groups.value()[0][static_cast<size_t>(position)]];
}

// Without over= pieces are put together, or handed out, in the order in which
// the ranks are written; what they are cut by is the order of the axis.
bool Judge::check_order() {
  const Collective op = call_.op->row->collective;
  const std::string ends = {src_, dst_};
  const bool moves = ends.find_first_of("VS") != ends.npos;
  const bool stays = op == Collective::kAllReduce ||
                     op == Collective::kReinterpret ||
                     op == Collective::kRetype ||
                     (src_ == dst_ && op != Collective::kAllToAll);
  const auto& ranks = in_.where->ranks;
  if (!moves || stays || call_.has_key("over") ||
      std::is_sorted(ranks.begin(), ranks.end())) {
    return true;
  }
  add("shard-order", &group_[0],
      "the group's ranks are " + to_string(ranks) +
          ", and pieces would come in that order, not in the axis's",
      "without over= a group has its ranks as they are written");
  if (group_.size() > 1 || call_.has_key("split_sizes")) return false;
  offer_key("over", in_.names.name(group_[0]));
  return false;
}

// broadcast gives the root's copy to all; of a sum that is right only if the
// root holds all of it. reduce leaves the sum with the root, zeros elsewhere.
bool Judge::reduce_or_broadcast() {
  const Placement& type = operands_[0]->type;
  const auto root = member(call_.integer("root"));
  if (!root.has_value()) return false;
  const bool broadcasts = call_.op->row->collective == Collective::kBroadcast;
  for (const Axis& axis : group_) {
    const char is = type.on(axis);
    if (is == kUntyped && !options_.permissive) {
      add_untyped(0, axis);
      return false;
    }
    const bool whole = type.pending(axis) == root_on(axis, *root);
    const bool sharded = !is_local(axis) && type.dim_of(axis) >= 0;
    if (broadcasts ? (is == 'P' && !whole) || sharded
                   : (is == 'R' || is == 'I') || sharded) {
      add("src-type", &axis,
          std::string(line_.op) +
              (broadcasts ? " spreads the root's own piece, but "
                          : " adds up summands, but ") +
              described(0) + " is " +
              (sharded ? "sharded" : std::string(1, is)));
      return false;
    }
    for (Placement& t : types_) {
      if (broadcasts) {
        t.set(axis, is == 'I' ? 'I' : 'R');
      } else {
        t.set(axis, 'P', root_on(axis, *root));
      }
    }
  }
  return true;
}

namespace {

// Where a copy by position takes coordinates along an axis, `goes`: each to one
// of its own, in order or not.
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

}  // namespace

// Between sets of one layout all stays as it is; an axis that the source lacks
// is R after it; one that goes was R or I.
bool Judge::copy() {
  const ShardedValue& value = *operands_[0];
  const std::vector<int64_t>& to = in_.where->ranks;
  for (const AxisType& a : value.type.axes) {
    const bool stays =
        std::find(within_.begin(), within_.end(), a.axis) != within_.end();
    if (stays || a.letter == 'R' || a.letter == 'I') continue;
    add("src-type", &a.axis,
        described(0) + " is " + a.letter +
            " on an axis along which the copy does not extend",
        "reduce or gather it before");
    return false;
  }
  for (const Axis& axis : within_) {
    const char is = value.type.on(axis);
    if (is == kUntyped) {
      for (Placement& type : types_) type.set(axis, 'R');
      continue;
    }
    if (value.ranks.size() != to.size() || is == 'R' || is == 'I') continue;
    std::map<int64_t, int64_t> goes;
    const Taken order = taken(axis, value.ranks, to, goes);
    const bool apart = order != Taken::kInOrder;
    const bool sharded = value.type.dim_of(axis) >= 0 && !is_local(axis);
    if (order == Taken::kTogether || (apart && sharded)) {
      add("src-type", &axis,
          described(0) + " changes the order of its " +
              (is == 'P' ? "summands" : "shards") + " along the axis");
      return false;
    }
    if (is_local(axis)) {
      for (Placement& type : types_) type.unshard(axis);
    }
    if (is != 'P') continue;
    const auto root = goes.find(value.type.pending(axis) - 1);
    const auto pending =
        root == goes.end() ? 0 : static_cast<int32_t>(root->second) + 1;
    for (Placement& type : types_) type.set(axis, is, pending);
  }
  for (Placement& type : types_) {
    const Placement old = type;
    for (const AxisType& a : old.axes) {
      if (std::find(within_.begin(), within_.end(), a.axis) == within_.end()) {
        type.unshard(a.axis);
        type.drop(a.axis);
      }
    }
  }
  return true;
}

bool Judge::read_specs(size_t dims, Placement& from, Placement& to) {
  const Mesh* mesh = in_.names.mesh();
  for (const char* key : {"src_spec", "dst_spec"}) {
    const std::string text = unquote(call_.key(key));
    const auto entries = parse_spec(text, mesh, dims);
    if (entries.ok()) continue;
    const auto commas = std::count(text.begin(), text.end(), ',');
    add(mesh == nullptr                           ? "no-mesh"
        : static_cast<size_t>(commas) + 1 != dims ? "spec-len"
                                                  : "axis-unknown",
        nullptr, std::string(key) + "=: " + entries.error().message);
    return false;
  }
  const auto specs = specs_of(line_, mesh, dims);
  if (!specs.ok()) {
    add("src-dst", nullptr, specs.error().message);
    return false;
  }
  return shard_by(specs.value().src, dims, from) &&
         shard_by(specs.value().dst, dims, to);
}

// What src_spec= names is cut so and by nothing else; what dst_spec= names
// beside it is whole on its axes, or a sum.
bool Judge::redistribute_specs() {
  const ShardedValue& value = *operands_[0];
  if (value.pieces.empty()) return false;
  Placement from, to, known = value.type;
  if (!read_specs(value.pieces[0].shape.size(), from, to)) return false;
  Placement stated = from;
  for (const Axis& axis : within_) {
    if (is_local(axis)) stated.unshard(axis);
  }
  if (stated.spec != known.spec) {
    add("shard-src", nullptr,
        "src_spec=" + std::string(call_.key("src_spec")) + ", but " +
            described(0));
    return false;
  }
  for (const Axis& axis : within_) {
    const bool cut = from.dim_of(axis) >= 0;
    if (!cut && to.dim_of(axis) < 0) continue;
    const char is = known.on(axis);
    if (is == kUntyped && !options_.permissive) {
      add_untyped(0, axis);
      return false;
    }
    if (is != kUntyped && (cut ? is != 'V' : is == 'V')) {
      add("src-type", &axis, described(0) + " is " + is);
      return false;
    }
    for (Placement& type : types_) {
      type.unshard(axis);
      type.set(axis, to.dim_of(axis) >= 0 ? 'V' : 'R');
    }
  }
  for (const Axis& axis : within_) {
    if (is_local(axis)) to.unshard(axis);
  }
  for (Placement& type : types_) type.spec = to.spec;
  return true;
}

// What the line would do over several axes, as one between specs.
void Judge::offer_specs() {
  const ShardedValue& value = *operands_[0];
  if (value.pieces.empty() || !(src_ == 'S' || src_ == 'R' || src_ == 'P') ||
      !(dst_ == 'S' || dst_ == 'R') || local_) {
    return;
  }
  Placement from = value.type;
  from.spec.resize(value.pieces[0].shape.size());
  Placement to = from;
  for (const Axis& axis : group_) {
    const int dim = src_ == 'S' ? static_cast<int>(src_dim_) : -1;
    if (from.dim_of(axis) != dim) return;
    for (SpecEntry& entry : to.spec) std::erase(entry, axis);
    if (dst_ == 'S') to.spec[dst_dim_].push_back(axis);
  }
  const std::string src = in_.names.spec_text(from, true);
  const std::string dst = in_.names.spec_text(to, true);
  Line mended = line_;
  mended.op = "redistribute";
  mended.keys = {{"src_spec", src, 0}, {"dst_spec", dst, 0}};
  offer_instruction(mended);
}

void Judge::offer_redistribution(size_t operand, const Placement& from,
                                 const Placement& to) {
  offer_line(operand, "redistribute",
             " src_spec=" + in_.names.spec_text(from, true) +
                 " dst_spec=" + in_.names.spec_text(to, true),
             "exchange forward, exchange backward");
}

bool Judge::do_remesh() {
  Kinded problem;
  Claim claim;
  const auto text = [&](const char* key) { return unquote(call_.key(key)); };
  std::vector<Axis> to;
  bool ok = parse_claim(text("type"), "", in_.names, claim, problem);
  std::string rest = text("axes");
  while (ok && !rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const auto axes = in_.names.find(rest.substr(0, comma));
    if (!axes.ok()) {
      problem = {"axis-unknown", "", axes.error().message};
      ok = false;
      break;
    }
    to.insert(to.end(), axes.value().begin(), axes.value().end());
    rest.erase(0, comma + 1);
  }
  for (const Claim::Item& item : claim.items) {
    to.insert(to.end(), item.axes.begin(), item.axes.end());
  }
  Placement made;
  ok = ok && remesh(in_.operands[0]->type, to, in_.names, made, problem);
  for (const Claim::Item& item : claim.items) {
    for (const Axis& axis : item.axes) {
      const char is = made.on(axis);
      const char wanted = item.letter == 'S' ? 'V' : item.letter;
      if (!ok || is == wanted) continue;
      problem = {"assert", in_.names.name(axis),
                 std::string("claimed ") + wanted + ", but it is " + is};
      ok = false;
    }
  }
  if (!ok) {
    out_.problems.push_back(
        {problem.kind, problem.axis, problem.message, "", {}});
    return false;
  }
  for (Placement& type : types_) type = made;
  return true;
}

}  // namespace gt
