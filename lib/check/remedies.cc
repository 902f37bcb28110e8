#include "check/remedies.h"

#include <algorithm>

#include "base/message.h"
#include "ops/ends.h"
#include "ops/shape_rules.h"
#include "ops/table.h"
#include "spmd/join.h"
#include "spmd/stated_cut.h"
#include "stream/line.h"

namespace gt::check {
namespace {

// Says what is sent over the links when a value is converted to another type,
// and when its gradient comes back.
const char* traffic(Collective op, char src, char dst) {
  const bool keeps = dst == 'I';
  switch (op) {
    case Collective::kAllReduce:
      return keeps ? "sum forward, nothing backward"
                   : "sum forward, sum backward";
    case Collective::kAllGather:
      return keeps ? "gather forward, nothing backward"
                   : "gather forward, sum and scatter backward";
    case Collective::kReduceScatter:
      return "sum and scatter forward, gather backward";
    case Collective::kAllToAll:
      return "exchange forward, exchange backward";
    default:
      break;
  }
  if (src == 'I') {
    return dst == 'R'   ? "nothing forward, sum backward"
           : dst == 'P' ? "zero off rank 0 forward, nothing backward"
                        : "nothing forward, gather backward";
  }
  return dst == 'P' ? "zero off rank 0 both ways"
                    : "nothing forward, its own place backward";
}

struct Rewrite {
  char from, to;
  const char* op;
};
constexpr Rewrite kRewrites[] = {{'I', 'R', "convert"},
                                 {'I', 'P', "convert"},
                                 {'P', 'R', "all_reduce"},
                                 {'P', 'I', "all_reduce"},
                                 {'R', 'P', "convert"}};

std::string shards(int64_t dim) { return "S" + std::to_string(dim); }

// Returns "R", "S0" and so on, as src= and dst= have it.
std::string end_on(const Placement& type, const Axis& axis) {
  const int dim = type.dim_of(axis);
  return dim < 0 ? std::string(1, type.on(axis)) : shards(dim);
}

// Returns how two axes nest: 1 if a is outside b, -1 if b is outside a, 0 if
// they cut no dimension together.
int nesting(const Placement& type, const Axis& a, const Axis& b) {
  for (const SpecEntry& entry : type.spec) {
    const auto x = std::find(entry.begin(), entry.end(), a);
    const auto y = std::find(entry.begin(), entry.end(), b);
    if (x != entry.end() && y != entry.end()) return x < y ? 1 : -1;
  }
  return 0;
}

// Finds the lines that mend one fault.
class Remedies {
 public:
  Remedies(const ReadLine& in, const TypeFault& fault)
      : in_(in), fault_(fault) {}

  std::vector<std::string> find() {
    by_rule();
    return std::move(lines_);
  }

 private:
  void by_rule() {
    switch (fault_.rule) {
      case Rule::kLacksType:
        return claim_copies();
      case Rule::kVaryingUnsaid:
        return offer(in_.line, " #local");
      case Rule::kInvariantMixed:
      case Rule::kSumVaries:
      case Rule::kSumNonlinear:
      case Rule::kSumAffine:
      case Rule::kSumProduct:
      case Rule::kSumDivides:
        return rewrite_operands();
      case Rule::kSumWritten:
        return add(change_line("all_reduce", "P", "R"));
      case Rule::kOptimizerUnlike:
        return change_gradient();
      case Rule::kNarrowSum:
        return offer_key("bwd", "f32");
      case Rule::kLossCopies:
        return add(with_cost("convert", "R", "P"));
      case Rule::kLossVaries:
        return add(change_line("reinterpret", "V", "P") + " #local");
      default:
        return by_rule_of_shards();
    }
  }

  void by_rule_of_shards() {
    switch (fault_.rule) {
      case Rule::kEndsUndefined:
        return change_undefined();
      case Rule::kShardsSummed:
        return offer_key("src", "V");
      case Rule::kSourceUnlike:
      case Rule::kRetypeUnlike:
        return change(
            fault_.dim < 0 ? std::string(1, fault_.is) : shards(fault_.dim),
            source());
      case Rule::kShardsOverSeveral:
        return offer_specs();
      case Rule::kTargetUnsaid:
        return shard_target();
      case Rule::kNotInnermost:
        return change(shards(fault_.dim), "R", fault_.to[0]);
      case Rule::kGroupOrder:
        return name_group();
      case Rule::kNotAdditive:
      case Rule::kMustBeWhole:
        return gather();
      case Rule::kOtherShards:
        return move_shards();
      case Rule::kAddedWhole:
        return change(std::string(1, fault_.is), "P");
      case Rule::kReadWhole:
        return change(std::string(1, fault_.is), shards(fault_.dim));
      case Rule::kTableCut:
      case Rule::kPlaceUnsaid:
        return offer_split();
      case Rule::kNestedBothWays:
        return reorder();
      default:
        return;
    }
  }

