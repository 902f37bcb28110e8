#include "grad/reverse.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ops/table.h"
#include "ops/text.h"

namespace gt {
namespace {

class Reverse {
 public:
  Reverse(const Tape& tape, TypeIds& types) : tape_(tape), types_(types) {}

  GradientProgram run(ValueId loss, const std::vector<ValueId>& targets,
                      LostTarget& lost) {
    targets_.insert(targets.begin(), targets.end());
    collect_history(loss);
    mark_wanted(targets);
    if (find_lost(loss, targets, lost)) return {};
    if (wanted_.count(loss) > 0) {
      gradient_[loss] = emit("ones", {}, {text(type_text(loss))}, {});
      for (const NodeId node : program_.history) visit(node);
    }
    for (const ValueId target : targets) {
      const auto it = gradient_.find(target);
      program_.targets.push_back(it == gradient_.end() ? kNil : it->second);
    }
    return std::move(program_);
  }

 private:
  // All nodes behind the loss, newest first.
  void collect_history(ValueId loss) {
    std::unordered_set<NodeId> seen;
    std::vector<ValueId> open = {loss};
    while (!open.empty()) {
      const NodeId node = tape_.value(open.back()).producer;
      reached_.insert(open.back());
      open.pop_back();
      if (node == kNil || !seen.insert(node).second) continue;
      program_.history.push_back(node);
      for (const ValueId v : tape_.node(node).operands()) {
        if (v != kNil) open.push_back(v);
      }
    }
    std::sort(program_.history.begin(), program_.history.end(),
              [this](NodeId a, NodeId b) {
                return tape_.node(a).serial > tape_.node(b).serial;
              });
  }

  // Values from which a target can be reached, targets included.
  void mark_wanted(const std::vector<ValueId>& targets) {
    for (const ValueId t : targets) {
      if (reached_.count(t) > 0) wanted_.insert(t);
    }
    const auto& history = program_.history;
    for (auto it = history.rbegin(); it != history.rend(); ++it) {
      const Node& n = tape_.node(*it);
      const bool wanted = std::any_of(
          n.operands().begin(), n.operands().end(),
          [this](ValueId v) { return v != kNil && wanted_.count(v) > 0; });
      if (!wanted) continue;
      for (const ValueId r : n.results()) {
        if (r != kNil && tape_.value(r).differentiable) wanted_.insert(r);
      }
    }
  }

  // A lost history can only have read values that are older than its result.
  // Behind a target nothing matters to that target.
  bool find_lost(ValueId loss, const std::vector<ValueId>& targets,
                 LostTarget& lost) {
    for (size_t t = 0; t < targets.size(); ++t) {
      const uint64_t serial = tape_.value(targets[t]).serial;
      std::unordered_set<ValueId> seen;
      std::vector<ValueId> open = {loss};
      while (!open.empty()) {
        const ValueId id = open.back();
        open.pop_back();
        if (id == targets[t] || !seen.insert(id).second) continue;
        const Value& v = tape_.value(id);
        if (v.serial < serial) continue;
        if (v.producer == kNil) {
          if (!v.lost.hides_targets()) continue;
          lost = {id, t};
          return true;
        }
        for (const ValueId operand : tape_.node(v.producer).operands()) {
          if (operand != kNil) open.push_back(operand);
        }
      }
    }
    return false;
  }

  static GradientOperand text(std::string t) {
    return {GradientOperand::Kind::kText, 0, std::move(t)};
  }
  static GradientOperand handle(Handle h) {
    return {GradientOperand::Kind::kHandle, h, {}};
  }
  std::string type_text(ValueId v) const {
    return to_string(types_[tape_.value(v).type]);
  }

  using Keys = std::vector<std::pair<std::string, std::string>>;

