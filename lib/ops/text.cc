#include "ops/text.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ops/table.h"

namespace gt {
namespace {

constexpr size_t kNoEach = SIZE_MAX;

class Instance {
 public:
  Instance(const Call& call, bool gradient)
      : call_(call), op_(*call.op), gradient_(gradient) {}

  std::vector<Step> run(const std::vector<TextLine>& lines) {
    for (const TextLine& line : lines) {
      const bool each = std::find(line.guards.begin(), line.guards.end(),
                                  "each") != line.guards.end();
      if (!each) {
        add(line, kNoEach);
        continue;
      }
      for (size_t i = 0; i < variadic_count(); ++i) add(line, i);
    }
    return std::move(steps_);
  }

 private:
  // Elements of the variadic operand, or of the variadic result.
  size_t variadic_count() const {
    if (op_.is_variadic()) {
      return call_.arguments.size() + 1 - op_.operands.size();
    }
    return call_.result_count + 1 - op_.results.size();
  }

  void add(const TextLine& line, size_t each) {
    each_ = each;
    for (const std::string& guard : line.guards) {
      if (guard != "each" && !holds(guard)) return;
    }
    Step step;
    step.op = find_op(line.op);
    GT_CHECK(step.op != nullptr);
    for (const std::string& name : line.results) {
      if (name.ends_with("...")) {
        add_all(name.substr(0, name.size() - 3), step.results);
        continue;
      }
      const auto ref = find(name);
      step.results.push_back(ref ? *ref : temp(name));
    }
    for (const std::string& word : line.operands) add_operand(word, step);
    for (const auto& [key, value] : line.keys) {
      step.keys.emplace_back(key, replace(value));
    }
    steps_.push_back(std::move(step));
  }

  void add_operand(const std::string& word, Step& step) {
    if (word.ends_with("...")) {
      std::vector<Ref> refs;
      add_all(word.substr(0, word.size() - 3), refs);
      for (const Ref& ref : refs) push_ref(ref, step);
      return;
    }
    if (const auto ref = find(word)) return push_ref(*ref, step);
    if (const auto it = temps_.find(word); it != temps_.end()) {
      return push_ref({Ref::Kind::kTemp, it->second}, step);
    }
    StepOperand literal;
    literal.is_ref = false;
    literal.text = replace(word);
    step.operands.push_back(std::move(literal));
  }

  void push_ref(const Ref& ref, Step& step) {
    StepOperand operand;
    operand.ref = ref;
    if (ref.kind == Ref::Kind::kOperand) {
      const Argument& a = call_.arguments[ref.index];
      if (a.absent) return;
      if (a.literal || a.role != Role::kTensor) {
        operand.is_ref = false;
        operand.text = std::string(a.text);
      }
    }
    step.operands.push_back(std::move(operand));
  }

  Ref temp(const std::string& name) {
    const auto [it, fresh] =
        temps_.emplace(name, static_cast<uint32_t>(temps_.size()));
    (void)fresh;
    return {Ref::Kind::kTemp, it->second};
  }

  // All elements of a variadic, or its gradients.
  void add_all(const std::string& name, std::vector<Ref>& refs) {
    const size_t saved = each_;
    for (size_t i = 0; i < variadic_count(); ++i) {
      each_ = i;
      const auto ref = find(name);
      GT_CHECK(ref.has_value());
      refs.push_back(*ref);
    }
    each_ = saved;
  }

  std::optional<Ref> find(std::string_view name) const {
    // A name that is both, as w in "w = sgd w g", is the operand when read;
    // expansions write the result through "=w".
    if (name.starts_with('=')) {
      if (const auto i = result(name.substr(1))) {
        return Ref{Ref::Kind::kResult, *i};
      }
    }
    if (const auto i = operand(name)) return Ref{Ref::Kind::kOperand, *i};
    if (const auto i = result(name)) return Ref{Ref::Kind::kResult, *i};
    if (!gradient_ || !name.starts_with('d')) return std::nullopt;
    name.remove_prefix(1);
    if (const auto i = operand(name)) return Ref{Ref::Kind::kOperandGrad, *i};
    if (const auto i = result(name)) return Ref{Ref::Kind::kResultGrad, *i};
    return std::nullopt;
  }

  std::optional<uint32_t> operand(std::string_view name) const {
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      const Parameter& p =
          op_.operands[op_.parameter_of(i, call_.arguments.size())];
      if (p.name != name) continue;
      return static_cast<uint32_t>(i + (p.variadic ? offset() : 0));
    }
    return std::nullopt;
  }

  std::optional<uint32_t> result(std::string_view name) const {
    for (size_t i = 0; i < call_.result_count; ++i) {
      const Parameter& p =
          op_.results[op_.result_parameter_of(i, call_.result_count)];
      if (p.name != name) continue;
      return static_cast<uint32_t>(i + (p.variadic ? offset() : 0));
    }
    return std::nullopt;
  }

  size_t offset() const { return each_ == kNoEach ? 0 : each_; }

  bool holds(const std::string& guard) const {
    const size_t equals = guard.find('=');
    if (equals == std::string::npos) {
      const bool wanted = guard[0] != '!';
      return is_given(wanted ? guard : guard.substr(1)) == wanted;
    }
    const bool differs = guard[equals - 1] == '!';
    const std::string value =
        placeholder(guard.substr(0, equals - (differs ? 1 : 0)));
    return (value == guard.substr(equals + 1)) != differs;
  }

  // An operand, a result or a key.
  bool is_given(std::string_view name) const {
    if (const auto i = operand(name)) return !call_.arguments[*i].absent;
    if (result(name)) return true;
    return call_.has_key(name);
  }

  std::string replace(std::string_view text) const {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      if (text[at] != '{') {
        out += text[at++];
        continue;
      }
      const size_t close = text.find('}', at);
      GT_CHECK(close != std::string_view::npos);
      out += placeholder(text.substr(at + 1, close - at - 1));
      at = close + 1;
    }
    return out;
  }

  const Type* type_of(std::string_view name) const {
    if (const auto i = operand(name)) return &call_.arguments[*i].type;
    if (const auto i = result(name)) return &call_.results[*i];
    return nullptr;
  }

  std::string placeholder(std::string_view name) const {
    if (const auto own = op_.row->placeholder) {
      const std::string text = own(call_, name, offset());
      if (!text.empty()) return text;
    }
    if (op_.key_index(name) >= 0) return std::string(call_.key(name));
    const size_t dot = name.find('.');
    GT_CHECK(dot != std::string_view::npos);
    const Type* type = type_of(name.substr(0, dot));
    GT_CHECK(type != nullptr);
    const std::string_view what = name.substr(dot + 1);
    if (what == "type") return to_string(*type);
    if (what == "rank") return std::to_string(type->shape.size());
    if (what == "dtype") return std::string(to_string(type->dtype));
    if (what == "elements") return std::to_string(type->elements());
    GT_CHECK(what == "shape");
    // A scalar's shape has no text of its own; the quoted empty list has.
    return type->shape.empty() ? "\"\"" : to_string(type->shape);
  }

  const Call& call_;
  const Op& op_;
  bool gradient_;
  size_t each_ = kNoEach;
  std::unordered_map<std::string, uint32_t> temps_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> gradient_steps(const Call& call) {
  return Instance(call, true).run(call.op->gradient);
}

std::vector<Step> expansion_steps(const Call& call) {
  return Instance(call, false).run(call.op->expansion);
}

}  // namespace gt
