#include "check/words.h"

#include <algorithm>

#include "check/rule_words.h"
#include "ops/ends.h"
#include "ops/table.h"
#include "spmd/join.h"
#include "stream/ranks.h"

namespace gt::check {
namespace {

std::string list(const std::vector<Axis>& axes, const AxisNames& names) {
  std::string out;
  for (const Axis& axis : axes) {
    out += (out.empty() ? "" : ",") + names.name(axis);
  }
  return out.empty() ? "none" : out;
}

// Returns the parts of the axis that none of the others covers; nothing if none
// overlaps it.
std::vector<Axis> uncovered(const Axis& whole, std::vector<Axis> others) {
  std::sort(others.begin(), others.end(),
            [](const Axis& a, const Axis& b) { return a.stride < b.stride; });
  const int64_t end = whole.stride * whole.size;
  int64_t at = whole.stride;
  std::vector<Axis> rest;
  bool meets = false;
  for (const Axis& other : others) {
    const int64_t low = std::max(other.stride, whole.stride);
    const int64_t high = std::min(other.stride * other.size, end);
    if (low >= high) continue;
    meets = true;
    if (low > at) rest.push_back({low / at, at});
    at = std::max(at, high);
  }
  if (!meets) return {};
  if (at < end) rest.push_back({end / at, at});
  return rest;
}

// Fills the blanks of one fault's words.
class Blanks {
 public:
  Blanks(const ReadLine& in, const TypeFault& fault) : in_(in), fault_(fault) {}

  std::string filled(std::string_view text) const {
    std::string out;
    while (!text.empty()) {
      const size_t open = std::min(text.find('{'), text.size());
      out += text.substr(0, open);
      text.remove_prefix(open);
      if (text.empty()) break;
      const size_t close = text.find('}');
      out += blank(text.substr(1, close - 1));
      text.remove_prefix(close + 1);
    }
    return out;
  }

 private:
  std::string blank(std::string_view name) const {
    if (name == "text") return fault_.text;
    if (name == "d") return std::to_string(fault_.dim);
    if (name == "n") return std::to_string(fault_.n);
    if (name == "m") return std::to_string(fault_.m);
    if (name == "is") return std::string(1, fault_.is);
    if (name == "wanted") return std::string(1, fault_.wanted);
    if (name == "op") return std::string(in_.line.op);
    if (name == "r") return std::string(result().text);
    if (name == "x") return operand_name(operand());
    if (name == "X") return described(operand());
    if (name == "wholes") return wholes();
    for (const auto& [known, axes] :
         {std::pair("axis", &fault_.axes), std::pair("axes", &fault_.axes),
          std::pair("from", &fault_.from), std::pair("to", &fault_.to)}) {
      if (name == known) return list(*axes, in_.names);
    }
    if (const auto text = of_types(name)) return *text;
    if (const auto text = of_ends(name)) return *text;
    return of_rule(name);
  }

  // ---- names and types ------------------------------------------------------

  size_t operand() const { return static_cast<size_t>(fault_.operand); }
  const Name& result() const {
    return in_.line.results[static_cast<size_t>(fault_.result)];
  }
  const Placement& type() const { return in_.operands[operand()]->type; }
  std::string operand_name(size_t o) const {
    return std::string(in_.line.operands[o].text);
  }
  std::string described(size_t o) const {
    return operand_name(o) + " " + in_.names.describe(in_.operands[o]->type);
  }

  std::optional<std::string> of_types(std::string_view name) const {
    const AxisNames& names = in_.names;
    if (name == "seen") return names.describe(fault_.seen);
    if (name == "stated") return names.describe(fault_.stated);
    if (name == "types") return names.describe(type());
    if (name == "seen-spec") return names.spec_text(fault_.seen, true);
    if (name == "stated-spec") return names.spec_text(fault_.stated, true);
    if (name == "x-spec") return names.spec_text(type(), true);
    return std::nullopt;
  }

