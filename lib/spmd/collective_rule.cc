// Collectives and conversions: which types they connect, and what they make of
// a tensor on the axes of their groups.
#include <algorithm>
#include <tuple>

#include "ops/ends.h"
#include "spmd/rules.h"

namespace gt {
namespace {

bool is_in(char c, std::string_view set) { return set.find(c) != set.npos; }

// Types a line between two ends: what it does with its operand on the axes of
// its group.
class Connection {
 public:
  Connection(const ReadLine& in, const std::vector<Axis>& group, Findings& out)
      : in_(in),
        call_(in.call),
        op_(in.call.op->row->collective),
        value_(*in.operands[0]),
        group_(group),
        out_(out) {}

  bool run() {
    const bool is_legal = check_ends() && check_sources() &&
                          (use_ == EndsUse::kKept || check_move());
    if (!is_legal && !in_.in.mode.passes_over) return false;
    if (use_ == EndsUse::kKept) {
      keep_pieces();
    } else {
      move_pieces();
    }
    return is_legal;
  }

 private:
  bool fail(Rule rule) { return fail(rule, group_[0]); }
  bool fail(Rule rule, const Axis& axis, int64_t dim = -1) {
    return out_.faults.add(
        {.rule = rule, .axes = {axis}, .operand = 0, .dim = dim});
  }
  size_t dims() const {
    return value_.pieces.empty() ? 0 : value_.pieces[0].shape.size();
  }

  // ---- the ends -------------------------------------------------------------

  bool check_ends() {
    const auto src = parse_end(call_.key("src"));
    const auto dst = parse_end(call_.key("dst"));
    if (!src.ok() || !dst.ok()) {
      return out_.faults.add({.rule = Rule::kEndUnread,
                              .axes = {group_[0]},
                              .text = (src.ok() ? dst : src).error().message});
    }
    src_ = src.value();
    dst_ = dst.value();
    use_ = use_of_ends(*call_.op, src_, dst_, dims());
    if (use_ == EndsUse::kForeign) return fail(Rule::kEndsForeign);
    if (use_ == EndsUse::kGated && !call_.flag("expert")) {
      return fail(Rule::kEndsGated);
    }
    if (use_ == EndsUse::kUndefined) return fail(Rule::kEndsUndefined);
    return check_dims();
  }

  // Checks the dimensions that the ends and other keys name.
  bool check_dims() {
    if (value_.pieces.empty()) return false;
    if (src_.letter == 'S' && !read_dim(src_.dim, dims(), src_dim_)) {
      return false;
    }
    if (dst_.letter == 'S' && !read_dim(dst_.dim, dims(), dst_dim_)) {
      return false;
    }
    const std::tuple<const char*, char, size_t> keys[] = {
        {"gather_dim", src_.letter, src_dim_},
        {"concat_dim", src_.letter, src_dim_},
        {"scatter_dim", dst_.letter, dst_dim_},
        {"split_dim", dst_.letter, dst_dim_}};
    for (const auto& [key, letter, dim] : keys) {
      if (!call_.has_key(key)) continue;
      const std::string_view name(key);
      const bool stacks = name == "gather_dim" || name == "concat_dim";
      size_t stated = 0;
      if (!read_dim(call_.integer(key), dims() + (stacks && letter == 'V'),
                    stated)) {
        return false;
      }
      if (letter != 'S' || stated == dim) continue;
      return out_.faults.add(
          {.rule = Rule::kDimConflict, .axes = {group_[0]}, .text = key});
    }
    return check_split_sizes();
  }

  bool read_dim(int64_t dim, size_t n, size_t& out) {
    const int64_t d = normal_axis(dim, n);
    out = static_cast<size_t>(std::max<int64_t>(d, 0));
    if (d >= 0) return true;
    return out_.faults.add({.rule = Rule::kEndRange,
                            .axes = {group_[0]},
                            .dim = dim,
                            .n = static_cast<int64_t>(n)});
  }

  bool check_split_sizes() {
    if (!call_.has_key("split_sizes")) return true;
    const bool any = src_.letter == 'S' || dst_.letter == 'S';
    if (op_ != Collective::kAllToAll) {
      return any || fail(Rule::kSplitSizes);
    }
    // Between two dimensions, split_sizes= is for sizes that do not divide
    // evenly.
    const bool exchanges =
        src_.letter == 'S' && dst_.letter == 'S' &&
        ((src_dim_ == 0 && dst_dim_ == 0) ||
         value_.pieces[0].shape[dst_dim_] % in_.group_size(group_) != 0);
    return exchanges || fail(Rule::kSplitExchange);
  }

  // ---- the operand ----------------------------------------------------------

