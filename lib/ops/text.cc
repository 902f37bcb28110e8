#include "ops/text.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ops/table.h"

namespace gt {
namespace {

constexpr size_t kNoEach = SIZE_MAX;

bool is_half_tensor(const Argument& a) {
  return a.role == Role::kTensor && !a.absent && !a.literal &&
         is_half(a.type.dtype);
}

class Instance {
 public:
  Instance(const Call& call, bool gradient,
           const std::vector<bool>* reached = nullptr)
      : call_(call), op_(*call.op), gradient_(gradient), reached_(reached) {}

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

  // Makes the op itself between casts: its operands are cast to f32, and its
  // results back to their dtypes.
  std::vector<Step> run_in_f32() {
    Step step;
    step.op = &op_;
    for (uint32_t i = 0; i < call_.arguments.size(); ++i) {
      const Ref ref{Ref::Kind::kOperand, i};
      if (!is_half_tensor(call_.arguments[i])) {
        push_ref(ref, step);
        continue;
      }
      const Ref wide{Ref::Kind::kTemp, temp_count_++};
      add_cast(ref, wide, Dtype::kF32);
      step.operands.push_back({true, wide, ""});
    }
    for (uint32_t r = 0; r < call_.results.size(); ++r) {
      step.results.push_back(is_half(call_.results[r].dtype)
                                 ? Ref{Ref::Kind::kTemp, temp_count_++}
                                 : Ref{Ref::Kind::kResult, r});
    }
    add_own_keys(step);
    // The casts give the result its dtype, so out= is not passed on.
    std::erase_if(step.keys,
                  [](const auto& key) { return key.first == "out"; });
    const std::vector<Ref> made = step.results;
    steps_.push_back(std::move(step));
    for (uint32_t r = 0; r < made.size(); ++r) {
      if (made[r].kind == Ref::Kind::kResult) continue;
      add_cast(made[r], {Ref::Kind::kResult, r}, call_.results[r].dtype);
    }
    return std::move(steps_);
  }

 private:
  void add_cast(const Ref& from, const Ref& to, Dtype dtype) {
    Step step;
    step.op = find_op("cast");
    step.results = {to};
    step.operands = {{true, from, ""},
                     {false, {}, std::string(to_string(dtype))}};
    steps_.push_back(std::move(step));
  }

  // Returns the number of elements of the variadic operand, or of the variadic
  // result.
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
    sized_.reset();
    step.op = find_op(line.op);
    GT_CHECK(step.op != nullptr);
    bool own_keys = false;
    for (const std::string& word : line.operands) {
      if (word == "keys...") {
        own_keys = true;
      } else {
        add_operand(word, step);
      }
    }
    if (line.op == "copy" && !find(line.results[0])) {
      set_temp(line.results[0], step.operands[0]);
      return;
    }
    for (const std::string& name : line.results) {
      const auto ref = find(name);
      step.results.push_back(ref ? *ref : new_temp(name));
    }
    for (const auto& [key, value] : line.keys) add_key(key, value, step);
    if (own_keys) add_own_keys(step);
    step.sized = sized_;
    steps_.push_back(std::move(step));
  }

  // Adds a key, unless its value is empty or the key's default in the step's
  // op.
  void add_key(const std::string& key, const std::string& value, Step& step) {
    const int index = step.op->key_index(key);
    GT_CHECK(index >= 0);
    std::string text = replace(value);
    const auto i = static_cast<size_t>(index);
    if (text == step.op->keys[i].fallback) return;
    step.keys.emplace_back(key, std::move(text));
  }

  void add_own_keys(Step& step) {
    for (const KeyParameter& key : op_.keys) {
      const std::string name = key.row->name;
      if (step.op->key_index(name) < 0 || !call_.has_key(name)) continue;
      add_key(name, std::string(call_.key(name)), step);
    }
  }

  void add_operand(const std::string& word, Step& step) {
    if (word.ends_with("...")) {
      return add_all(word.substr(0, word.size() - 3), step);
    }
    if (add_name(word, step)) return;
    StepOperand literal;
    literal.is_ref = false;
    literal.text = replace(word);
    step.operands.push_back(std::move(literal));
  }

  bool add_name(const std::string& name, Step& step) {
    if (const auto ref = find(name)) {
      push_ref(*ref, step);
      return true;
    }
    auto it = temps_.find(element_name(name));
    if (it == temps_.end()) it = temps_.find(name);
    if (it == temps_.end()) return false;
    step.operands.push_back(it->second);
    return true;
  }

