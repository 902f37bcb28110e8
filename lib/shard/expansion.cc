#include "shard/expansion.h"

#include <algorithm>

namespace gt::shard {

Expansion::Expansion(const Line& line, const Call& call)
    : line_(line), call_(call), steps_(expansion_steps(call)) {
  for (size_t s = 0; s < steps_.size(); ++s) {
    for (const Ref& ref : steps_[s].results) last_use_.try_emplace(key(ref), s);
    for (const StepOperand& o : steps_[s].operands) {
      if (o.is_ref) last_use_[key(o.ref)] = s;
    }
  }
  for (uint32_t i = 0; i < call.arguments.size(); ++i) {
    names_[{Ref::Kind::kOperand, i}] = call.arguments[i].text;
  }
}

std::string Expansion::name_result(const Ref& ref,
                                   const NewName& new_name) const {
  if (ref.kind != Ref::Kind::kResult) return new_name();
  const std::string_view name = line_.results[ref.index].text;
  const bool is_read =
      std::any_of(line_.operands.begin(), line_.operands.end(),
                  [&](const Operand& o) { return o.text == name; });
  return is_read ? new_name() : std::string(name);
}

Expansion::Step Expansion::step(size_t s, const NewName& new_name) {
  const gt::Step& step = steps_[s];
  Step out;
  const auto note_death = [&](const Ref& ref) {
    if (ref.kind == Ref::Kind::kTemp && last_use_.at(key(ref)) == s) {
      out.dead.insert(names_.at(key(ref)));
    }
  };
  for (const Ref& ref : step.results) {
    names_[key(ref)] = name_result(ref, new_name);
    out.text += names_[key(ref)] + " ";
    note_death(ref);
  }
  out.text += "= " + step.op->name;
  for (const StepOperand& o : step.operands) {
    out.text += " " + (o.is_ref ? names_.at(key(o.ref)) : o.text);
    if (o.is_ref) note_death(o.ref);
  }
  for (const auto& [k, v] : step.keys) out.text += " " + k + "=" + v;
  return out;
}

std::vector<std::pair<std::string, std::string>> Expansion::renamed() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (uint32_t r = 0; r < call_.results.size(); ++r) {
    const std::string name(line_.results[r].text);
    const std::string& made = names_.at({Ref::Kind::kResult, r});
    if (made != name) out.emplace_back(made, name);
  }
  return out;
}

}  // namespace gt::shard