  // Checks that the operand is src on every axis of the group.
  bool check_sources() {
    size_t local = 0;
    for (const Axis& axis : group_) {
      local += in_.is_local(axis);
      if (!check_source(axis)) return false;
    }
    if (local == 0 || local == group_.size()) return true;
    return fail(Rule::kMixedPolicy);
  }

  bool check_source(const Axis& axis) {
    const char is = value_.type.on(axis);
    if (is == kUntyped) {
      return in_.in.mode.permissive || fail_untyped(0, axis, out_);
    }
    const int32_t pending = value_.type.pending(axis);
    if (is == 'V' && pending != 0) return check_extreme(axis, pending);
    const std::string_view how = call_.key("op");
    const bool reduces =
        op_ == Collective::kAllReduce || op_ == Collective::kReduceScatter;
    if (reduces && !how.empty() && how != "sum") {
      return check_unsummed(axis, is);
    }
    return check_letter(axis, is) && check_shard(axis);
  }

  // A pending maximum or minimum may only be read by the reduction that it
  // waits for.
  bool check_extreme(const Axis& axis, int32_t pending) {
    const std::string_view how = call_.key("op");
    if (op_ == Collective::kAllReduce &&
        ((how == "max" && pending == kPendingMax) ||
         (how == "min" && pending == kPendingMin))) {
      return true;
    }
    return out_.faults.add({.rule = Rule::kOtherExtreme,
                            .axes = {axis},
                            .operand = 0,
                            .is = pending == kPendingMax ? 'x' : 'n'});
  }

  // Any reduction other than a sum reads unrelated values.
  bool check_unsummed(const Axis& axis, char is) {
    const bool sharded =
        is == 'V' && !in_.is_local(axis) && value_.type.dim_of(axis) >= 0;
    if (is == 'V' && !sharded) return true;
    return out_.faults.add(
        {.rule = sharded ? Rule::kExtremeOfShard : Rule::kExtremeOfOther,
         .axes = {axis},
         .operand = 0,
         .is = is,
         .text = std::string(call_.key("op"))});
  }

  bool check_letter(const Axis& axis, char is) {
    const char wanted = src_.letter == 'S' ? 'V' : src_.letter;
    const int dim = value_.type.dim_of(axis);
    const bool as_partial = is == 'V' && wanted == 'P' && !in_.line.key("src");
    if (as_partial && dim >= 0 && !in_.is_local(axis)) {
      return fail(Rule::kShardsSummed, axis, dim);
    }
    if (is == wanted || as_partial) return true;
    return out_.faults.add({.rule = op_ == Collective::kRetype
                                        ? Rule::kRetypeUnlike
                                        : Rule::kSourceUnlike,
                            .axes = {axis},
                            .operand = 0,
                            .dim = dim,
                            .is = is});
  }

  // If shards are followed, checks that a V shards a dimension, the one that
  // src= names, and that the axis is the innermost there.
  bool check_shard(const Axis& axis) {
    if (in_.is_local(axis)) return true;
    const int dim = value_.type.dim_of(axis);
    const char is = value_.type.on(axis);
    const bool moves = is_in(src_.letter, "SV") || is_in(dst_.letter, "SV");
    const bool names_shard = use_ == EndsUse::kKept && dst_.letter == 'S';
    const bool stays =
        use_ == EndsUse::kKept &&
        (dst_.letter != 'S' || static_cast<size_t>(dim) == dst_dim_);
    if (group_.size() > 1 && moves && !stays) {
      return fail(Rule::kShardsOverSeveral, axis);
    }
    if (is == 'V' && dim < 0) {
      return (names_shard && src_.letter == 'V') ||
             fail(Rule::kVaryingUnsaid, axis);
    }
    if (dst_.letter == 'V' && !stays && in_.line.note("type") == nullptr) {
      return fail(Rule::kTargetUnsaid, axis);
    }
    if (is != 'V') return true;
    if (src_.letter == 'S' && static_cast<size_t>(dim) != src_dim_) {
      return fail(Rule::kSourceOtherDim, axis, dim);
    }
    if (stays) return true;
    const Axis innermost = value_.type.spec[static_cast<size_t>(dim)].back();
    if (innermost != axis) {
      return out_.faults.add({.rule = Rule::kNotInnermost,
                              .axes = {axis},
                              .operand = 0,
                              .dim = dim,
                              .to = {innermost}});
    }
    if (src_.letter != 'S') out_.remarks.push_back({0, dim});
    return true;
  }

  // ---- what moves -----------------------------------------------------------

  bool check_move() {
    return check_order() && check_sizes() &&
           check_precision(in_, group_, src_.letter, dst_.letter, out_);
  }