  // Adds all elements of a variadic, of its gradients, or of an [each]
  // temporary.
  void add_all(const std::string& name, Step& step) {
    const size_t saved = each_;
    for (size_t i = 0; i < variadic_count(); ++i) {
      each_ = i;
      const bool known = add_name(name, step);
      GT_CHECK(known);
    }
    each_ = saved;
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
        operand.argument = static_cast<int32_t>(ref.index);
      }
    }
    step.operands.push_back(std::move(operand));
  }

  // Returns the name of a temporary of an [each] line, which has one for each
  // element.
  std::string element_name(const std::string& name) const {
    return name + "." + std::to_string(each_);
  }

  void set_temp(const std::string& name, const StepOperand& value) {
    const bool fresh =
        temps_.emplace(each_ == kNoEach ? name : element_name(name), value)
            .second;
    GT_CHECK(fresh);  // a temporary is set once
  }

  Ref new_temp(const std::string& name) {
    StepOperand value;
    value.ref = {Ref::Kind::kTemp, temp_count_++};
    set_temp(name, value);
    return value.ref;
  }

  std::optional<Ref> find(std::string_view name) const {
    // A name that is both, such as w in "w = sgd w g", means the operand when
    // read; expansions write the result as "=w".
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
    for (size_t p = 0; p < op_.operands.size(); ++p) {
      if (op_.operands[p].name != name) continue;
      return element(op_.first_of(p, call_.arguments.size()), op_.operands[p]);
    }
    return std::nullopt;
  }

  std::optional<uint32_t> result(std::string_view name) const {
    for (size_t p = 0; p < op_.results.size(); ++p) {
      if (op_.results[p].name != name) continue;
      return element(op_.first_result_of(p, call_.result_count),
                     op_.results[p]);
    }
    return std::nullopt;
  }

  // Of a variadic parameter the element that is the line's turn.
  std::optional<uint32_t> element(std::optional<size_t> first,
                                  const Parameter& parameter) const {
    if (!first) return std::nullopt;
    return static_cast<uint32_t>(*first + (parameter.variadic ? offset() : 0));
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

  // True if an operand or key was given, a result exists, or the loss depends
  // on a result ("dy").
  bool is_given(std::string_view name) const {
    if (const auto i = operand(name)) return !call_.arguments[*i].absent;
    if (result(name)) return true;
    if (gradient_ && name.starts_with('d')) {
      if (const auto i = result(name.substr(1))) {
        return reached_ == nullptr || (*reached_)[*i];
      }
    }
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
    if (!gradient_ || !name.starts_with('d')) return nullptr;
    return type_of(name.substr(1));
  }

  // True if {x.NAME} has the same meaning in every row.
  static bool is_attribute(std::string_view name) {
    return name == "type" || name == "rank" || name == "dtype" ||
           name == "elements" || name == "shape" || name.starts_with('-');
  }

  void note_sized(std::string_view tensor, int dim) const {
    const auto ref = find(tensor);
    if (ref) sized_ = SizedAs{*ref, dim};
  }

  std::string placeholder(std::string_view name) const {
    const size_t dot = name.find('.');
    if (const auto own = op_.row->placeholder) {
      const std::string text = own(call_, name, offset());
      const bool is_of_tensor = dot != std::string_view::npos;
      const bool is_own = is_of_tensor && !is_attribute(name.substr(dot + 1));
      if (is_of_tensor && (!text.empty() || is_own)) {
        note_sized(name.substr(0, dot), 0);
      }
      if (!text.empty() || is_own) return text;
    }
    if (op_.key_index(name) >= 0) return std::string(call_.key(name));
    GT_CHECK(dot != std::string_view::npos);
    const Type* type = type_of(name.substr(0, dot));
    GT_CHECK(type != nullptr);
    const std::string_view what = name.substr(dot + 1);
    if (what == "type" || what == "shape") note_sized(name.substr(0, dot), 0);
    if (what == "type") return to_string(*type);
    if (what == "rank") return std::to_string(type->shape.size());
    if (what == "dtype") return std::string(to_string(type->dtype));
    if (what == "elements") return std::to_string(type->elements());
    if (what.starts_with('-')) {
      const int dim = '0' - what[1];
      note_sized(name.substr(0, dot), dim);
      return std::to_string(type->shape.end()[dim]);
    }
    GT_CHECK(what == "shape");
    // A scalar's shape is written as the quoted empty list, since a key's value
    // cannot be empty.
    return type->shape.empty() ? "\"\"" : to_string(type->shape);
  }

  const Call& call_;
  const Op& op_;
  bool gradient_;
  const std::vector<bool>* reached_;
  size_t each_ = kNoEach;
  std::unordered_map<std::string, StepOperand> temps_;
  uint32_t temp_count_ = 0;
  mutable std::optional<SizedAs> sized_;  // for the line at hand
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> gradient_steps(const Call& call,
                                 const std::vector<bool>* reached) {
  return Instance(call, true, reached).run(call.op->gradient);
}

std::vector<Step> expansion_steps(const Call& call) {
  const bool wide =
      call.op->row->in_f32 &&
      std::any_of(call.arguments.begin(), call.arguments.end(), is_half_tensor);
  if (wide) return Instance(call, false).run_in_f32();
  return Instance(call, false).run(call.op->expansion);
}

bool may_apply(const TextLine& line, const Call& call) {
  const auto fails = [&call](const std::string& guard) {
    const size_t equals = guard.find('=');
    if (equals == std::string::npos) return false;
    const bool differs = guard[equals - 1] == '!';
    const int key = call.op->key_index(
        std::string_view(guard).substr(0, equals - (differs ? 1 : 0)));
    if (key < 0) return false;
    const KeyRow& row = *call.op->keys[static_cast<size_t>(key)].row;
    if (row.kind != KeyRow::Kind::kWord) return false;
    return (call.key(row.name) == guard.substr(equals + 1)) == differs;
  };
  return std::none_of(line.guards.begin(), line.guards.end(), fails);
}

}  // namespace gt