  // Appends a line, its result types by the table's own rules.
  std::vector<Handle> emit_all(const Op* op, size_t results,
                               std::vector<GradientOperand> operands,
                               Keys keys) {
    std::string line;
    for (size_t r = 0; r < results; ++r) line += "r ";
    line += (results > 0 ? "= " : "") + op->name;
    std::vector<const Type*> types;
    for (const GradientOperand& o : operands) {
      line += o.kind == GradientOperand::Kind::kText ? " " + o.text : " x";
      types.push_back(type_of(o));
    }
    for (const auto& [key, value] : keys) line += " " + key + "=" + value;
    const Status parsed = parse_line(line, scratch_line_);
    GT_CHECK(parsed.ok());
    const Status bound = bind(scratch_line_, types, scratch_call_);
    if (!bound.ok()) {
      check_failed(__FILE__, __LINE__,
                   (line + ": " + bound.error().message).c_str());
    }
    GradientLine out{op, {}, std::move(operands), std::move(keys), notes_};
    for (const Type& type : scratch_call_.results) {
      out.results.push_back(static_cast<Handle>(program_.handle_types.size()));
      program_.handle_types.push_back(types_.id(type));
    }
    program_.lines.push_back(out);
    return program_.lines.back().results;
  }

  Handle emit(std::string_view op, std::vector<GradientOperand> before,
              std::vector<GradientOperand> operands, Keys keys) {
    before.insert(before.end(), operands.begin(), operands.end());
    return emit_all(find_op(op), 1, std::move(before), std::move(keys))[0];
  }

  const Type* type_of(const GradientOperand& o) const {
    switch (o.kind) {
      case GradientOperand::Kind::kHandle:
        return &types_[program_.handle_types[o.id]];
      case GradientOperand::Kind::kForward:
        return &types_[tape_.value(o.id).type];
      case GradientOperand::Kind::kText:
        break;
    }
    return nullptr;
  }

  void visit(NodeId id) {
    const Node& n = tape_.node(id);
    const bool has_gradient = std::any_of(
        n.results().begin(), n.results().end(),
        [this](ValueId r) { return r != kNil && gradient_.count(r) > 0; });
    if (!has_gradient) return;
    notes_ = n.text->notes;
    bind_node(n);
    const std::vector<Step> steps = gradient_steps(call_);
    write_steps(n, steps, select(n, steps));
    for (const ValueId r : n.results()) {
      if (r != kNil && !is_target(r)) gradient_.erase(r);
    }
    notes_.clear();
  }

  bool is_target(ValueId v) const { return targets_.count(v) > 0; }

  // The node's call again, from its text and the operands' types.
  void bind_node(const Node& n) {
    const Status parsed = parse_line(n.text->line, line_);
    GT_CHECK(parsed.ok());
    std::vector<const Type*> types;
    for (const ValueId v : n.operands()) {
      types.push_back(v == kNil ? nullptr : &types_[tape_.value(v).type]);
    }
    const Status bound = bind(line_, types, call_);
    GT_CHECK(bound.ok());
  }

  ValueId operand_value(const Node& n, uint32_t argument) const {
    const int32_t operand = call_.arguments[argument].operand;
    return operand < 0 ? kNil : n.operands()[static_cast<size_t>(operand)];
  }

  bool is_wanted(const Node& n, const Ref& ref) const {
    if (ref.kind != Ref::Kind::kOperandGrad) return false;
    const ValueId v = operand_value(n, ref.index);
    return v != kNil && wanted_.count(v) > 0 && tape_.value(v).differentiable;
  }

  // Steps that lead to a wanted gradient.
  std::vector<bool> select(const Node& n, const std::vector<Step>& steps) {
    std::vector<bool> chosen(steps.size(), false);
    std::vector<Ref> needed;
    for (size_t s = steps.size(); s > 0; --s) {
      const Step& step = steps[s - 1];
      for (const Ref& r : step.results) {
        if (is_wanted(n, r) ||
            std::find(needed.begin(), needed.end(), r) != needed.end()) {
          chosen[s - 1] = true;
        }
      }
      if (!chosen[s - 1]) continue;
      for (const StepOperand& o : step.operands) {
        if (o.is_ref) needed.push_back(o.ref);
      }
    }
    return chosen;
  }

  void write_steps(const Node& n, const std::vector<Step>& steps,
                   const std::vector<bool>& chosen) {
    std::unordered_map<uint32_t, GradientOperand> temps;
    for (size_t s = 0; s < steps.size(); ++s) {
      if (!chosen[s]) continue;
      const Step& step = steps[s];
      std::vector<GradientOperand> operands;
      for (const StepOperand& o : step.operands) {
        operands.push_back(o.is_ref ? resolve(n, o.ref, temps) : text(o.text));
      }
      // A copy says that two gradients are one.
      if (step.op->name == "copy") {
        define(n, step.results[0], operands[0], temps);
        continue;
      }
      const std::vector<Handle> results = emit_all(
          step.op, step.results.size(), std::move(operands), step.keys);
      for (size_t r = 0; r < results.size(); ++r) {
        define(n, step.results[r], handle(results[r]), temps);
      }
    }
  }

