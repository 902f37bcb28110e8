// Registers maps names to their values. A register is a small number that a
// decoded line keeps instead of a name. Its stamp tells whether the number
// still stands for that name, and for a value of the type that the line was
// decoded for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "exec/memory/pool.h"
#include "program/symbol_table.h"
#include "program/type_ids.h"

namespace gt::exec {

using RegisterId = SymbolId;

// A register: the value of a name, with its stamp.
struct Register : StampedValue {
  Buffer* buffer = nullptr;  // null if there is no value
};

class Registers : public SymbolTable<Register> {
 public:
  explicit Registers(Pool& pool) : pool_(pool) {}

  // Binds a register to a buffer. The register takes over the caller's
  // reference to it, and drops its own to the old buffer.
  void bind(RegisterId id, Buffer* buffer, TypeId type) {
    Register& r = (*this)[id];
    if (r.has_failed()) forget_failure(id);
    Buffer* old = r.buffer;
    r.buffer = buffer;
    r.stamp.type = type;
    if (old != nullptr) pool_.drop(old);
  }
  // Binds a register to a failure, whose message a print of it shows.
  void fail(RegisterId id, FailureText message);
  // Unbinds a register.
  void release(RegisterId id);

  // Removes all types from `types` except those of live values, which get new
  // numbers. No decoded line or recipe may exist then.
  void renumber_types(TypeIds& types);

 private:
  Pool& pool_;
};

}  // namespace gt::exec
