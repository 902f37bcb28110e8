// The local join, axis by axis, and what would make a line legal.
#include <algorithm>

#include "check/judge.h"
#include "ops/table.h"
#include "spmd/join.h"

namespace gt {
namespace {

// What goes over the links when a value becomes another type, and when its
// gradient comes back.
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
    return dst == 'R' ? "nothing forward, sum backward"
                      : "nothing forward, gather backward";
  }
  return dst == 'P' ? "zero off rank 0 both ways"
                    : "nothing forward, its own place backward";
}

// Whether the argument's type counts: tensors, and scalars with a name.
bool is_typed(const Argument& a) {
  return a.operand >= 0 && !a.absent && !a.literal &&
         (a.role == Role::kTensor || a.role == Role::kAny);
}

}  // namespace

// Every operand is typed on every axis, and in global mode a V says which
// dimension it shards.
bool Judge::check_typed() {
  for (const Axis& axis : within_) {
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      const Argument& a = call_.arguments[i];
      const auto o = static_cast<size_t>(a.operand);
      if (!is_typed(a) || !is_name(o)) continue;
      const ShardedValue& value = *operands_[o];
      if (value.state == ShardedValue::State::kSoft) continue;
      const char letter = value.type.on(axis);
      if (letter == kUntyped && !options_.permissive) {
        add_untyped(o, axis);
        break;
      }
      if (letter != 'V' || is_local(axis)) continue;
      if (value.type.pending(axis) != 0) {
        // A second name.
        if (op_->row->collective == Collective::kCopy) continue;
        add("partial-op", &axis,
            std::string(line_.operands[o].text) + " is the extreme of a shard",
            "all_reduce op=max (min) over the axis must read it first");
        break;
      }
      const bool is_scalar =
          value.pieces.empty() || value.pieces[0].shape.empty();
      if (value.type.dim_of(axis) < 0 && !(a.role == Role::kAny && is_scalar)) {
        add("vary-global", &axis,
            std::string(line_.operands[o].text) +
                " is V, but no dimension of it is sharded",
            "claim Si, or reinterpret V>P, or use #local");
        offer_self(" #local");
        break;
      }
    }
  }
  return !has_failed();
}

// An operand without a type on the axis: its line, or one that is not judged,
// has to claim what it is.
void Judge::add_untyped(size_t operand, const Axis& axis) {
  add("axis-missing", &axis, missing_axis(operand, axis));
  Placement type = operands_[operand]->type;
  if (in_.where == nullptr) return;
  for (const AxisType& a : type.axes) {
    if (!in_.names.is_current(a.axis)) return;
  }
  for (const Axis& a : within_) {
    if (type.on(a) == kUntyped) type.set(a, 'R');
  }
  const std::string spec = in_.names.spec_text(type);
  offer_line(operand, "copy",
             " #unchecked #type=" + in_.names.type_text(type) +
                 (spec.empty() ? "" : " #spec=" + spec),
             "claims equal copies");
}

std::string Judge::missing_axis(size_t operand, const Axis& axis) const {
  std::string text = described(operand) + " has no type on it";
  const Placement& type = operands_[operand]->type;
  for (const AxisType& a : type.axes) {
    if (in_.names.is_current(a.axis)) continue;
    const bool holds = a.axis.stride <= axis.stride &&
                       axis.stride * axis.size <= a.axis.stride * a.axis.size;
    text +=
        holds ? "; its axis " + in_.names.name(a.axis) +
                    " covers these ranks: remesh it"
              : "; its axis " + in_.names.name(a.axis) + " is of another mesh";
  }
  return text;
}