  GradientOperand resolve(
      const Node& n, const Ref& ref,
      const std::unordered_map<uint32_t, GradientOperand>& temps) {
    switch (ref.kind) {
      case Ref::Kind::kTemp:
        return temps.at(ref.index);
      case Ref::Kind::kOperand:
        return {
            GradientOperand::Kind::kForward, operand_value(n, ref.index), {}};
      case Ref::Kind::kResult:
        return {GradientOperand::Kind::kForward, n.results()[ref.index], {}};
      case Ref::Kind::kResultGrad:
        return handle(result_gradient(n, ref.index));
      case Ref::Kind::kOperandGrad:
        return temps.at(ref.index + kOperandGradBase);
    }
    return {};
  }

  // A result that the loss does not use has gradient zero.
  Handle result_gradient(const Node& n, uint32_t result) {
    const ValueId v = n.results()[result];
    if (v != kNil) {
      if (const auto it = gradient_.find(v); it != gradient_.end()) {
        return it->second;
      }
    }
    return emit("zeros", {}, {text(to_string(call_.results[result]))}, {});
  }

  void define(const Node& n, const Ref& ref, const GradientOperand& value,
              std::unordered_map<uint32_t, GradientOperand>& temps) {
    if (ref.kind == Ref::Kind::kTemp) {
      temps[ref.index] = value;
      return;
    }
    GT_CHECK(ref.kind == Ref::Kind::kOperandGrad);
    temps[ref.index + kOperandGradBase] = value;
    if (is_wanted(n, ref)) contribute(operand_value(n, ref.index), value);
  }

  void contribute(ValueId v, const GradientOperand& value) {
    const Handle h = fit(value, types_[tape_.value(v).type]);
    const auto [it, first] = gradient_.try_emplace(v, h);
    if (!first) it->second = emit("add", {handle(it->second)}, {handle(h)}, {});
  }

  // The contribution in the value's own shape and dtype.
  Handle fit(GradientOperand value, const Type& wanted) {
    Type type = *type_of(value);
    if (type.shape != wanted.shape) {
      const std::string axes = summed_axes(type.shape, wanted.shape);
      if (!axes.empty()) {
        value = handle(emit("sum", {value}, {}, {{"axis", axes}}));
        type = *type_of(value);
      }
      if (type.shape != wanted.shape) {
        const std::string shape = to_string(wanted.shape);
        value = handle(emit("reshape", {value}, {},
                            {{"shape", shape.empty() ? "\"\"" : shape}}));
      }
    }
    if (type.dtype != wanted.dtype) {
      value = handle(emit("cast", {value},
                          {text(std::string(to_string(wanted.dtype)))}, {}));
    }
    if (value.kind == GradientOperand::Kind::kHandle) return value.id;
    return emit("copy", {value}, {}, {});
  }

  // Dimensions that broadcasting added or stretched.
  static std::string summed_axes(const Shape& from, const Shape& to) {
    std::string axes;
    const size_t lead = from.size() - std::min(from.size(), to.size());
    for (size_t i = 0; i < from.size(); ++i) {
      const bool added = i < lead;
      const bool stretched = !added && to[i - lead] == 1 && from[i] != 1;
      if (!added && !stretched) continue;
      axes += (axes.empty() ? "" : ",") + std::to_string(i);
    }
    return axes;
  }

  static constexpr uint32_t kOperandGradBase = 1U << 16;

  const Tape& tape_;
  TypeIds& types_;
  GradientProgram program_;
  std::unordered_set<ValueId> reached_;
  std::unordered_set<ValueId> wanted_;
  std::unordered_set<ValueId> targets_;
  std::unordered_map<ValueId, Handle> gradient_;
  std::string notes_;
  Line line_, scratch_line_;
  Call call_, scratch_call_;
};

}  // namespace

GradientProgram reverse(const Tape& tape, TypeIds& types, ValueId loss,
                        const std::vector<ValueId>& targets, LostTarget& lost) {
  return Reverse(tape, types).run(loss, targets, lost);
}

}  // namespace gt
