// The type of a placed line's results: sources, the join, collectives, claims.
#include <algorithm>

#include "base/message.h"
#include "ops/ends.h"
#include "ops/table.h"
#include "spmd/join.h"
#include "stream/notes.h"

namespace gt {
namespace {

using Axes = std::vector<const MeshAxis*>;

// "dp", "world", "dp+tp": as axes of the mesh; none of a name that it lacks.
Axes axes_named(const Mesh& mesh, std::string_view names) {
  const auto axes = mesh.resolve(names);
  return axes.ok() ? axes.value() : Axes{};
}

bool holds(const Axes& axes, const MeshAxis* axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// S of any dimension counts as V.
char letter_of(std::string_view text) {
  const auto end = parse_end(text);
  if (!end.ok()) return kUntyped;
  return end.value().letter == 'S' ? 'V' : end.value().letter;
}

// Makes a value of no tensor: its op begins with a type or a path.
bool is_source(const Op& op) {
  return !op.operands.empty() && (op.operands[0].role == Role::kType ||
                                  op.operands[0].role == Role::kString);
}

class Inference {
 public:
  Inference(const TypedLine& in, std::vector<Finding>& findings)
      : in_(in), line_(in.line), mesh_(*in.mesh), findings_(findings) {}

  Placement run() {
    within_ = axes_within(mesh_, in_.where.ranks);
    const std::vector<const Type*> none(line_.operands.size(), nullptr);
    if (!bind_form(line_, none, call_).ok()) return {};
    if (crosses_ranks(line_, in_.where)) {
      cross();
    } else {
      for (const MeshAxis* axis : within_) join_on(*axis);
      apply_split();
    }
    apply_claims();
    return out_;
  }

 private:
  void find(const char* kind, const MeshAxis& axis, std::string message) {
    findings_.push_back({kind, axis.name, std::move(message)});
  }

  char operand_letter(size_t operand, const MeshAxis& axis) const {
    const Placement* type = in_.operands[operand];
    return type == nullptr ? kUntyped : type->on(axis);
  }

  bool is_seed(size_t argument) const {
    const size_t p = call_.op->parameter_of(argument, call_.arguments.size());
    return call_.op->is_seed(p);
  }

  void join_on(const MeshAxis& axis) {
    std::vector<char> letters;
    std::string found;
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      const Argument& a = call_.arguments[i];
      char letter = kNoLetter;
      if (a.role == Role::kTensor && a.literal) {
        letter = a.number.real != 0 ? kLiteralLetter : kNoLetter;
      } else if (a.role == Role::kTensor && a.operand >= 0) {
        letter = operand_letter(static_cast<size_t>(a.operand), axis);
        found += (found.empty() ? "" : " ") + std::string(1, letter);
        // Whole numbers drawn alike suit any type, as a literal seed does.
        if (letter == 'R' && is_seed(i)) letter = kNoLetter;
      }
      letters.push_back(letter);
    }
    if (std::find(letters.begin(), letters.end(), 'P') != letters.end() &&
        call_.op->row->linear[0] == '\0') {
      bind_whole();
    }
    const Joined joined = join(call_, letters);
    if (joined.kind != nullptr) {
      find(joined.kind, axis, "operands are " + found);
    }
    out_.set(axis, joined.letter);
  }

  // Shapes are needed to trace an expansion.
  void bind_whole() {
    if (!call_.results.empty() || !in_.pieces) return;
    const auto grid = grid_of(line_, in_.mesh, in_.where.ranks);
    if (!grid.ok()) return;
    plan_.emplace(local_plan(line_, grid.value()));
    if (!plan_->ok()) return;
    std::vector<const Type*> types;
    for (size_t o = 0; o < line_.operands.size(); ++o) {
      const bool name = line_.operands[o].kind == Operand::Kind::kName;
      types.push_back(name ? in_.pieces(o, in_.where.ranks[0]) : nullptr);
    }
    Call call;
    if (bind_local(plan_->value(), plan_->value().variant_of[0], types, call)
            .ok()) {
      call_ = std::move(call);
    }
  }

  // split= cuts a source; of a table that is cut, whole indices pick summands.
  void apply_split() {
    const std::string_view* text = line_.key("split");
    if (text == nullptr) return;
    const auto split = parse_split(unquote(*text));
    if (!split.ok()) return;
    const bool makes = is_source(*call_.op);
    // What reads a table by index, and only that.
    const bool picks = call_.op->row->part_operand == 0;
    for (const SplitEntry& entry : split.value()) {
      for (const MeshAxis* axis : axes_named(mesh_, entry.axis)) {
        if (!holds(within_, axis)) continue;
        const bool grows = call_.op->row->repeats && out_.on(*axis) == 'R';
        if (makes || grows) out_.set(*axis, 'V');
        if (picks && line_.operands.size() > 1 &&
            operand_letter(0, *axis) == 'V' &&
            operand_letter(1, *axis) == 'R') {
          out_.set(*axis, 'P');
        }
      }
    }
  }

  // ---- what crosses ranks ---------------------------------------------------

  void cross() {
    const Collective op = collective_of(line_.op);
    if (op == Collective::kCopy) return copy();
    if (in_.operands.empty() || in_.operands[0] == nullptr) return;
    out_ = restricted(*in_.operands[0], in_.where.ranks);
    if (op == Collective::kRemesh) return remesh();
    const bool has_ends =
        op != Collective::kBroadcast && op != Collective::kReduce;
    const std::string dst(op == Collective::kBroadcast ? "R"
                          : op == Collective::kReduce  ? "P"
                                                       : call_.key("dst"));
    const char to = letter_of(dst);
    const char from = has_ends ? letter_of(call_.key("src")) : kUntyped;
    for (const MeshAxis* axis : group_axes()) {
      if (!holds(within_, axis)) continue;
      const char is = operand_letter(0, *axis);
      if (from != kUntyped && is != kUntyped && is != from &&
          !(is == 'V' && from == 'P' && line_.key("src") == nullptr)) {
        find("src-type", *axis,
             "src=" + std::string(call_.key("src")) + " but the operand is " +
                 is);
      }
      out_.set(*axis, to);
    }
  }

  // Without over= the whole set is a group: all axes along which it extends, if
  // it fills them.
  Axes group_axes() const {
    const std::string over = unquote(call_.key("over"));
    if (!over.empty()) return axes_named(mesh_, over);
    return within_;
  }

  void remesh() {
    if (const std::string_view* type = line_.key("type")) {
      for_each_claim(unquote(*type), [this](const MeshAxis& axis, char letter) {
        out_.set(axis, letter);
      });
    }
  }

  // Sets of one layout keep their letters; from one rank to many is R.
  void copy() {
    const std::vector<int64_t>& from = in_.where.operands[0];
    const Placement* type = in_.operands[0];
    if (from.size() == 1) {
      for (const MeshAxis* axis : within_) out_.set(*axis, 'R');
      return;
    }
    if (type == nullptr) return;
    const bool alike = axes_within(mesh_, from) == within_;
    for (const MeshAxis* axis : within_) {
      if (alike) out_.set(*axis, type->on(*axis));
    }
  }

  // ---- claims ---------------------------------------------------------------

  template <typename F>
  void for_each_claim(const std::string& text, F f) const {
    if (text.find(':') == std::string::npos) {
      for (const MeshAxis* axis : within_) f(*axis, letter_of(text));
      return;
    }
    std::string_view rest = text;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view word = rest.substr(0, comma);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      const size_t colon = word.find(':');
      if (colon == std::string_view::npos) continue;
      for (const MeshAxis* axis : axes_named(mesh_, word.substr(0, colon))) {
        if (holds(within_, axis)) f(*axis, letter_of(word.substr(colon + 1)));
      }
    }
  }

