// The types of what a call makes, found by the op table. Calls that come again
// with operands of the same types cost one look-up.
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

// The number of a type; equal types have one.
using TypeId = IdTable::Id;

// What is known of a call once its form and types are found to be right.
struct CallTypes {
  std::string text;  // what it was found by (CallTypes::key)
  const Op* op = nullptr;
  std::vector<TypeId> results;
  bool is_leaf = false;  // its results have no gradient
};

class CallTable {
 public:
  explicit CallTable(const Paths& paths) : paths_(paths) {}
  CallTable(const CallTable&) = delete;
  CallTable& operator=(const CallTable&) = delete;

  // What the call makes, whose operands have these types (kNoType of what is no
  // value). Valid until the next call. Errors: there is no such op, or it does
  // not take these operands or keys; the message begins with the op's name.
  Result<const CallTypes*> find(const gt_instruction& call,
                                std::span<const TypeId> types);

  static constexpr TypeId kNoType = 0;
  TypeId id(const Type& type);
  const Type& type(TypeId id) const { return types_[id]; }
  // The same for users; it lives as long as the table.
  const gt_type* shown(TypeId id) const { return &shown_[id]; }

 private:
  // `hash`: of key_, under which it is kept; 0: it is not kept.
  Result<const CallTypes*> make(const gt_instruction& call,
                                std::span<const TypeId> types, uint64_t hash);

  const Paths& paths_;
  Interner<Type, TypeHash> types_{1};
  std::deque<gt_type> shown_{1};  // by id
  Cache<CallTypes> known_{1 << 12};
  std::string key_;
  // Of make(), kept for their memory.
  Line line_;
  Call call_;
  std::vector<std::string> words_;
  std::vector<const Type*> operands_;
  std::unique_ptr<CallTypes> last_;  // pushed out, or not kept
};

}  // namespace gt::client
