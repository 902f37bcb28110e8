#include "exec/recipe/builder.h"

#include <algorithm>

#include "exec/recipe/draft.h"
#include "exec/storage/load.h"
#include "file/stored.h"
#include "ops/step_values.h"
#include "ops/table.h"
#include "ops/text.h"

namespace gt::exec {
namespace {

constexpr int kMaxDepth = 16;  // the deepest nesting of expansions

// The rough cost of a step on top of its operations and bytes.
constexpr double kStepCost = 40;  // nanoseconds

// A root (draft.h) with the type under which it is used here.
struct TypedRoot {
  int32_t root = kNoValue;
  Type type;
};

class Builder {
 public:
  Builder(const BuilderContext& context, Recipe& recipe)
      : context_(context), recipe_(recipe) {}

  Status build(const Call& call) {
    std::vector<TypedRoot> arguments;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      arguments.push_back(argument(call.arguments[i], i));
    }
    std::vector<TypedRoot> results;
    if (Status s = emit(call, arguments, results, 0); !s.ok()) return s;
    finish(results);
    return ok_status();
  }

  Status build_group(const std::vector<Type>& pieces,
                     const GroupProgram& program) {
    std::vector<TypedRoot> arguments;
    for (size_t i = 0; i < pieces.size(); ++i) {
      arguments.push_back(add_root(
          {Root::Kind::kArgument, static_cast<int32_t>(i), pieces[i], ""}));
    }
    Values values(std::move(arguments));
    if (Status s = emit_steps(program.steps, values, 0); !s.ok()) return s;
    std::vector<TypedRoot> results;
    for (uint32_t i = 0; i < program.results; ++i) {
      results.push_back(values[{Ref::Kind::kResult, i}]);
    }
    finish(results);
    return ok_status();
  }

 private:
  using Values = StepValues<TypedRoot>;  // of the steps of one expansion

  const Root& root(const TypedRoot& v) const {
    return draft_.roots[static_cast<size_t>(v.root)];
  }
  TypedRoot add_root(Root root) {
    const Type type = root.type;
    draft_.roots.push_back(std::move(root));
    return {static_cast<int32_t>(draft_.roots.size()) - 1, type};
  }

  TypedRoot argument(const Argument& a, size_t i) {
    if (a.absent || a.role != Role::kTensor) return {};
    return add_root({Root::Kind::kArgument, static_cast<int32_t>(i), a.type,
                     a.literal ? std::string(a.text) : ""});
  }

  TypedRoot constant(const Argument& a) {
    recipe_.constants.push_back(bits_of(a.number));
    return add_root({Root::Kind::kConstant,
                     static_cast<int32_t>(recipe_.constants.size()) - 1, a.type,
                     std::string(a.text)});
  }

  void finish(const std::vector<TypedRoot>& results) {
    for (const TypedRoot& value : results) {
      draft_.results.push_back(value.root);
      recipe_.results.push_back({kNoValue, context_.types.id(value.type)});
    }
    plan_blocks(std::move(draft_), context_.types, recipe_);
  }

  // Adds the steps of `call` on these arguments to the draft, and appends the
  // call's results to `results`.
  Status emit(const Call& call, const std::vector<TypedRoot>& arguments,
              std::vector<TypedRoot>& results, int depth) {
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
    for (const TypedRoot& value : arguments) step.in.push_back(value.root);
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
        context_.backend.device().has_data()) {
      recipe_.loads = split_path(unquote(call.arguments[0].text)).file;
      return make_load_kernel(call, context_.saves, context_.backend.device());
    }
    return context_.backend.prepare(call);
  }

  void add_cost(const Call& call) {
    const double operations = flops(call);
    recipe_.flops += operations;
    const double cost = kStepCost + estimate(operations, bytes(call));
    recipe_.cost += static_cast<uint64_t>(std::min(cost, 1e15));
  }

