#include "exec/registers.h"

namespace gt {

const Register* Registers::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return nullptr;
  const Register& r = registers_[it->second];
  return r.is_live() ? &r : nullptr;
}

RegisterId Registers::obtain(std::string_view name) {
  const auto it = by_name_.find(name);
  const RegisterId id = it != by_name_.end() ? it->second : take_number(name);
  obtained_[id] = line_;
  return id;
}

// A number that no live name has: one long dead, or a new one. A number that
// never becomes live is not given back, so callers obtain before they bind.
RegisterId Registers::take_number(std::string_view name) {
  RegisterId id = static_cast<RegisterId>(registers_.size());
  while (dead_.size() > kKeptDead) {
    const RegisterId oldest = dead_.front();
    dead_.pop_front();
    if (obtained_[oldest] == line_) {
      dead_.push_back(oldest);
      break;
    }
    is_in_dead_[oldest] = false;
    if (registers_[oldest].is_live()) continue;
    by_name_.erase(by_name_.find(*names_[oldest]));
    ++registers_[oldest].stamp.generation;
    id = oldest;
    break;
  }
  if (id == registers_.size()) {
    registers_.emplace_back();
    names_.push_back(nullptr);
    is_in_dead_.push_back(false);
    obtained_.push_back(0);
  }
  names_[id] = &by_name_.emplace(std::string(name), id).first->first;
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
  if (is_in_dead_[id]) return;
  is_in_dead_[id] = true;
  dead_.push_back(id);
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
  constexpr size_t kMost = 2000;
  std::vector<std::string_view> names;
  for (RegisterId id = 0; id < registers_.size(); ++id) {
    if (!registers_[id].is_live()) continue;
    names.push_back(*names_[id]);
    if (names.size() == kMost) break;
  }
  return names;
}

}  // namespace gt