  // Without over=, pieces are put together or handed out in the order in which
  // the ranks are written, but they are cut in the order of the axis.
  bool check_order() {
    const bool moves = is_in(src_.letter, "SV") || is_in(dst_.letter, "SV");
    const bool stays =
        op_ == Collective::kAllReduce || op_ == Collective::kReinterpret ||
        op_ == Collective::kRetype ||
        (src_.letter == dst_.letter && op_ != Collective::kAllToAll);
    const auto& ranks = in_.ranks();
    if (!moves || stays || call_.has_key("over") ||
        std::is_sorted(ranks.begin(), ranks.end())) {
      return true;
    }
    return fail(Rule::kGroupOrder);
  }

  // Checks that a dimension that is cut divides evenly, unless the line states
  // sizes.
  bool check_sizes() {
    const bool stated =
        call_.has_key("split_sizes") || in_.line.key("split") != nullptr;
    const bool same = src_.letter == dst_.letter && src_dim_ == dst_dim_;
    if (stated || value_.pieces.empty() || same) return true;
    const Shape& shape = value_.pieces[0].shape;
    const int64_t n = in_.group_size(group_);
    if (dst_.letter == 'S' && shape[dst_dim_] % n != 0) {
      return out_.faults.add({.rule = Rule::kCutUneven,
                              .axes = {group_[0]},
                              .dim = static_cast<int64_t>(dst_dim_),
                              .n = shape[dst_dim_],
                              .m = n});
    }
    const bool differ =
        src_.letter == 'S' &&
        std::any_of(value_.pieces.begin(), value_.pieces.end(),
                    [&](const Type& piece) {
                      return piece.shape.size() != shape.size() ||
                             piece.shape[src_dim_] != shape[src_dim_];
                    });
    if (!differ || !in_.pieces.has_value() || in_.pieces->ok()) return true;
    return fail(Rule::kPiecesUneven, group_[0], static_cast<int64_t>(src_dim_));
  }

  // Nothing moves: shards keep their dimension unless the line names another
  // one.
  void keep_pieces() {
    if (dst_.letter != 'S') return;
    for (Placement& type : out_.types) {
      for (const Axis& axis : group_) {
        if (in_.is_local(axis) ||
            type.dim_of(axis) == static_cast<int>(dst_dim_)) {
          continue;
        }
        type.unshard(axis);
        type.shard(axis, dst_dim_, dims());
      }
    }
  }

  void move_pieces() {
    for (Placement& type : out_.types) {
      for (const Axis& axis : group_) {
        type.unshard(axis);
        type.set(axis, dst_.letter == 'S' ? 'V' : dst_.letter);
      }
      if (type.is_sharded()) move_dims(type);
      if (dst_.letter != 'S') continue;
      for (const Axis& axis : group_) {
        if (!in_.is_local(axis)) type.shard(axis, dst_dim_, dims());
      }
    }
    if (dst_.letter != 'P' || op_ != Collective::kConvert ||
        !is_in(src_.letter, "RI")) {
      return;
    }
    const auto first = group_member(in_, 0);
    for (const Axis& axis : group_) {
      out_.set_all(axis, 'P', first ? root_on(axis, *first) : 0);
    }
  }

  // A V stacks pieces along a new dimension, or takes one apart.
  void move_dims(Placement& type) const {
    const bool stacks =
        src_.letter == 'V' && is_in(dst_.letter, "RIP") &&
        (op_ == Collective::kAllGather || op_ == Collective::kConvert);
    const bool slices = dst_.letter == 'V' && src_.letter != 'V' &&
                        op_ != Collective::kReinterpret &&
                        op_ != Collective::kRetype;
    if (stacks) type.insert_dim(stated_dim("gather_dim", dims() + 1));
    if (slices) type.erase_dim(stated_dim("scatter_dim", dims()));
  }

  size_t stated_dim(const char* key, size_t n) const {
    const int64_t at =
        call_.has_key(key) ? normal_axis(call_.integer(key), n) : 0;
    return static_cast<size_t>(std::max<int64_t>(at, 0));
  }

  const ReadLine& in_;
  const Call& call_;
  const Collective op_;
  const ShardedValue& value_;
  const std::vector<Axis>& group_;
  Findings& out_;
  End src_{kUntyped, 0}, dst_{kUntyped, 0};
  size_t src_dim_ = 0, dst_dim_ = 0;
  EndsUse use_ = EndsUse::kConnected;
};

}  // namespace

bool connect_ends(const ReadLine& in, const std::vector<Axis>& group,
                  Findings& out) {
  return Connection(in, group, out).run();
}

}  // namespace gt
