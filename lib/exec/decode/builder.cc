#include "exec/decode/builder.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "exec/decode/draft.h"
#include "exec/storage/load.h"
#include "ops/table.h"
#include "ops/text.h"
#include "stream/line.h"

namespace gt {
namespace {

constexpr int kMaxDepth = 16;  // of expansions within expansions
constexpr char kMark = '\x01';

// Rough speeds of one core, to tell a matmul from an add.
constexpr double kStepCost = 40;  // nanoseconds

// The 8 bytes that a kernel reads for a literal of this weak dtype.
uint64_t bits_of(const Number& number) {
  uint64_t bits = 0;
  if (number.kind == Number::Kind::kFloat) {
    std::memcpy(&bits, &number.real, sizeof bits);
  } else {
    std::memcpy(&bits, &number.integer, sizeof bits);
  }
  return bits;
}

// A value in the making: memory or a number, seen as a type.
struct Value {
  int32_t root = kNoValue;
  Type type;
};

// One instruction inside an expansion, put together as text.
struct Inner {
  std::string text;
  std::vector<Value> values;  // by operand; no root: written in the row
};

class Builder {
 public:
  Builder(const BuilderContext& context, Recipe& recipe)
      : context_(context), recipe_(recipe) {}

  Status build(const Call& call) {
    std::vector<Value> arguments;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      arguments.push_back(argument(call.arguments[i], i));
    }
    std::vector<Value> results;
    if (Status s = emit(call, arguments, results, 0); !s.ok()) return s;
    finish(results);
    return ok_status();
  }

  Status build_group(const std::vector<Type>& pieces,
                     const std::vector<std::string>& lines, size_t count) {
    std::unordered_map<std::string, Value> names;
    for (size_t i = 0; i < pieces.size(); ++i) {
      names["a" + std::to_string(i)] = add_root(
          {Root::Kind::kArgument, static_cast<int32_t>(i), pieces[i], ""});
    }
    for (const std::string& text : lines) {
      if (Status s = build_line(text, names); !s.ok()) return s;
    }
    std::vector<Value> results;
    for (size_t i = 0; i < count; ++i) {
      results.push_back(names.at("r" + std::to_string(i)));
    }
    finish(results);
    return ok_status();
  }

 private:
  const Root& root(const Value& v) const {
    return draft_.roots[static_cast<size_t>(v.root)];
  }
  Value add_root(Root root) {
    const Type type = root.type;
    draft_.roots.push_back(std::move(root));
    return {static_cast<int32_t>(draft_.roots.size()) - 1, type};
  }

  Value argument(const Argument& a, size_t i) {
    if (a.absent || a.role != Role::kTensor) return {};
    if (a.literal) ++recipe_.literals;
    return add_root({Root::Kind::kArgument, static_cast<int32_t>(i), a.type,
                     a.literal ? std::string(a.text) : ""});
  }

  Value constant(const Argument& a) {
    recipe_.constants.push_back(bits_of(a.number));
    return add_root({Root::Kind::kConstant,
                     static_cast<int32_t>(recipe_.constants.size()) - 1, a.type,
                     std::string(a.text)});
  }

  void finish(const std::vector<Value>& results) {
    for (const Value& value : results) {
      draft_.results.push_back(value.root);
      recipe_.results.push_back({kNoValue, context_.types.intern(value.type)});
    }
    plan_blocks(std::move(draft_), context_.types, recipe_);
  }

  // A line of one result, its operands being names or what the op writes out.
  Status build_line(const std::string& text,
                    std::unordered_map<std::string, Value>& names) {
    Line line;
    if (Status s = parse_line(text, line); !s.ok()) return s;
    Inner inner{text, {}};
    for (const Operand& operand : line.operands) {
      const auto it = names.find(std::string(operand.text));
      inner.values.push_back(it == names.end() ? Value{} : it->second);
    }
    std::vector<Value> made;
    if (Status s = emit_inner(inner, made, 0); !s.ok()) return s;
    names[std::string(line.results[0].text)] = made[0];
    return ok_status();
  }

  // Adds the steps of `call` on these arguments; its results are appended.
  Status emit(const Call& call, const std::vector<Value>& arguments,
              std::vector<Value>& results, int depth) {
    GT_CHECK(depth < kMaxDepth);
    if (call.op->row->alias) return emit_alias(call, arguments, results, depth);
    std::unique_ptr<Kernel> kernel = prepare(call);
    if (kernel == nullptr) {
      if (call.op->is_primitive()) {
        return Error{call.op->name + ": backend " +
                     std::string(context_.backend.name()) +
                     " has no kernel for it"};
      }
      return expand(call, arguments, results, depth);
    }
    DraftStep step{std::move(kernel), {}, {}};
    for (const Value& value : arguments) step.in.push_back(value.root);
    for (const Type& type : call.results) {
      results.push_back(add_root({Root::Kind::kProduced, 0, type, ""}));
      step.out.push_back(results.back().root);
    }
    draft_.steps.push_back(std::move(step));
    add_cost(call);
    return ok_status();
  }

  std::unique_ptr<Kernel> prepare(const Call& call) {
    if (call.op->row->statement == Statement::kLoad &&
        context_.backend.has_data()) {
      return make_load_kernel(call, context_.saves);
    }
    return context_.backend.prepare(call);
  }

  void add_cost(const Call& call) {
    const double operations = flops(call);
    recipe_.flops += operations;
    const double cost = kStepCost + estimate(operations, bytes(call));
    recipe_.cost += static_cast<uint64_t>(std::min(cost, 1e15));
  }