std::vector<char> Judge::letters_on(const Axis& axis) const {
  std::vector<char> letters;
  for (size_t i = 0; i < call_.arguments.size(); ++i) {
    const Argument& a = call_.arguments[i];
    char letter = kNoLetter;
    if (a.role == Role::kTensor && a.literal && !a.absent) {
      letter = a.number.real != 0 ? kLiteralLetter : kNoLetter;
    } else if (is_typed(a) && is_name(static_cast<size_t>(a.operand))) {
      const ShardedValue& value = *operands_[static_cast<size_t>(a.operand)];
      letter =
          value.state == ShardedValue::State::kSoft ? 'R' : value.type.on(axis);
      if (letter == kUntyped) letter = kNoLetter;  // permissive
      const size_t p = call_.op->parameter_of(i, call_.arguments.size());
      // Numbers drawn alike suit any type, as a literal seed does.
      if (letter == 'R' && call_.op->is_seed(p)) {
        letter = kNoLetter;
      }
    }
    letters.push_back(letter);
  }
  return letters;
}

bool Judge::join_axes() {
  for (const Axis& axis : within_) {
    const std::vector<char> letters = letters_on(axis);
    const bool none = std::all_of(letters.begin(), letters.end(),
                                  [](char c) { return c == kNoLetter; });
    const bool names =
        std::any_of(call_.arguments.begin(), call_.arguments.end(), is_typed);
    if (none && names && options_.permissive) continue;
    Joined joined = join(call_, letters);
    if (joined.kind != nullptr && adds_to_sum(axis)) joined = {'P', nullptr};
    if (joined.kind != nullptr) {
      explain_join(joined.kind, axis, letters);
      continue;
    }
    // A constant of no ranks says nothing of them.
    if (none && in_.where == nullptr && !names) continue;
    const int32_t pending =
        op_->row->collective == Collective::kCopy && is_name(0)
            ? operands_[0]->type.pending(axis)
            : 0;
    for (Placement& type : types_) type.set(axis, joined.letter, pending);
  }
  if (has_failed()) return false;
  return true;
}

void Judge::explain_join(const char* kind, const Axis& axis,
                         const std::vector<char>& letters) {
  std::string found;
  for (const char c : {'R', 'I', 'V', 'P'}) {
    if (std::find(letters.begin(), letters.end(), c) == letters.end()) continue;
    found += (found.empty() ? "" : " and ") + std::string(1, c);
  }
  if (std::find(letters.begin(), letters.end(), kLiteralLetter) !=
      letters.end()) {
    found += " and a number";
  }
  const std::string n = std::to_string(axis.size);
  const std::string_view k = kind;
  std::string message, why;
  if (k == "inv-mix") {
    message = "I goes with nothing but I, found " + found;
    why =
        "the gradient of an I is one computation's, that of the others has "
        "to be added up over the ranks";
  } else if (k == "part-vary") {
    message =
        "a pending sum (P) beside values of each rank's own, found " + found;
    why = "what differs by rank is no factor or summand of the whole sum";
  } else if (k == "part-nonlin") {
    message = "takes whole values, found " + found;
    why = "f(a + b) is not f(a) + f(b): the sum has to be taken before";
  } else if (k == "part-affine") {
    message = "every summand must be P, found " + found;
    why = "the summand that is not P would be added once per rank, " + n +
          " times in all";
  } else if (k == "part-multi") {
    message = "one factor may be P, found several";
    why = "the product of two sums is not the sum of the ranks' products";
  } else {
    message = "the divisor must not be P, found " + found;
    why = "a / (b + c) is not a / b + a / c";
  }
  add(kind, &axis, std::move(message), std::move(why));
  find_fixes(axis, letters, out_.problems.back());
}

// ---- remedies ---------------------------------------------------------------

namespace {

struct Rewrite {
  char from, to;
  const char* op;
  const char* cost;
};
constexpr Rewrite kRewrites[] = {
    {'I', 'R', "convert", "nothing forward, sum backward"},
    {'I', 'P', "convert", "zero off rank 0 forward, nothing backward"},
    {'P', 'R', "all_reduce", "sum forward, sum backward"},
    {'P', 'I', "all_reduce", "sum forward, nothing backward"},
    {'R', 'P', "convert", "zero off rank 0 both ways"}};

}  // namespace

