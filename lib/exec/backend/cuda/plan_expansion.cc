// Plans ops by their expansions, if these are point-wise ops around reductions:
// point-wise ops are computed by the reduction that reads them, or become one
// kernel.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "exec/backend/cuda/fusion.h"
#include "exec/backend/cuda/plan.h"
#include "ops/step_values.h"
#include "ops/text.h"

namespace gt::exec::cuda {
namespace {

constexpr int kMaxDepth = 16;  // most nested expansions

bool is_reduction(const Call& call) {
  const auto rows = reduction_plans();
  return std::any_of(rows.begin(), rows.end(), [&](const PlanRow& row) {
    return call.op->name == row.op;
  });
}

class ExpansionPlan {
 public:
  std::optional<Plan> make(const Call& call) {
    std::vector<Value> arguments;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const Argument& a = call.arguments[i];
      if (a.absent) {
        arguments.push_back(kNone);
      } else if (a.literal || a.role == Role::kNumber) {
        arguments.push_back(
            fusion_.add_number(a.type, operand(i), std::string(a.text)));
      } else if (a.role == Role::kTensor) {
        arguments.push_back(fusion_.add_memory(a.type, operand(i)));
      } else {
        return std::nullopt;
      }
    }
    std::vector<Value> results;
    if (!expand(call, arguments, results, 0)) return std::nullopt;
    if (results.size() == 1 && plan_.steps.empty()) {  // no reduction
      plan_.pointwise = Pointwise{std::make_shared<const Fusion>(fusion_),
                                  results[0], call.results[0]};
    }
    if (!write(results) || !saves_) return std::nullopt;
    return std::move(plan_);
  }

 private:
  using Value = Fusion::Id;
  static constexpr Value kNone = ~Value{0};

  bool expand(const Call& call, const std::vector<Value>& arguments,
              std::vector<Value>& results, int depth) {
    if (depth == kMaxDepth) return false;
    StepValues<Value> values(arguments, kNone);
    for (const gt::Step& step : expansion_steps(call)) {
      std::vector<Value> made;
      if (!take(step, values, made, depth)) return false;
      for (size_t r = 0; r < made.size(); ++r) {
        values.set(step.results[r], made[r]);
      }
    }
    for (uint32_t r = 0; r < call.results.size(); ++r) {
      results.push_back(values[{Ref::Kind::kResult, r}]);
    }
    return true;
  }

  bool take(gt::Step step, const StepValues<Value>& values,
            std::vector<Value>& results, int depth) {
    std::vector<Value> operands;
    std::vector<const Type*> types;
    for (StepOperand& o : step.operands) {
      // A number of the call stays an operand, whatever its value.
      const Ref ref = o.is_ref ? o.ref
                               : Ref{Ref::Kind::kOperand,
                                     static_cast<uint32_t>(o.argument)};
      const Value v = o.is_ref || o.argument >= 0 ? values[ref] : kNone;
      operands.push_back(v);
      if (v != kNone && !fusion_.number_text(v).empty()) {
        o.is_ref = false;
        o.text = fusion_.number_text(v);
      }
      types.push_back(o.is_ref ? &fusion_.type(v) : nullptr);
    }
    // The types are copied, since those in the fusion move when values are
    // added.
    std::vector<Type> kept;
    kept.reserve(types.size());
    for (const Type*& type : types) {
      if (type == nullptr) continue;
      kept.push_back(*type);
      type = &kept.back();
    }
    Call call;
    if (!bind_step(step, types, call).ok()) return false;
    std::vector<Value> arguments;
    for (const Argument& a : call.arguments) {
      arguments.push_back(
          a.absent ? kNone
                   : value_of(a, operands[static_cast<size_t>(a.operand)]));
    }
    return emit(call, arguments, results, depth);
  }

  // Returns the value of an argument. A number that the step itself has becomes
  // a new value.
  Value value_of(const Argument& a, Value given) {
    if (given != kNone || !(a.literal || a.role == Role::kNumber)) return given;
    const Slot slot = is_float(a.type.dtype) ? number(a.number.real)
                                             : number(a.number.integer);
    return fusion_.add_number(a.type, slot, std::string(a.text));
  }