  // ---- lines ----------------------------------------------------------------

  void add(std::string line) { lines_.push_back(std::move(line)); }

  size_t operand() const { return static_cast<size_t>(fault_.operand); }
  const Axis& axis() const { return fault_.axes[0]; }
  const Placement& type() const { return in_.operands[operand()]->type; }

  // Returns "y1@0-1 = OP y@0-1 KEYS".
  std::string new_line(size_t operand, const char* op,
                       const std::string& keys) const {
    const Operand& o = in_.line.operands[operand];
    const std::string at = o.ranks.empty() ? "" : "@" + std::string(o.ranks);
    return std::string(o.text) + "1" + at + " = " + op + " " +
           std::string(o.text) + at + keys;
  }

  std::string change_line(size_t operand, const Axis& axis, const char* op,
                          const std::string& src,
                          const std::string& dst) const {
    return new_line(operand, op,
                    " over=" + in_.names.name(axis) + " src=" + src + " dst=" +
                        dst + (src == "I" && dst == "P" ? " expert=1" : ""));
  }
  std::string change_line(const char* op, const std::string& src,
                          const std::string& dst) const {
    return change_line(operand(), axis(), op, src, dst);
  }

  std::string with_cost(size_t operand, const Axis& axis, const char* op,
                        const std::string& src, const std::string& dst) const {
    return change_line(operand, axis, op, src, dst) + "   # " +
           traffic(collective_of(op), src[0], dst[0]);
  }
  std::string with_cost(const char* op, const std::string& src,
                        const std::string& dst) const {
    return with_cost(operand(), axis(), op, src, dst);
  }

  // Offers the line that converts one type to another, if there is such an op.
  void change(const std::string& from, const std::string& to) {
    change(from, to, axis());
  }
  void change(const std::string& from, const std::string& to,
              const Axis& axis) {
    const char a = from[0], b = to[0];
    const char* op = nullptr;
    if (a == 'P' && (b == 'R' || b == 'I')) op = "all_reduce";
    if (a == 'P' && b == 'S') op = "reduce_scatter";
    if (a == 'S' && (b == 'R' || b == 'I')) op = "all_gather";
    if (a == 'S' && b == 'S' && from != to) op = "all_to_all";
    if ((a == 'R' || a == 'I') && (b == 'S' || b == 'P')) op = "convert";
    if (a == 'I' && b == 'R') op = "convert";
    if (op != nullptr) add(with_cost(operand(), axis, op, from, to));
  }

  // Offers the faulty line itself, with an addition at its end.
  void offer(const Line& line, const std::string& more = "") {
    std::string text;
    append_instruction(text, line);
    add(text + more);
  }
  void offer_key(std::string_view key, const std::string& value) {
    Line mended = in_.line;
    std::erase_if(mended.keys, [&](const Key& k) { return k.key == key; });
    mended.keys.push_back({key, value, 0});
    offer(mended);
  }
  void offer_redistribution(size_t operand, const Placement& from,
                            const Placement& to) {
    add(new_line(operand, "redistribute",
                 " src_spec=" + in_.names.spec_text(from, true) +
                     " dst_spec=" + in_.names.spec_text(to, true)) +
        "   # exchange forward, exchange backward");
  }

  // ---- by rule --------------------------------------------------------------

  // Offers a line without checks that claims what the operand is.
  void claim_copies() {
    Placement claim = type();
    if (!in_.is_placed()) return;
    for (const AxisType& a : claim.axes) {
      if (!in_.names.is_current(a.axis)) return;
    }
    for (const Axis& a : in_.within) {
      if (claim.on(a) == kUntyped) claim.set(a, 'R');
    }
    const std::string spec = in_.names.spec_text(claim);
    add(new_line(operand(), "copy",
                 " #unchecked #type=" + in_.names.type_text(claim) +
                     (spec.empty() ? "" : " #spec=" + spec)) +
        "   # claims equal copies");
  }

  // Offers lines that convert one operand to a type with which the line can be
  // joined.
  void rewrite_operands() {
    const std::vector<char> letters = in_.letters_on(axis());
    for (const Rewrite& rewrite : kRewrites) {
      std::vector<char> changed = letters;
      const auto at = std::find(changed.begin(), changed.end(), rewrite.from);
      if (at == changed.end()) continue;
      *at = rewrite.to;
      const Joined made = join(in_.call, changed);
      if (made.fault) continue;
      // The other operands alone determine what is meant.
      *at = kNoLetter;
      const bool others = std::any_of(changed.begin(), changed.end(),
                                      [](char c) { return c != kNoLetter; });
      const Joined alone = join(in_.call, changed);
      if (others && !alone.fault && alone.letter != made.letter) continue;
      const auto argument = static_cast<size_t>(at - changed.begin());
      add(with_cost(static_cast<size_t>(in_.call.arguments[argument].operand),
                    axis(), rewrite.op, std::string(1, rewrite.from),
                    std::string(1, rewrite.to)));
    }
  }

