// Names and what they hold. A register is a small number that a decoded line
// keeps instead of the name; its stamp tells whether the number still means
// that name and a value of the type that the line was decoded for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/name_numbers.h"
#include "exec/decode/type_table.h"
#include "exec/memory/pool.h"

namespace gt {

using RegisterId = uint32_t;

// Generation of the number above, type of the value below.
struct Stamp {
  uint32_t type = kNoType;
  uint32_t generation = 0;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

struct Register {
  Stamp stamp;
  Buffer* buffer = nullptr;  // null unless the type is a real one
  bool is_live() const { return stamp.type != kNoType; }
  bool has_failed() const { return stamp.type == kFailedType; }
};

class Registers {
 public:
  explicit Registers(Pool& pool) : pool_(pool) {}

  Register& operator[](RegisterId id) { return registers_[id]; }
  const Register& operator[](RegisterId id) const { return registers_[id]; }

  // The register of a live name, or null.
  const Register* find(std::string_view name) const;
  RegisterId id_of(const Register& r) const {
    return static_cast<RegisterId>(&r - registers_.data());
  }
  // The register of a name, live or not; made when there is none. All that are
  // obtained since begin_line() keep their names until the next.
  void begin_line() { names_.begin_line(); }
  RegisterId obtain(std::string_view name);
  std::string_view name_of(RegisterId id) const { return names_.name_of(id); }

  // Binds to a buffer, of which the caller has taken a reference for it.
  void bind(RegisterId id, Buffer* buffer, TypeId type) {
    Register& r = registers_[id];
    if (r.has_failed()) failures_.erase(id);
    Buffer* old = r.buffer;
    r.buffer = buffer;
    r.stamp.type = type;
    if (old != nullptr) pool_.drop(old);
  }
  // Binds to a failure: what a print of it says.
  void fail(RegisterId id, std::shared_ptr<const std::string> message);
  const std::shared_ptr<const std::string>& failure_of(RegisterId id) const;
  void release(RegisterId id);

  // Starts the table afresh with the types of live values.
  void renumber_types(TypeTable& types);

  // Names for a spelling suggestion: not all, when there are very many.
  std::vector<std::string_view> some_live_names() const;
  size_t size() const { return registers_.size(); }

 private:
  Pool& pool_;
  std::vector<Register> registers_;
  NameNumbers names_;
  std::unordered_map<RegisterId, std::shared_ptr<const std::string>> failures_;
};

}  // namespace gt
