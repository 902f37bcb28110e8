// Takes any bytes as a line, which parses or is refused with a column in it. A
// line that parses prints in a form that parses to itself. An op that it names
// binds or refuses, whatever the types of its operands, and the steps of a call
// that binds, and of its gradient, bind too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "base/message.h"
#include "ops/call.h"
#include "ops/text.h"
#include "stream/line.h"
#include "target.h"

namespace {

using gt::fuzz::require;

// The first letter of a name chooses its type, so the fuzzer can choose types.
const gt::Type& type_for(std::string_view name) {
  using gt::Dtype;
  static const gt::Type kTypes[] = {
      {Dtype::kF32, {2, 3}},  {Dtype::kF64, {}},
      {Dtype::kI64, {}},      {Dtype::kBf16, {3}},
      {Dtype::kBool, {1, 3}}, {Dtype::kI32, {2}},
      {Dtype::kF32, {0, 3}},  {Dtype::kF16, {1, 1, 1, 1, 1, 1, 1, 2}},
      {Dtype::kF32, {2, 4}},  {Dtype::kBf16, {2, 5, 4}},
      {Dtype::kI64, {2, 3}},
  };
  return kTypes[static_cast<unsigned char>(name[0]) % std::size(kTypes)];
}

// Steps may make tensors larger than those of the call, so calls with sizes
// near the limit are left out.
bool fits(const gt::Call& call) {
  for (const gt::Type& type : call.results) {
    if (type.bytes() > size_t{1} << 40) return false;
  }
  return true;
}

// The types of what the steps of a call name.
class Steps {
 public:
  explicit Steps(const gt::Call& call) : call_(call) {}

  void expansion() { run(gt::expansion_steps(call_)); }

  // The steps that gradients of float operands need, as gt-emit picks them.
  void gradient() {
    std::vector<gt::Step> steps = gt::gradient_steps(call_);
    std::vector<gt::Ref> needed;
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      const gt::Argument& a = call_.arguments[i];
      const bool tensor =
          a.role == gt::Role::kTensor && !a.absent && !a.literal;
      if (!tensor || !gt::is_float(a.type.dtype)) continue;
      needed.push_back({gt::Ref::Kind::kOperandGrad, static_cast<uint32_t>(i)});
    }
    std::vector<gt::Step> kept;
    for (size_t s = steps.size(); s > 0; --s) {
      const gt::Step& step = steps[s - 1];
      const bool wanted = std::any_of(
          step.results.begin(), step.results.end(), [&](const gt::Ref& r) {
            return std::find(needed.begin(), needed.end(), r) != needed.end();
          });
      if (!wanted) continue;
      for (const gt::StepOperand& o : step.operands) {
        if (o.is_ref) needed.push_back(o.ref);
      }
      kept.insert(kept.begin(), step);
    }
    run(kept);
  }

 private:
  void run(const std::vector<gt::Step>& steps) {
    for (const gt::Step& step : steps) {
      std::vector<const gt::Type*> types;
      for (const gt::StepOperand& o : step.operands) {
        types.push_back(o.is_ref ? type_of(o.ref) : nullptr);
      }
      gt::Call call;
      if (const auto s = gt::bind_step(step, types, call); !s.ok()) {
        std::fprintf(stderr, "%s: %s\n", call_.op->name.c_str(),
                     s.error().message.c_str());
        std::abort();
      }
      for (size_t r = 0; r < step.results.size(); ++r) {
        set(step.results[r], call.results[r]);
      }
    }
  }

  const gt::Type* type_of(const gt::Ref& ref) {
    switch (ref.kind) {
      case gt::Ref::Kind::kOperand:
        return &call_.arguments[ref.index].type;
      case gt::Ref::Kind::kResultGrad:
        return &call_.results[ref.index];
      case gt::Ref::Kind::kResult:
        return &call_.results[ref.index];
      case gt::Ref::Kind::kOperandGrad:
      case gt::Ref::Kind::kTemp:
        break;
    }
    for (const auto& [known, type] : made_) {
      if (known == ref) return &type;
    }
    std::abort();
  }

  // The results of an expansion must have the types of the call's.
  void set(const gt::Ref& ref, const gt::Type& type) {
    if (ref.kind == gt::Ref::Kind::kResult) {
      require(type == call_.results[ref.index]);
    } else {
      made_.emplace_back(ref, type);
    }
  }

  const gt::Call& call_;
  std::deque<std::pair<gt::Ref, gt::Type>> made_;
};

void bind_as_written(const gt::Line& line) {
  std::vector<const gt::Type*> types;
  for (const gt::Operand& operand : line.operands) {
    const bool name = operand.kind == gt::Operand::Kind::kName;
    types.push_back(name ? &type_for(operand.text) : nullptr);
  }
  gt::Call call;
  if (!gt::bind(line, types, call).ok()) return;
  if (fits(call)) {
    Steps(call).gradient();
    Steps(call).expansion();
  }
  gt::flops(call);
}

}  // namespace

GT_FUZZ_TARGET(parser) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  gt::Line line;
  const gt::Status status = gt::parse_line(text, line);
  if (!status.ok()) {
    const gt::Error& error = status.error();
    require(error.column >= 1 && error.column <= size + 1);
    gt::format_error("fuzz", {"f", 1}, error, text);
    return 0;
  }
  std::string once, twice;
  gt::append_line(once, line);
  gt::Line again;
  require(gt::parse_line(once, again).ok());
  gt::append_line(twice, again);
  require(once == twice);
  if (line.kind == gt::Line::Kind::kInstruction) bind_as_written(line);
  return 0;
}