void Judge::find_fixes(const Axis& axis, const std::vector<char>& letters,
                       Problem& problem) const {
  for (const Rewrite& rewrite : kRewrites) {
    std::vector<char> changed = letters;
    const auto at = std::find(changed.begin(), changed.end(), rewrite.from);
    if (at == changed.end()) continue;
    *at = rewrite.to;
    const Joined made = join(call_, changed);
    if (made.kind != nullptr) continue;
    // The others alone say what is meant.
    *at = kNoLetter;
    const bool others = std::any_of(changed.begin(), changed.end(),
                                    [](char c) { return c != kNoLetter; });
    const Joined alone = join(call_, changed);
    if (others && alone.kind == nullptr && alone.letter != made.letter) {
      continue;
    }
    const auto argument = static_cast<size_t>(at - changed.begin());
    problem.fixes.push_back(
        fix_line(static_cast<size_t>(call_.arguments[argument].operand), axis,
                 rewrite.op, std::string(1, rewrite.from),
                 std::string(1, rewrite.to)) +
        "   (" + rewrite.cost + ")");
  }
}

std::string Judge::fix_line(size_t operand, const Axis& axis, const char* op,
                            const std::string& src,
                            const std::string& dst) const {
  return new_line(operand, op,
                  " over=" + in_.names.name(axis) + " src=" + src + " dst=" +
                      dst + (src == "I" && dst == "P" ? " expert=1" : ""));
}

// "y1@0-1 = OP y@0-1 KEYS"
std::string Judge::new_line(size_t operand, const char* op,
                            const std::string& keys) const {
  const Operand& o = line_.operands[operand];
  const std::string at = o.ranks.empty() ? "" : "@" + std::string(o.ranks);
  return std::string(o.text) + "1" + at + " = " + op + " " +
         std::string(o.text) + at + keys;
}

void Judge::offer_line(size_t operand, const char* op, const std::string& keys,
                       const char* cost) {
  out_.problems.back().fixes.push_back(new_line(operand, op, keys) + "   (" +
                                       cost + ")");
}

void Judge::offer_key(std::string_view key, const std::string& value) {
  Line mended = line_;
  std::erase_if(mended.keys, [&](const Key& k) { return k.key == key; });
  mended.keys.push_back({key, value, 0});
  offer_instruction(mended);
}

// The line itself, with what mends it behind it.
void Judge::offer_self(const std::string& more) {
  offer_instruction(line_, more);
}

void Judge::offer_instruction(const Line& line, const std::string& more) {
  std::string fix;
  append_instruction(fix, line);
  out_.problems.back().fixes.push_back(fix + more);
}

// A line that mends the last finding, with what it costs.
void Judge::offer(size_t operand, const Axis& axis, const char* op,
                  const std::string& src, const std::string& dst) {
  out_.problems.back().fixes.push_back(
      fix_line(operand, axis, op, src, dst) + "   (" +
      traffic(collective_of(op), src[0], dst[0]) + ")");
}

// By what a type becomes another; nothing where no line does that.
void Judge::offer_change(size_t operand, const Axis& axis,
                         const std::string& from, const std::string& to) {
  const char a = from[0], b = to[0];
  const char* op = nullptr;
  if (a == 'P' && (b == 'R' || b == 'I')) op = "all_reduce";
  if (a == 'P' && b == 'S') op = "reduce_scatter";
  if (a == 'S' && (b == 'R' || b == 'I')) op = "all_gather";
  if (a == 'S' && b == 'S' && from != to) op = "all_to_all";
  if ((a == 'R' || a == 'I') && (b == 'S' || b == 'P')) op = "convert";
  if (a == 'I' && b == 'R') op = "convert";
  if (op != nullptr) offer(operand, axis, op, from, to);
}

}  // namespace gt