  void apply_claims() {
    if (const std::string_view* type = line_.note("type")) {
      // By the local rules all results have one type.
      const std::string said(part_of_result(unquote(*type), 0));
      for_each_claim(said, [this](const MeshAxis& axis, char letter) {
        claim(axis, letter);
      });
    }
    if (const std::string_view* partial = line_.note("partial")) {
      for (const MeshAxis* axis : axes_named(mesh_, unquote(*partial))) {
        if (holds(within_, axis)) claim_partial(*axis);
      }
    }
    if (line_.note("unchecked") != nullptr && line_.note("type") == nullptr) {
      out_ = {};
    }
  }

  void claim(const MeshAxis& axis, char letter) {
    const char is = out_.on(axis);
    if (letter == kUntyped || letter == is) return;
    const bool free = is == kUntyped || (is == 'V' && letter == 'P') ||
                      (is == 'R' && is_source(*call_.op));
    if (free) {
      out_.set(axis, letter);
    } else {
      find("assert", axis,
           std::string("claimed ") + letter + ", but it is " + is);
    }
  }

  void claim_partial(const MeshAxis& axis) {
    const char is = out_.on(axis);
    if (is == 'R' || is == 'I') {
      find(is == 'R' ? "partial-repl" : "partial-inv", axis,
           "no sharded dimension was contracted");
      return;
    }
    out_.set(axis, 'P');
  }

  const TypedLine& in_;
  const Line& line_;
  const Mesh& mesh_;
  std::vector<Finding>& findings_;
  Axes within_;
  Call call_;
  std::optional<Result<LocalPlan>> plan_;
  Placement out_;
};

}  // namespace

Placement infer_type(const TypedLine& line, std::vector<Finding>& findings) {
  // Ranks outside the mesh are on no axis of it.
  if (!Grid::make(line.mesh, line.where.ranks).ok()) return {};
  if (line.mesh == nullptr) return {};
  return Inference(line, findings).run();
}

}  // namespace gt