  void change_gradient() {
    const std::string is = end_on(type(), axis());
    const std::string of = end_on(fault_.seen, axis());
    if (is == "V" && (of == "R" || of == "I")) {
      add(with_cost("all_reduce", is, of));  // each rank's share of the
                                             // gradient
    } else {
      change(is, of);
    }
  }

  void change_undefined() {
    const std::string src(in_.call.key("src")), dst(in_.call.key("dst"));
    if (src != "V" || dst == "P") change(src, dst);
  }

  // Returns what src= means, with its dimension counted from the front.
  std::string source() const {
    const End src = parse_end(in_.call.key("src")).value();
    if (src.letter != 'S') return std::string(1, src.letter);
    return shards(normal_axis(src.dim, dims()));
  }

  size_t dims() const { return in_.operands[0]->pieces[0].shape.size(); }

  // Offers the same line over several axes as one redistribute between specs.
  void offer_specs() {
    const auto src = parse_end(in_.call.key("src"));
    const auto dst = parse_end(in_.call.key("dst"));
    const char a = src.value().letter, b = dst.value().letter;
    if (in_.operands[0]->pieces.empty() ||
        !(a == 'S' || a == 'R' || a == 'P') || !(b == 'S' || b == 'R') ||
        in_.is_local()) {
      return;
    }
    Placement from = type();
    from.spec.resize(dims());
    Placement to = from;
    const int64_t dim = a == 'S' ? normal_axis(src.value().dim, dims()) : -1;
    Findings ignored;
    const auto group = group_axes(in_, ignored);
    for (const Axis& axis : *group) {
      if (from.dim_of(axis) != dim) return;
      for (SpecEntry& entry : to.spec) std::erase(entry, axis);
      if (b != 'S') continue;
      const int64_t d = normal_axis(dst.value().dim, dims());
      to.spec[static_cast<size_t>(d)].push_back(axis);
    }
    const std::string src_spec = in_.names.spec_text(from, true);
    const std::string dst_spec = in_.names.spec_text(to, true);
    Line mended = in_.line;
    mended.op = "redistribute";
    mended.keys = {{"src_spec", src_spec, 0}, {"dst_spec", dst_spec, 0}};
    offer(mended);
  }

  void shard_target() {
    const std::string_view src = in_.call.key("src");
    if ((src == "P" || src == "R") && !in_.call.has_key("scatter_dim")) {
      offer_key("dst", "S0");
    }
  }

  void name_group() {
    Findings ignored;
    const bool is_one = group_axes(in_, ignored)->size() == 1;
    if (!is_one || in_.call.has_key("split_sizes")) return;
    offer_key("over", in_.names.name(axis()));
  }

  // Offers to gather the dimension, if the axis is the innermost one there.
  void gather() {
    const SpecEntry& entry = type().spec[static_cast<size_t>(fault_.dim)];
    if (entry.back() == axis()) change(shards(fault_.dim), "R");
  }

  void move_shards() {
    const SpecEntry& entry = type().spec[static_cast<size_t>(fault_.dim)];
    if (fault_.n < 0 || entry.size() != 1) return;
    change(shards(fault_.dim), shards(fault_.n));
  }

  // Offers the line with the split= and shape= of the tensor that these are
  // about.
  void offer_split() {
    if (!in_.is_placed()) return;
    ShardedValue of;
    if (fault_.result < 0) {
      if (fault_.operand < 0 || !in_.is_name(operand())) return;
      of = *in_.operands[operand()];
    } else if (in_.has_pieces()) {
      of.ranks = in_.ranks();
      of.pieces = in_.pieces->value()[0];
      of.type = fault_.seen;
    }
    const auto cut = stated_cut(of, in_.ranks(), in_.names.mesh());
    if (!cut.has_value()) return;
    offer(in_.line, " split=" + cut->split + " shape=" + list_text(cut->whole));
  }

  // Offers to bring an operand into the order that split= states, or that the
  // first operand has.
  void reorder() {
    const Axis& a = axis();
    const Axis& b = fault_.to[0];
    int wanted = nesting(fault_.stated, a, b);
    for (size_t o = 0; o < in_.operands.size(); ++o) {
      const int is = in_.is_name(o) ? nesting(in_.operands[o]->type, a, b) : 0;
      if (wanted == 0) wanted = is;
      if (is == 0 || is == wanted) continue;
      Placement to = in_.operands[o]->type;
      for (SpecEntry& entry : to.spec) {
        for (Axis& x : entry) x = x == a ? b : x == b ? a : x;
      }
      return offer_redistribution(o, in_.operands[o]->type, to);
    }
  }

  const ReadLine& in_;
  const TypeFault& fault_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> remedies(const ReadLine& line,
                                  const TypeFault& fault) {
  return Remedies(line, fault).find();
}

}  // namespace gt::check
