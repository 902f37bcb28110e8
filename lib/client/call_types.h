// CallTable: finds the types of a call's results by the op table. A call that
// comes again with operands of the same types costs one look-up.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cache.h"
#include "base/interner.h"
#include "client/include/gt/c.h"
#include "client/paths.h"
#include "ops/call.h"

namespace gt::client {

// The number of a type. Equal types have the same number.
using TypeId = IdTable::Id;

// The result of checking a call.
struct CallTypes {
  std::string text;  // the key by which it is found (CallTable::key_)
  const Op* op = nullptr;
  std::vector<TypeId> results;
  bool is_leaf = false;  // the results have no gradient
};

class CallTable {
 public:
  explicit CallTable(const Paths& paths) : paths_(paths) {}
  CallTable(const CallTable&) = delete;
  CallTable& operator=(const CallTable&) = delete;

  // Checks the call and returns the types of its results. `types` are those of
  // its operands, kNoType for one that is no value. Valid until the next call.
  // Errors: there is no such op, or it does not take these operands or keys;
  // the message begins with the op's name.
  Result<const CallTypes*> find(const gt_instruction& call,
                                std::span<const TypeId> types);

  static constexpr TypeId kNoType = 0;
  TypeId id(const Type& type);
  const Type& type(TypeId id) const { return types_[id]; }
  // Returns the type in the form of gt/c.h; valid as long as the table.
  const gt_type* shown(TypeId id) const { return &shown_[id]; }

 private:
  // Checks a call that is not known. `hash` is that of key_, under which the
  // result is kept; 0: it is not kept.
  Result<const CallTypes*> make(const gt_instruction& call,
                                std::span<const TypeId> types, uint64_t hash);

  const Paths& paths_;
  Interner<Type, TypeHash> types_{1};
  std::deque<gt_type> shown_{1};  // indexed by TypeId
  Cache<CallTypes> known_{1 << 12};
  std::string key_;
  // Scratch of make(); members only so that their memory is used again.
  Line line_;
  Call call_;
  std::vector<std::string> words_;
  std::vector<const Type*> operands_;
  // A result that was evicted from known_ or never kept.
  std::unique_ptr<CallTypes> last_;
};

}  // namespace gt::client
