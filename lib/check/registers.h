// gt-check's table of names: what each holds on which ranks. All that one name
// holds is interned as one number, its Content, so that whether a line's reads
// are as they were is a comparison of numbers. So a name has one symbol here,
// with all its parts, and not one for each part as in a PlacedSymbolTable: what
// a line leaves of the parts (with(), without()) is a Content, too, which is
// kept with the line, and bound at once when the line comes again.
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

// The number of a list of values, the parts of a name. No two parts have a rank
// in common. "x" without ranks is another register than "x@0", but stands under
// the same symbol: it is the part whose ranks are empty. Number 0 has no parts.
using Content = TypeId;

// The `type` in a symbol's stamp is its Content.
class CheckRegisters : public SymbolTable<StampedValue> {
 public:
  Content content(SymbolId id) const { return (*this)[id].stamp.type; }
  const std::vector<ShardedValue>& parts(Content content) const {
    return contents_[content];
  }

  // What the name holds on the ranks as one value (none: of no ranks); nothing
  // if it lacks one of them.
  std::optional<ShardedValue> read(SymbolId id,
                                   const std::vector<int64_t>& ranks,
                                   const AxisNames& names) const {
    return read_parts(parts(content(id)), ranks, names);
  }
  // The content in which the value takes the place of what its ranks held.
  Content with(Content content, const ShardedValue& value);
  // The same for a line "w@1 = copy w@0", which spreads what the name holds on
  // `from` to more ranks: where that is whole on each of its ranks, it and the
  // copy become one part on all ranks of both.
  Content with_copy(Content content, const std::vector<int64_t>& from,
                    const ShardedValue& copy, const AxisNames& names);
  // The content without what these ranks hold.
  Content without(Content content, const std::vector<int64_t>& ranks);

  void set(SymbolId id, Content content) {
    (*this)[id].stamp.type = content;
    if (content == kNoType) retire(id);
  }
  // Unbinds all names that the glob matches; `leaves` is told what each held.
  void release(std::string_view glob,
               const std::function<void(Content)>& leaves);

  // Names that hold something, as "x@0-1" or "x": for suggestions.
  std::vector<std::string> some_full_names() const;

  // Whether so many contents are interned that those which no name holds ought
  // to go. forget_dead() drops these; their numbers come to mean others, so
  // whoever keeps numbers must forget them before.
  bool is_large() const { return contents_.size() > most_; }
  void forget_dead();

 private:
  struct Hash {
    size_t operator()(const std::vector<ShardedValue>& parts) const;
  };
  static constexpr size_t kContents = size_t{1} << 16;

  Content intern(std::vector<ShardedValue> parts);

  Interner<std::vector<ShardedValue>, Hash> contents_{1};
  size_t most_ = kContents;  // how many contents make is_large()
};

}  // namespace gt::check