  bool emit(const Call& call, const std::vector<Value>& arguments,
            std::vector<Value>& results, int depth) {
    if (call.op->row->alias) return take_alias(call, arguments[0], results);
    if (const auto made = fusion_.add(call, arguments)) {
      results.push_back(*made);
      return true;
    }
    if (is_reduction(call)) return reduce(call, arguments, results);
    return !call.op->is_primitive() &&
           expand(call, arguments, results, depth + 1);
  }

  // An alias is the same memory under another type.
  bool take_alias(const Call& call, Value of, std::vector<Value>& results) {
    const Type& type = call.results[0];
    if (fusion_.type(of) == type) {
      results.push_back(of);
      return true;
    }
    if (!fusion_.number_text(of).empty() || !store(of)) return false;
    results.push_back(fusion_.add_memory(type, fusion_.slot(of)));
    return true;
  }

  bool reduce(const Call& call, const std::vector<Value>& arguments,
              std::vector<Value>& results) {
    for (const Value v : arguments) {
      if (v == kNone) return false;
    }
    auto part = own_plan(call);
    if (!part || part->explain != nullptr) return false;
    const auto computed = reduce_computed(*part, arguments[0]);
    for (const Value v : arguments) {
      if (!computed && !store(v)) return false;
    }
    std::vector<Slot> made;
    for (const Type& type : call.results) {
      made.push_back(scratch(plan_.add_scratch(type.bytes())));
      results.push_back(fusion_.add_memory(type, made.back()));
    }
    const size_t before = plan_.scratch.size();
    const size_t at = plan_.steps.size();
    plan_.scratch.insert(plan_.scratch.end(), part->scratch.begin(),
                         part->scratch.end());
    for (cuda::Step& step : part->steps) {
      each_slot(step, [&](Slot& slot) {
        if (slot.home == Slot::Home::kOperand) {
          slot = fusion_.slot(arguments[slot.index]);
        } else if (slot.home == Slot::Home::kResult) {
          slot = made[slot.index];
        } else if (slot.home == Slot::Home::kScratch) {
          slot.index += before;
        }
      });
      plan_.steps.push_back(std::move(step));
    }
    if (computed) {
      auto& first = std::get<Launch>(plan_.steps[at]);
      first.source = computed->source;
      first.in = computed->in;
    }
    return true;
  }

  // Returns the first launch of a plan that reduces, changed to compute the
  // value `of` itself; none if the value must be written first.
  std::optional<Launch> reduce_computed(const Plan& part, Value of) {
    if (!part.reducing || !fusion_.is_computed(of)) return std::nullopt;
    auto launch = fusion_.launch_reduced(
        of, *part.reducing, std::get<Launch>(part.steps[0]), {}, {});
    saves_ = saves_ || launch;
    return launch;
  }

  // Makes sure that the value is in memory.
  bool store(Value v) {
    if (!fusion_.is_computed(v)) return true;
    return write_to(v, scratch(plan_.add_scratch(fusion_.type(v).bytes())));
  }
  bool write_to(Value v, const Slot& to) {
    auto launch = fusion_.launch(v, to);
    if (!launch) return false;
    saves_ = saves_ || fusion_.ops_of(v) > 1;
    plan_.steps.emplace_back(std::move(*launch));
    fusion_.set_memory(v, to);
    return true;
  }

  // Makes each result end up in its memory: it is computed into it, or its
  // scratch memory is replaced by it.
  bool write(const std::vector<Value>& results) {
    for (size_t r = 0; r < results.size(); ++r) {
      if (fusion_.is_computed(results[r])) {
        if (!write_to(results[r], result(r))) return false;
        continue;
      }
      const Slot from = fusion_.slot(results[r]);
      if (from.home != Slot::Home::kScratch) return false;
      plan_.scratch[from.index] = 0;
      for (cuda::Step& step : plan_.steps) {
        each_slot(step, [&](Slot& slot) {
          if (slot.home == from.home && slot.index == from.index) {
            slot = result(r);
          }
        });
      }
    }
    return true;
  }

  Fusion fusion_;
  Plan plan_;
  // True if some launch does several ops at once.
  bool saves_ = false;
};

}  // namespace

std::optional<Plan> expansion_plan(const Call& call) {
  if (call.op->is_primitive() || call.op->row->alias) return std::nullopt;
  return ExpansionPlan().make(call);
}

}  // namespace gt::exec::cuda