  // Returns the operands with their types and the wholes of their pieces.
  std::string wholes() const {
    std::string text;
    for (size_t o = 0; o < in_.operands.size(); ++o) {
      if (!in_.operands[o].has_value()) continue;
      text += (text.empty() ? "" : ", ") + described(o);
      const auto whole = whole_of(*in_.operands[o]);
      if (whole.has_value()) text += " of " + to_string(*whole);
    }
    return text;
  }

  // ---- ends -----------------------------------------------------------------

  std::string key(std::string_view name) const {
    return std::string(in_.call.key(name));
  }

  std::optional<std::string> of_ends(std::string_view name) const {
    if (name == "src") return key("src");
    if (name == "src-spec") return key("src_spec");
    if (name == "stated-key") return key(fault_.text);
    if (name == "ends") return "src=" + key("src") + " dst=" + key("dst");
    if (name == "connected") return connected_ends(*in_.call.op);
    if (name == "between") {
      return std::string(op_between(parse_end(key("src")).value(),
                                    parse_end(key("dst")).value()));
    }
    if (name == "src-end") return src_end();
    if (name == "gate") return gate();
    return std::nullopt;
  }

  std::string src_end() const {
    const auto& pieces = in_.operands[0]->pieces;
    const int64_t dim =
        normal_axis(parse_end(key("src")).value().dim, pieces[0].shape.size());
    return "S" + std::to_string(dim);
  }

  // Says why a pair of ends that the op connects needs expert=1.
  std::string gate() const {
    if (in_.collective() == Collective::kReinterpret) {
      return key("dst") == "P" ? "the value becomes n times itself; usually "
                                 "convert R>P is meant"
                               : "usually convert is meant";
    }
    return key("src") == "R" ? "that would hide the ranks' work: use I from "
                               "the start, or convert I>R"
                             : "usually all_gather or all_reduce is meant";
  }

  // ---- blanks of one rule alone ---------------------------------------------

  std::string of_rule(std::string_view name) const {
    if (name == "missing") return missing();
    if (name == "elsewhere") return elsewhere();
    if (name == "found") return found();
    if (name == "ranks") return std::to_string(fault_.axes[0].size);
    if (name == "group") return to_string(in_.ranks());
    if (name == "letter") {
      return fault_.is == 'S' ? "sharded" : std::string(1, fault_.is);
    }
    if (name == "parts") return fault_.is == 'P' ? "summands" : "shards";
    if (name == "extreme") return fault_.is == 'x' ? "max" : "min";
    if (name == "only-sum") {
      return fault_.is == 'P' ? "P is a sum: no other reduction gives its value"
                              : "";
    }
    if (name == "added-up") return added_up();
    if (name == "match") return match();
    if (name == "heads") {
      return in_.line.key("heads") == nullptr
                 ? ""
                 : ". heads= counts those of the whole then";
    }
    if (name == "target") return unquote(*in_.line.note("grad"));
    if (name == "gradient") return gradient();
    return of_claim(name);
  }

  std::string of_claim(std::string_view name) const {
    const bool shards = fault_.wanted == 'S';
    const std::string dim = std::to_string(fault_.dim);
    if (name == "claimed") {
      return std::string(1, fault_.wanted) + (shards ? dim : "");
    }
    if (name == "sharded") {
      return fault_.m < 0
                 ? ""
                 : ", sharded on dimension " + std::to_string(fault_.m);
    }
    const bool cuts = fault_.n == 1 && shards;  // the blank {cutter}
    return !cuts ? ""
                 : "; split=" + in_.names.name(fault_.axes[0]) + ":" + dim +
                       " is what cuts";
  }

  // Returns "; of dp_cp, cp is missing", for each axis on either side.
  std::string missing() const {
    std::string text;
    const auto add = [&](const auto& axes, const auto& others) {
      for (const Axis& axis : axes) {
        const std::vector<Axis> rest = uncovered(axis, others);
        if (rest.empty()) continue;
        text += "; of " + in_.names.name(axis) + ", " + list(rest, in_.names) +
                " is missing";
      }
    };
    add(fault_.to, fault_.from);
    add(fault_.from, fault_.to);
    return text;
  }