  // Gives the argument's memory another type. A number has no memory, so a
  // `full` step writes it to some.
  Status emit_alias(const Call& call, const std::vector<TypedRoot>& arguments,
                    std::vector<TypedRoot>& results, int depth) {
    if (!root(arguments[0]).is_number()) {
      results.push_back({arguments[0].root, call.results[0]});
      return ok_status();
    }
    Step full;
    full.op = find_op("full");
    full.operands = {{false, {}, to_string(call.results[0])}, {}};
    return emit_step(std::move(full), {{}, arguments[0]}, results, depth);
  }

  Status expand(const Call& call, const std::vector<TypedRoot>& arguments,
                std::vector<TypedRoot>& results, int depth) {
    Values values(arguments);
    if (Status s = emit_steps(expansion_steps(call), values, depth); !s.ok()) {
      return Error{call.op->name + ": in its expansion: " + s.error().message};
    }
    for (uint32_t r = 0; r < call.results.size(); ++r) {
      const TypedRoot& made = values[{Ref::Kind::kResult, r}];
      GT_CHECK(made.root != kNoValue);
      results.push_back({made.root, call.results[r]});
    }
    return ok_status();
  }

  Status emit_steps(const std::vector<Step>& steps, Values& values, int depth) {
    for (const Step& step : steps) {
      std::vector<TypedRoot> operands;
      for (const StepOperand& o : step.operands) {
        // A number of the call stays an argument of the recipe, which takes its
        // value when the line runs.
        const Ref ref = o.is_ref ? o.ref
                                 : Ref{Ref::Kind::kOperand,
                                       static_cast<uint32_t>(o.argument)};
        operands.push_back(o.is_ref || o.argument >= 0 ? values[ref]
                                                       : TypedRoot{});
      }
      std::vector<TypedRoot> made;
      Status s = emit_step(step, operands, made, depth);
      if (!s.ok()) return s;
      for (size_t r = 0; r < made.size(); ++r) {
        values.set(step.results[r], made[r]);
      }
    }
    return ok_status();
  }

  // Adds the steps of one step of an expansion, which is itself an op of the op
  // table. For an operand without a value, the text of the step is used.
  Status emit_step(Step step, const std::vector<TypedRoot>& operands,
                   std::vector<TypedRoot>& results, int depth) {
    std::vector<const Type*> types;
    for (size_t i = 0; i < operands.size(); ++i) {
      StepOperand& o = step.operands[i];
      const bool has_value = operands[i].root != kNoValue;
      GT_CHECK(has_value || !o.is_ref);
      if (has_value && root(operands[i]).is_number()) {
        o.is_ref = false;
        o.text = root(operands[i]).number;
      }
      types.push_back(o.is_ref ? &operands[i].type : nullptr);
    }
    Call call;
    if (Status s = bind_step(step, types, call); !s.ok()) return s;
    std::vector<TypedRoot> arguments;
    for (const Argument& a : call.arguments) {
      arguments.push_back(
          a.absent ? TypedRoot{}
                   : argument_of(a, operands[static_cast<size_t>(a.operand)]));
    }
    return emit(call, arguments, results, depth + 1);
  }

  TypedRoot argument_of(const Argument& a, const TypedRoot& value) {
    if (a.role == Role::kTensor) {
      return value.root == kNoValue && a.literal ? constant(a) : value;
    }
    // The kernel is made for this number, which it takes from the call.
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
    const Op& op, const std::vector<Type>& pieces, const GroupProgram& program,
    const BuilderContext& context) {
  auto recipe = std::make_unique<Recipe>();
  recipe->op = &op;
  recipe->arguments = static_cast<uint32_t>(pieces.size());
  for (const Type& type : pieces) {
    recipe->line_bytes += static_cast<double>(type.bytes());
  }
  const Status s = Builder(context, *recipe).build_group(pieces, program);
  if (!s.ok()) return s.error();
  return recipe;
}

}  // namespace gt::exec
