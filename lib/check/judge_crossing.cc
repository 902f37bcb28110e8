// Collectives and conversions: which types they connect, and what they make of
// a tensor on the axes of their groups.
#include <algorithm>
#include <set>

#include "base/message.h"
#include "check/judge.h"
#include "spmd/join.h"
#include "spmd/specs.h"

namespace gt {
namespace {

bool is_in(char c, std::string_view set) { return set.find(c) != set.npos; }

// Why a pair of ends that the op connects needs expert=1.
std::string why_gated(const Op& op, char src, char dst) {
  if (op.row->collective == Collective::kReinterpret) {
    return dst == 'P' ? "the value becomes n times itself; usually convert R>P "
                        "is meant"
                      : "usually convert is meant";
  }
  return src == 'R' ? "that would hide the ranks' work: use I from the start, "
                      "or convert I>R"
                    : "usually all_gather or all_reduce is meant";
}

}  // namespace

bool Judge::cross() {
  if (!is_name(0)) return false;
  for (Placement& type : types_) type = operands_[0]->type;
  const Collective op = op_->row->collective;
  if (op == Collective::kCopy) return copy();
  if (op == Collective::kRemesh) return do_remesh();
  if (states_specs(line_)) return redistribute_specs();
  if (!find_group_axes()) return false;
  if (group_.empty()) return true;  // groups of one: nothing happens
  if (op == Collective::kReduce || op == Collective::kBroadcast) {
    return reduce_or_broadcast();
  }
  if (!check_ends() || !check_sources()) return false;
  if (use_ == EndsUse::kKept) return keep_pieces();
  if (!check_order() || !check_sizes() || !move_shard()) return false;
  check_precision();
  return !has_failed();
}

// Without over= the whole set is a group: the axes along which it extends.
bool Judge::find_group_axes() {
  const std::string over = unquote(call_.key("over"));
  if (over.empty()) {
    group_ = within_;
    return true;
  }
  if (in_.names.mesh() == nullptr) {
    add("no-mesh", nullptr, "over=" + over + " has no mesh");
    return false;
  }
  const auto axes = in_.names.mesh()->resolve(over);
  if (!axes.ok()) {
    const bool outer = in_.names.find(over).ok();
    add("axis-unknown", nullptr,
        axes.error().message + (outer ? "; it belongs to an outer mesh" : ""));
    return false;
  }
  for (const MeshAxis* axis : axes.value()) {
    const bool here =
        std::find(within_.begin(), within_.end(), *axis) != within_.end();
    if (here) group_.push_back(*axis);
  }
  const auto grid = Grid::make(in_.names.mesh(), in_.where->ranks);
  if (!grid.ok()) return true;
  const auto groups = grid.value().groups(over);
  if (groups.ok()) return true;
  add("ranks", nullptr, groups.error().message,
      "a rank of a group does not take part, and the others would wait for it");
  return false;
}

bool Judge::check_ends() {
  const auto src = parse_end(call_.key("src"));
  const auto dst = parse_end(call_.key("dst"));
  const Axis& axis = group_[0];
  if (!src.ok() || !dst.ok()) {
    add("src-dst", &axis, (src.ok() ? dst : src).error().message);
    return false;
  }
  src_ = src.value().letter;
  dst_ = dst.value().letter;
  const std::string ends = "src=" + std::string(call_.key("src")) +
                           " dst=" + std::string(call_.key("dst"));
  const auto& pieces = operands_[0]->pieces;
  const size_t dims = pieces.empty() ? 0 : pieces[0].shape.size();
  use_ = use_of_ends(*call_.op, src.value(), dst.value(), dims);
  if (use_ == EndsUse::kForeign) {
    add("src-dst", &axis,
        ends + ": " + call_.op->name + " connects " +
            connected_ends(*call_.op));
    return false;
  }
  if (use_ == EndsUse::kGated && !call_.flag("expert")) {
    add("expert", &axis, ends + ": " + why_gated(*call_.op, src_, dst_));
    return false;
  }
  if (use_ == EndsUse::kUndefined) {
    add("undefined", &axis,
        ends + ": use " + std::string(op_between(src.value(), dst.value())),
        "the value cannot be known without communication");
    if (src_ != 'V' || dst_ == 'P') {
      offer_change(0, axis, std::string(call_.key("src")),
                   std::string(call_.key("dst")));
    }
    return false;
  }
  return check_dims(src.value(), dst.value(), ends);
}

// Dimensions that the ends and other keys name.
bool Judge::check_dims(const End& src, const End& dst,
                       const std::string& ends) {
  const Axis& axis = group_[0];
  const auto& pieces = operands_[0]->pieces;
  if (pieces.empty()) return false;
  const size_t dims = pieces[0].shape.size();
  const auto dimension = [&](int64_t dim, size_t n, size_t& out) {
    const int64_t d = normal_axis(dim, n);
    out = static_cast<size_t>(std::max<int64_t>(d, 0));
    if (d >= 0) return true;
    add("shard-range", &axis,
        ends + ": dimension " + std::to_string(dim) + " of " +
            std::to_string(dims));
    return false;
  };
  if (src.letter == 'S' && !dimension(src.dim, dims, src_dim_)) return false;
  if (dst.letter == 'S' && !dimension(dst.dim, dims, dst_dim_)) return false;
  const std::tuple<const char*, char, size_t> keys[] = {
      {"gather_dim", src.letter, src_dim_},
      {"concat_dim", src.letter, src_dim_},
      {"scatter_dim", dst.letter, dst_dim_},
      {"split_dim", dst.letter, dst_dim_}};
  for (const auto& [key, letter, dim] : keys) {
    if (!call_.has_key(key)) continue;
    const bool stacks = std::string_view(key) == "gather_dim" ||
                        std::string_view(key) == "concat_dim";
    size_t stated = 0;
    if (!dimension(call_.integer(key), dims + (stacks && letter == 'V'),
                   stated)) {
      return false;
    }
    if (letter != 'S' || stated == dim) continue;
    add("dim-conflict", &axis,
        std::string(key) + "=" + std::string(call_.key(key)) + " contradicts " +
            ends,
        "Si says the dimension; leave the key out");
    return false;
  }
  if (!call_.has_key("split_sizes")) return true;
  int64_t n = 1;
  for (const Axis& a : group_) {
    n *= static_cast<int64_t>(extent_along(a, operands_[0]->ranks));
  }
  // Between two dimensions sizes are for what does not come out even.
  const bool exchanges =
      src.letter == 'S' && dst.letter == 'S' &&
      ((src_dim_ == 0 && dst_dim_ == 0) || pieces[0].shape[dst_dim_] % n != 0);
  const bool is_exchange = call_.op->row->collective == Collective::kAllToAll;
  const bool ok =
      is_exchange ? exchanges : src.letter == 'S' || dst.letter == 'S';
  if (ok) return true;
  add("splits", &axis,
      "split_sizes= are lengths along a dimension, and " + ends +
          " names none that they fit",
      is_exchange ? "they go with src=S0 dst=S0"
                  : "say which, as S0 in place of V");
  return false;
}

// The operand is src on every axis of the group.
bool Judge::check_sources() {
  const ShardedValue& value = *operands_[0];
  const std::string name(line_.operands[0].text);
  const std::string op_key(call_.key("op"));
  const Collective op = call_.op->row->collective;
  const bool sums =
      op_key.empty() || op_key == "sum" ||
      !(op == Collective::kAllReduce || op == Collective::kReduceScatter);
  size_t local = 0;
  for (const Axis& axis : group_) {
    const char is = value.type.on(axis);
    local += is_local(axis);
    const int32_t pending = value.type.pending(axis);
    if (is == kUntyped) {
      if (options_.permissive) continue;
      add_untyped(0, axis);
      return false;
    }
    if (is == 'V' && pending != 0) {
      const bool reads = op == Collective::kAllReduce &&
                         ((op_key == "max" && pending == kPendingMax) ||
                          (op_key == "min" && pending == kPendingMin));
      if (reads) continue;
      add("partial-op", &axis,
          name + " is the extreme of a shard: only all_reduce op=" +
              (pending == kPendingMax ? "max" : "min") + " may read it");
      return false;
    }
    if (!sums) {
      if (is == 'V' && (is_local(axis) || value.type.dim_of(axis) < 0))
        continue;
      add(is == 'V' ? "partial-op" : "src-type", &axis,
          "op=" + op_key + " reads V, and " + described(0) +
              (is == 'V' ? " is sharded" : " is " + std::string(1, is)),
          is == 'P' ? "P is a sum: no other reduction gives its value" : "");
      return false;
    }
    const char wanted = src_ == 'S' ? 'V' : src_;
    const int dim = value.type.dim_of(axis);
    const bool as_partial = is == 'V' && wanted == 'P' && !line_.key("src");
    if (as_partial && dim >= 0 && !is_local(axis)) {
      add("src-type", &axis,
          described(0) + " is sharded on dimension " + std::to_string(dim) +
              ", and shards are no summands",
          "if each rank's piece is meant as a summand of its own, say src=V");
      offer_key("src", "V");
      return false;
    }
    if (is != wanted && !as_partial) {
      add(op == Collective::kRetype ? "retype" : "src-type", &axis,
          std::string("src=") + std::string(call_.key("src")) + ", but " +
              described(0) + " is " + is,
          is == 'R' && wanted == 'P'
              ? "it would be added up " + std::to_string(axis.size) + " times"
              : "");
      offer_change(
          0, axis, dim < 0 ? std::string(1, is) : "S" + std::to_string(dim),
          src_ == 'S' ? "S" + std::to_string(src_dim_) : std::string(1, src_));
      return false;
    }
    if (!check_shard(axis)) return false;
  }
  if (local > 0 && local < group_.size()) {
    add("mixed-policy", &group_[0],
        "some axes of the group are local and some are global");
    return false;
  }
  return true;
}

// Global mode: a V shards a dimension, the one that src= names, and is the
// innermost there.
bool Judge::check_shard(const Axis& axis) {
  if (is_local(axis)) return true;
  const Placement& type = operands_[0]->type;
  const int dim = type.dim_of(axis);
  const char is = type.on(axis);
  const bool moves = src_ == 'S' || src_ == 'V' || dst_ == 'S' || dst_ == 'V';
  const bool names_shard = use_ == EndsUse::kKept && dst_ == 'S';
  const bool stays = use_ == EndsUse::kKept &&
                     (dst_ != 'S' || static_cast<size_t>(dim) == dst_dim_);
  if (group_.size() > 1 && moves && !stays) {
    add("vary-global", &axis,
        "over several axes only sums are taken; shards move axis by axis",
        "go axis by axis, the innermost first");
    offer_specs();
    return false;
  }
  if (is == 'V' && dim < 0) {
    if (names_shard && src_ == 'V') return true;
    add("vary-global", &axis,
        std::string(line_.operands[0].text) +
            " is V, but no dimension of it is sharded",
        "claim Si, or reinterpret V>P, or use #local");
    offer_self(" #local");
    return false;
  }
  if (dst_ == 'V' && !stays && line_.note("type") == nullptr) {
    add("vary-global", &axis, "dst=V says of no dimension that it is sharded",
        "say which, as dst=S0");
    if (is_in(src_, "PR") && !call_.has_key("scatter_dim")) {
      offer_key("dst", "S0");
    }
    return false;
  }
  if (is != 'V') return true;
  const SpecEntry& entry = type.spec[static_cast<size_t>(dim)];
  if (src_ == 'S' && static_cast<size_t>(dim) != src_dim_) {
    add("shard-src", &axis,
        "src=S" + std::to_string(src_dim_) + ", but " + described(0) +
            " is sharded on dimension " + std::to_string(dim));
    return false;
  }
  if (stays) return true;
  if (entry.back() != axis) {
    add("not-innermost", &axis,
        "dimension " + std::to_string(dim) + " is sharded by " +
            in_.names.spec_text(type, true) + ", innermost by " +
            in_.names.name(entry.back()),
        "only the innermost axis of a dimension may move");
    offer_change(0, entry.back(), "S" + std::to_string(dim), "R");
    return false;
  }
  if (src_ != 'S') {
    out_.remarks.push_back(described(0) + ": its shards of dimension " +
                           std::to_string(dim) +
                           " are read as unrelated values, which changes what "
                           "they mean");
  }
  return true;
}

// What is cut comes out even, or says how not.
bool Judge::check_sizes() {
  const bool stated = call_.has_key("split_sizes") || line_.key("split");
  const ShardedValue& value = *operands_[0];
  int64_t n = 1;
  for (const Axis& axis : group_) {
    n *= static_cast<int64_t>(extent_along(axis, value.ranks));
  }
  const bool same = src_ == dst_ && src_dim_ == dst_dim_;
  if (stated || value.pieces.empty() || same) return true;
  const Shape& shape = value.pieces[0].shape;
  if (dst_ == 'S' && shape[dst_dim_] % n != 0) {
    add("uneven", &group_[0],
        "dimension " + std::to_string(dst_dim_) + " of size " +
            std::to_string(shape[dst_dim_]) + " is no multiple of " +
            std::to_string(n),
        "say split= and shape=, or split_sizes=");
    return false;
  }
  const bool differ =
      src_ == 'S' &&
      std::any_of(value.pieces.begin(), value.pieces.end(),
                  [&](const Type& piece) {
                    return piece.shape.size() != shape.size() ||
                           piece.shape[src_dim_] != shape[src_dim_];
                  });
  if (!differ || !pieces_.has_value() || pieces_->ok()) return true;
  add("uneven", &group_[0],
      "the pieces differ along dimension " + std::to_string(src_dim_),
      "say split= and shape=, or split_sizes=");
  return false;
}

// Nothing moves: shards stay those of their dimension unless the line names
// another one.
bool Judge::keep_pieces() {
  if (dst_ != 'S') return true;
  const size_t dims = operands_[0]->pieces[0].shape.size();
  for (Placement& type : types_) {
    for (const Axis& axis : group_) {
      if (is_local(axis) || type.dim_of(axis) == static_cast<int>(dst_dim_)) {
        continue;
      }
      type.unshard(axis);
      type.shard(axis, dst_dim_, dims);
    }
  }
  return true;
}

bool Judge::move_shard() {
  const Collective op = call_.op->row->collective;
  const size_t dims = operands_[0]->pieces[0].shape.size();
  for (Placement& type : types_) {
    for (const Axis& axis : group_) {
      type.unshard(axis);
      type.set(axis, dst_ == 'S' ? 'V' : dst_);
    }
    const bool stacks =
        src_ == 'V' && is_in(dst_, "RIP") &&
        (op == Collective::kAllGather || op == Collective::kConvert);
    const bool slices = dst_ == 'V' && src_ != 'V' &&
                        op != Collective::kReinterpret &&
                        op != Collective::kRetype;
    if (stacks && type.is_sharded()) {
      const int64_t at =
          call_.has_key("gather_dim")
              ? normal_axis(call_.integer("gather_dim"), dims + 1)
              : 0;
      type.insert_dim(static_cast<size_t>(std::max<int64_t>(at, 0)));
    }
    if (slices && type.is_sharded()) {
      const int64_t at = call_.has_key("scatter_dim")
                             ? normal_axis(call_.integer("scatter_dim"), dims)
                             : 0;
      type.erase_dim(static_cast<size_t>(std::max<int64_t>(at, 0)));
    }
    if (dst_ != 'S') continue;
    for (const Axis& axis : group_) {
      if (!is_local(axis)) type.shard(axis, dst_dim_, dims);
    }
  }
  if (dst_ == 'P' && op == Collective::kConvert && is_in(src_, "RI")) {
    const auto first = member(0);
    for (Placement& type : types_) {
      for (const Axis& axis : group_) {
        type.set(axis, 'P', first ? root_on(axis, *first) : 0);
      }
    }
  }
  return true;
}

}  // namespace gt
