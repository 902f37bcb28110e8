// Names and what they hold. A register is a small number that a decoded line
// keeps instead of the name; its stamp tells whether the number still means
// that name and a value of the type that the line was decoded for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "exec/memory/pool.h"
#include "program/symbol_table.h"
#include "program/type_ids.h"

namespace gt::exec {

using RegisterId = SymbolId;

struct Register : StampedValue {
  Buffer* buffer = nullptr;  // null unless the type is a real one
};

class Registers : public SymbolTable<Register> {
 public:
  explicit Registers(Pool& pool) : pool_(pool) {}

  // Binds to a buffer. The caller has taken a reference to it, which is the
  // register's from now on; that to the old buffer is dropped.
  void bind(RegisterId id, Buffer* buffer, TypeId type) {
    Register& r = (*this)[id];
    if (r.has_failed()) forget_failure(id);
    Buffer* old = r.buffer;
    r.buffer = buffer;
    r.stamp.type = type;
    if (old != nullptr) pool_.drop(old);
  }
  // Binds to a failure: what a print of it says.
  void fail(RegisterId id, FailureText message);
  void release(RegisterId id);

  // Empties `types` but for those of live values, which get new numbers: no
  // decoded line or recipe may be left.
  void renumber_types(TypeIds& types);

 private:
  Pool& pool_;
};

}  // namespace gt::exec