  // Names the other axes on which an operand that lacks this axis is typed.
  std::string elsewhere() const {
    const Axis& axis = fault_.axes[0];
    std::string text;
    for (const AxisType& a : type().axes) {
      if (in_.names.is_current(a.axis)) continue;
      const bool holds = a.axis.stride <= axis.stride &&
                         axis.stride * axis.size <= a.axis.stride * a.axis.size;
      text +=
          "; its axis " + in_.names.name(a.axis) +
          (holds ? " covers these ranks: remesh it" : " is of another mesh");
    }
    return text;
  }

  // Returns "P and R and a number": what the join found.
  std::string found() const {
    const std::vector<char> letters = in_.letters_on(fault_.axes[0]);
    const auto has = [&](char c) {
      return std::find(letters.begin(), letters.end(), c) != letters.end();
    };
    std::string text;
    for (const char c : {'R', 'I', 'V', 'P'}) {
      if (has(c)) text += (text.empty() ? "" : " and ") + std::string(1, c);
    }
    return text + (has(kLiteralLetter) ? " and a number" : "");
  }

  std::string added_up() const {
    if (fault_.is != 'R' || key("src") != "P") return "";
    return "it would be added up " + std::to_string(fault_.axes[0].size) +
           " times";
  }

  std::string match() const {
    const std::string size = std::to_string(fault_.size);
    return fault_.text == fault_.more
               ? "no multiple of " + size
               : "and " + size + " would match " + fault_.more;
  }

  // Says which types a gradient of what #grad= names may have.
  std::string gradient() const {
    const char of = fault_.seen.on(fault_.axes[0]);
    return of == 'V'   ? "shards as the parameter's, or a sum (P)"
           : of == 'I' ? "I, or a sum (P)"
                       : "R or a sum (P)";
  }

  const ReadLine& in_;
  const TypeFault& fault_;
};

bool is_of_remesh(Rule rule) {
  return rule == Rule::kRemeshSizes || rule == Rule::kRemeshLetters ||
         rule == Rule::kRemeshRanks || rule == Rule::kRemeshSpec;
}

// Returns the column of the operand or the result that breaks the rule, else of
// the op.
size_t column_of(const Line& line, const TypeFault& fault) {
  const auto o = static_cast<size_t>(fault.operand);
  const auto r = static_cast<size_t>(fault.result);
  if (fault.column != 0) return fault.column;
  if (fault.operand >= 0 && o < line.operands.size()) {
    return line.operands[o].column;
  }
  if (fault.result >= 0 && r < line.results.size()) {
    return line.results[r].column;
  }
  return line.op_column;
}

}  // namespace

Problem in_words(const ReadLine& line, const TypeFault& fault) {
  const RuleWords& words = rule_words(fault.rule);
  const Blanks blanks(line, fault);
  const bool as_written = fault.axes.empty() && !is_of_remesh(fault.rule);
  Problem out{words.kind,
              as_written ? fault.more : list(fault.axes, line.names),
              blanks.filled(words.message),
              blanks.filled(words.why),
              {},
              column_of(line.line, fault)};
  if (is_of_remesh(fault.rule) && fault.operand >= 0) {
    const auto o = static_cast<size_t>(fault.operand);
    if (out.kind == "remesh-region") out.kind = "axis-missing";
    out.message = std::string(line.line.operands[o].text) + ": " + out.message;
  }
  return out;
}

std::string in_words(const ReadLine& line, const Remark& remark) {
  const auto o = static_cast<size_t>(remark.operand);
  return std::string(line.line.operands[o].text) + " " +
         line.names.describe(line.operands[o]->type) +
         ": its shards of dimension " + std::to_string(remark.dim) +
         " are read as unrelated values, which changes what they mean";
}

}  // namespace gt::check
