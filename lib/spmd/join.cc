#include "spmd/join.h"

#include <algorithm>
#include <map>

#include "ops/step_values.h"
#include "ops/text.h"

namespace gt {
namespace {

bool has(std::span<const char> letters, char letter) {
  return std::find(letters.begin(), letters.end(), letter) != letters.end();
}

// Compares one set of Row::linear with the arguments that are P: whether the
// set holds all of them, and whether its other members are P, too.
struct Cover {
  bool holds_all = true;
  bool is_whole = true;
};
Cover cover(const Call& call, std::span<const char> letters,
            std::string_view set) {
  Cover out;
  for (size_t i = 0; i < letters.size(); ++i) {
    const size_t p = call.op->parameter_of(i, letters.size());
    const bool member =
        p < 10 && set.find(static_cast<char>('0' + p)) != set.npos;
    const bool partial = letters[i] == 'P';
    if (partial && !member) out.holds_all = false;
    if (!partial && member && letters[i] != kNoLetter) out.is_whole = false;
  }
  return out;
}

Joined join_sums(const Call& call, std::span<const char> letters);

// For an op without a linear set: joins the letters step by step through its
// expansion.
class Trace {
 public:
  explicit Trace(std::span<const char> letters)
      : made_({letters.begin(), letters.end()}, kUntyped) {}

  Joined run(const Call& call) {
    for (const Step& step : expansion_steps(call)) {
      const Joined made = take(step);
      if (made.fault) return made;
      for (const Ref& ref : step.results) made_.set(ref, made.letter);
    }
    Joined out{0, std::nullopt};
    for (uint32_t r = 0; r < call.result_count; ++r) {
      const char letter = made_[{Ref::Kind::kResult, r}];
      out.letter = out.letter == 0 || out.letter == letter ? letter : kUntyped;
    }
    return out;
  }

 private:
  Joined take(const Step& step) {
    const std::vector<const Type*> none(step.operands.size(), nullptr);
    Call call;
    GT_CHECK(bind_step_form(step, none, call).ok());
    std::vector<char> letters;
    for (const Argument& a : call.arguments) {
      const StepOperand* o =
          a.operand < 0 ? nullptr
                        : &step.operands[static_cast<size_t>(a.operand)];
      letters.push_back(o != nullptr && o->is_ref         ? made_[o->ref]
                        : a.literal && a.number.real != 0 ? kLiteralLetter
                                                          : kNoLetter);
    }
    return join(call, letters);
  }

  StepValues<char> made_;
};

// Joins P with P, R and numbers.
Joined join_sums(const Call& call, std::span<const char> letters) {
  const auto linearity = call.op->row->linearity;
  const Linearity is =
      linearity == nullptr ? Linearity::kLinear : linearity(call);
  if (is == Linearity::kNone) return {kUntyped, Rule::kSumNonlinear};
  const std::vector<std::string_view> sets = linear_sets(*call.op);
  if (sets.empty() || is == Linearity::kAffine) {
    if (sets.empty() && !call.op->is_primitive() && !call.results.empty()) {
      return Trace(letters).run(call);
    }
    return {kUntyped, sets.empty() ? Rule::kSumNonlinear : Rule::kSumAffine};
  }
  bool held = false;
  std::string all;
  for (const std::string_view set : sets) {
    const Cover c = cover(call, letters, set);
    if (c.holds_all && c.is_whole) return {'P', std::nullopt};
    held = held || c.holds_all;
    all += set;
  }
  if (held) return {kUntyped, Rule::kSumAffine};
  const bool each = cover(call, letters, all).holds_all;
  return {kUntyped, each ? Rule::kSumProduct : Rule::kSumNonlinear};
}

}  // namespace

Joined join(const Call& call, std::span<const char> letters) {
  if (has(letters, kUntyped)) return {kUntyped, std::nullopt};
  const int divisor = call.op->row->divisor_operand;
  if (divisor >= 0 && letters[static_cast<size_t>(divisor)] == 'P') {
    return {kUntyped, Rule::kSumDivides};
  }
  const bool partial = has(letters, 'P');
  const bool varying = has(letters, 'V');
  if (has(letters, 'I')) {
    if (partial || varying || has(letters, 'R'))
      return {kUntyped, Rule::kInvariantMixed};
    return {'I', std::nullopt};
  }
  if (partial && varying) return {kUntyped, Rule::kSumVaries};
  if (partial) return join_sums(call, letters);
  return {varying ? 'V' : 'R', std::nullopt};
}

// ---- types by axis ----------------------------------------------------------

std::string describe(const Placement& type, const Mesh& mesh) {
  std::string out;
  for (const MeshAxis& axis : mesh.axes()) {
    const char letter = type.on(axis);
    if (letter == kUntyped) continue;
    out += (out.empty() ? "" : ",") + axis.name + ":" + letter;
  }
  return out;
}

namespace {

bool differ_along(const Axis& axis, const std::vector<int64_t>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(), [&](int64_t rank) {
    return axis.coordinate(rank) != axis.coordinate(ranks[0]);
  });
}

// True if any ranks that differ along the axis alone belong to one part.
bool are_groups_whole(const MeshAxis& axis, std::span<const TypedPart> parts) {
  std::map<int64_t, size_t> owner;
  for (size_t p = 0; p < parts.size(); ++p) {
    for (const int64_t rank : *parts[p].ranks) {
      if (owner.try_emplace(axis.origin(rank), p).first->second != p)
        return false;
    }
  }
  return true;
}

}  // namespace

std::vector<const MeshAxis*> axes_within(const Mesh& mesh,
                                         const std::vector<int64_t>& ranks) {
  std::vector<const MeshAxis*> axes;
  for (const MeshAxis& axis : mesh.axes()) {
    if (differ_along(axis, ranks)) axes.push_back(&axis);
  }
  return axes;
}

Placement restricted(const Placement& type, const std::vector<int64_t>& ranks) {
  Placement out;
  for (const AxisType& a : type.axes) {
    if (differ_along(a.axis, ranks)) out.axes.push_back(a);
  }
  return out;
}

Placement join_parts(const Mesh* mesh, std::span<const TypedPart> parts) {
  Placement out;
  if (mesh == nullptr || parts.empty()) return out;
  std::vector<int64_t> all;
  for (const TypedPart& part : parts) {
    all.insert(all.end(), part.ranks->begin(), part.ranks->end());
  }
  for (const MeshAxis* axis : axes_within(*mesh, all)) {
    std::string letters;
    for (const TypedPart& part : parts) {
      if (differ_along(*axis, *part.ranks)) {
        letters += part.type->on(*axis);
      }
    }
    const bool alike = std::all_of(letters.begin(), letters.end(),
                                   [&](char c) { return c == letters[0]; });
    const bool apart = !are_groups_whole(*axis, parts);
    if (!apart && alike && !letters.empty()) {
      out.set(*axis, letters[0]);
    } else if (letters.find_first_of("PI?") == std::string::npos) {
      out.set(*axis, 'V');
    }
  }
  return out;
}

}  // namespace gt
