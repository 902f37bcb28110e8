// What every name holds, by ranks. What a name holds is a number, so that a
// line's reads are compared at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/interner.h"
#include "program/symbol_table.h"
#include "spmd/parts.h"
#include "stream/line.h"

namespace gt::check {

// A name's parts, on ranks of their own, and the one of no ranks, which is
// another name's; number 0 has none.
using Content = TypeId;

// The type in a stamp is a Content.
class CheckRegisters : public SymbolTable<StampedValue> {
 public:
  Content content(SymbolId id) const { return (*this)[id].stamp.type; }
  const std::vector<ShardedValue>& parts(Content content) const {
    return contents_[content];
  }

  std::optional<ShardedValue> read(SymbolId id,
                                   const std::vector<int64_t>& ranks,
                                   const AxisNames& names) const {
    return read_parts(parts(content(id)), ranks, names);
  }
  // The content with the value in place of what its ranks hold.
  Content with(Content content, const ShardedValue& value);
  // The same, of a copy of what the name holds on ranks `from`: a value that is
  // whole there is one value on all of its ranks then.
  Content with_copy(Content content, const std::vector<int64_t>& from,
                    const ShardedValue& copy, const AxisNames& names);
  Content without(Content content, const std::vector<int64_t>& ranks);

  void set(SymbolId id, Content content) {
    (*this)[id].stamp.type = content;
    if (content == kNoType) retire(id);
  }
  // Of all names that the glob matches; `leaves` is told what they held.
  void release(std::string_view glob,
               const std::function<void(Content)>& leaves);

  // Whether contents that nobody holds are many; then forget_dead() lets go of
  // them, and their numbers will be those of others.
  bool is_large() const { return contents_.size() > most_; }
  void forget_dead();

 private:
  struct Hash {
    size_t operator()(const std::vector<ShardedValue>& parts) const;
  };
  static constexpr size_t kContents = size_t{1} << 16;

  Content intern(std::vector<ShardedValue> parts);

  Interner<std::vector<ShardedValue>, Hash> contents_{1};
  size_t most_ = kContents;  // contents, before those that nobody holds go
};

}  // namespace gt::check
