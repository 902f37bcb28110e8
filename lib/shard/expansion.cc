#include "shard/expansion.h"

#include <algorithm>

#include "shard/line_work.h"

namespace gt::shard {
namespace {

std::vector<std::string> operand_names(const Call& call) {
  std::vector<std::string> names;
  for (const Argument& a : call.arguments) names.emplace_back(a.text);
  return names;
}

}  // namespace

Expansion::Expansion(const Line& line, const Call& call)
    : line_(line),
      call_(call),
      steps_(expansion_steps(call)),
      last_use_({}),
      names_(operand_names(call)) {
  for (size_t s = 0; s < steps_.size(); ++s) {
    for (const Ref& ref : steps_[s].results) last_use_.set(ref, s);
    for (const StepOperand& o : steps_[s].operands) {
      if (o.is_ref) last_use_.set(o.ref, s);
    }
  }
}

bool Expansion::ends_history() const {
  return call_.op->row->leaf &&
         std::ranges::any_of(call_.arguments, [](const Argument& a) {
           return a.role == Role::kTensor && !a.absent && !a.literal &&
                  is_float(a.type.dtype);
         });
}

std::string Expansion::name_result(const Ref& ref,
                                   const NewName& new_name) const {
  if (ref.kind != Ref::Kind::kResult) return new_name();
  const std::string_view name = line_.results[ref.index].text;
  const bool is_read =
      std::any_of(line_.operands.begin(), line_.operands.end(),
                  [&](const Operand& o) { return o.text == name; });
  return is_read || ends_history() ? new_name() : std::string(name);
}

Expansion::NamedStep Expansion::step(size_t s, const NewName& new_name) {
  const Step& step = steps_[s];
  for (const Ref& ref : step.results) {
    names_.set(ref, name_result(ref, new_name));
  }
  NamedStep out{line_of(step), {}};
  const auto name_of = [&](const Ref& ref) -> const std::string& {
    const std::string& name = names_[ref];
    if (ref.kind == Ref::Kind::kTemp && last_use_[ref] == s) {
      out.dead.insert(name);
    }
    return name;
  };
  for (size_t r = 0; r < step.results.size(); ++r) {
    out.line.results[r].text = name_of(step.results[r]);
  }
  for (size_t i = 0; i < step.operands.size(); ++i) {
    if (!step.operands[i].is_ref) continue;
    out.line.operands[i].text = name_of(step.operands[i].ref);
  }
  out.line.notes = shared_notes(line_);
  return out;
}

std::vector<std::pair<std::string, std::string>> Expansion::renamed() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (uint32_t r = 0; r < call_.results.size(); ++r) {
    const std::string_view name = line_.results[r].text;
    const std::string& made = names_[{Ref::Kind::kResult, r}];
    if (made != name) out.emplace_back(made, name);
  }
  return out;
}

}  // namespace gt::shard