  // The same memory under another type. A number has none, so it is written.
  Status emit_alias(const Call& call, const std::vector<Value>& arguments,
                    std::vector<Value>& results, int depth) {
    if (!root(arguments[0]).is_number()) {
      results.push_back({arguments[0].root, call.results[0]});
      return ok_status();
    }
    Inner inner;
    inner.text = "r = full " + to_string(call.results[0]) + " ";
    inner.values = {{}};
    add_value(arguments[0], inner);
    return emit_inner(inner, results, depth);
  }

  Status expand(const Call& call, const std::vector<Value>& arguments,
                std::vector<Value>& results, int depth) {
    // Number operands come back as these marks, so that they stay holes.
    std::vector<std::string> marks(call.arguments.size());
    Call marked = call;
    for (size_t i = 0; i < marks.size(); ++i) {
      if (!marked.arguments[i].literal) continue;
      marks[i] = kMark + std::to_string(i);
      marked.arguments[i].text = marks[i];
    }
    Frame frame{arguments, std::vector<Value>(call.results.size()), {}};
    for (const Step& step : expansion_steps(marked)) {
      if (Status s = run_step(step, call, frame, depth); !s.ok()) return s;
    }
    for (size_t r = 0; r < call.results.size(); ++r) {
      GT_CHECK(frame.results[r].root != kNoValue);
      results.push_back({frame.results[r].root, call.results[r]});
    }
    return ok_status();
  }

  // What the names of an expansion stand for so far.
  struct Frame {
    const std::vector<Value>& arguments;
    std::vector<Value> results;
    std::vector<Value> temps;

    Value& operator[](const Ref& ref) {
      GT_CHECK(ref.kind == Ref::Kind::kResult || ref.kind == Ref::Kind::kTemp);
      auto& values = ref.kind == Ref::Kind::kResult ? results : temps;
      if (ref.index >= values.size()) values.resize(ref.index + 1);
      return values[ref.index];
    }
  };

  Status run_step(const Step& step, const Call& outer, Frame& frame,
                  int depth) {
    Inner inner;
    for (size_t r = 0; r < step.results.size(); ++r) {
      inner.text += 'r';
      inner.text += std::to_string(r);
      inner.text += ' ';
    }
    inner.text += "= " + step.op->name;
    for (const StepOperand& operand : step.operands) {
      inner.text += " ";
      if (operand.is_ref) {
        const Ref& ref = operand.ref;
        add_value(ref.kind == Ref::Kind::kOperand ? frame.arguments[ref.index]
                                                  : frame[ref],
                  inner);
      } else if (operand.text.starts_with(kMark)) {
        add_value(frame.arguments[std::stoul(operand.text.substr(1))], inner);
      } else {
        inner.text += operand.text;
        inner.values.push_back({});
      }
    }
    for (const auto& [key, value] : step.keys) {
      inner.text += ' ';
      inner.text += key;
      inner.text += '=';
      inner.text += value;
    }
    std::vector<Value> made;
    if (Status s = emit_inner(inner, made, depth); !s.ok()) {
      return Error{outer.op->name + ": in its expansion: " + s.error().message};
    }
    for (size_t r = 0; r < made.size(); ++r) frame[step.results[r]] = made[r];
    return ok_status();
  }

  // An operand by a name that no one reads; a number by its digits.
  void add_value(const Value& value, Inner& inner) {
    GT_CHECK(value.root != kNoValue);
    inner.text += root(value).is_number() ? root(value).number : "v";
    inner.values.push_back(value);
  }

  Status emit_inner(const Inner& inner, std::vector<Value>& results,
                    int depth) {
    Line line;
    if (Status s = parse_line(inner.text, line); !s.ok()) return s;
    GT_CHECK(line.operands.size() == inner.values.size());
    std::vector<const Type*> types;
    for (const Value& value : inner.values) types.push_back(&value.type);
    Call call;
    if (Status s = gt::bind(line, types, call); !s.ok()) return s;
    std::vector<Value> arguments;
    for (const Argument& a : call.arguments) {
      arguments.push_back(inner_argument(a, inner));
    }
    return emit(call, arguments, results, depth + 1);
  }

  Value inner_argument(const Argument& a, const Inner& inner) {
    if (a.absent) return {};
    const Value& value = inner.values[static_cast<size_t>(a.operand)];
    if (a.role == Role::kTensor) {
      return value.root == kNoValue && a.literal ? constant(a) : value;
    }
    // The kernel will know this number from the call.
    if (value.root != kNoValue) recipe_.is_exact = true;
    return {};
  }

  const BuilderContext& context_;
  Recipe& recipe_;
  Draft draft_;
};

}  // namespace

Result<std::unique_ptr<Recipe>> build_recipe(const Call& call,
                                             const BuilderContext& context) {
  auto recipe = std::make_unique<Recipe>();
  recipe->op = call.op;
  recipe->line_bytes = bytes(call);
  recipe->line_flops = flops(call);
  recipe->arguments = static_cast<uint32_t>(call.arguments.size());
  const Status s = Builder(context, *recipe).build(call);
  if (!s.ok()) return s.error();
  return recipe;
}

Result<std::unique_ptr<Recipe>> build_group_recipe(
    const Op& op, const std::vector<Type>& pieces,
    const std::vector<std::string>& lines, size_t results,
    const BuilderContext& context) {
  auto recipe = std::make_unique<Recipe>();
  recipe->op = &op;
  recipe->arguments = static_cast<uint32_t>(pieces.size());
  for (const Type& type : pieces) {
    recipe->line_bytes += static_cast<double>(type.bytes());
  }
  const Status s =
      Builder(context, *recipe).build_group(pieces, lines, results);
  if (!s.ok()) return s.error();
  return recipe;
}

}  // namespace gt
