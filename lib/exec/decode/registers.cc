#include "exec/decode/registers.h"

#include <unordered_map>
#include <utility>

namespace gt::exec {

void Registers::fail(RegisterId id, FailureText message) {
  bind(id, nullptr, kFailedType);
  note_failure(id, std::move(message));
}

void Registers::release(RegisterId id) {
  bind(id, nullptr, kNoType);
  retire(id);
}

void Registers::renumber_types(TypeIds& types) {
  std::unordered_map<TypeId, Type> live;
  for (RegisterId id = 0; id < size(); ++id) {
    const Register& r = (*this)[id];
    if (r.buffer != nullptr) live[r.stamp.type] = types[r.stamp.type];
  }
  types.clear();
  for (RegisterId id = 0; id < size(); ++id) {
    Register& r = (*this)[id];
    if (r.buffer != nullptr) r.stamp.type = types.id(live[r.stamp.type]);
  }
}

}  // namespace gt::exec
