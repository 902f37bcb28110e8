#include "exec/decode/registers.h"

namespace gt {

const Register* Registers::find(std::string_view name) const {
  const RegisterId id = names_.find(name);
  if (id == NameNumbers::kNone || !registers_[id].is_live()) return nullptr;
  return &registers_[id];
}

// A number that never becomes live is not given back, so callers obtain before
// they bind.
RegisterId Registers::obtain(std::string_view name) {
  const auto [id, is_other] = names_.obtain(
      name, [this](RegisterId known) { return registers_[known].is_live(); });
  if (id == registers_.size()) registers_.emplace_back();
  if (is_other) ++registers_[id].stamp.generation;
  return id;
}

void Registers::fail(RegisterId id,
                     std::shared_ptr<const std::string> message) {
  bind(id, nullptr, kFailedType);
  failures_[id] = std::move(message);
}

const std::shared_ptr<const std::string>& Registers::failure_of(
    RegisterId id) const {
  return failures_.at(id);
}

void Registers::release(RegisterId id) {
  bind(id, nullptr, kNoType);
  names_.release(id);
}

void Registers::renumber_types(TypeTable& types) {
  std::unordered_map<TypeId, Type> live;
  for (const Register& r : registers_) {
    if (r.buffer != nullptr) live[r.stamp.type] = types[r.stamp.type].type;
  }
  types.clear();
  for (Register& r : registers_) {
    if (r.buffer != nullptr) r.stamp.type = types.intern(live[r.stamp.type]);
  }
}

std::vector<std::string_view> Registers::some_live_names() const {
  return some_names(names_,
                    [this](RegisterId id) { return registers_[id].is_live(); });
}

}  // namespace gt
