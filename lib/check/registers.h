// gt-check's table of names: what each name holds on which ranks. All that one
// name holds is interned as one number, its Content, so that comparing numbers
// tells whether a line's reads are as they were. So a name has one symbol here,
// with all its parts, and not one for each part as in a PlacedSymbolTable. What
// a line leaves of the parts (with(), without()) is a Content, too. It is kept
// with the line, and bound at once when the line comes again.
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

// The number of a list of values, which are the parts of a name. No two parts
// have a rank in common. "x" without ranks is another register than "x@0", but
// has the same symbol: it is the part whose ranks are empty. Number 0 is the
// list without parts.
using Content = TypeId;

// gt-check's symbol table. The `type` in a symbol's stamp is its Content.
class CheckRegisters : public SymbolTable<StampedValue> {
 public:
  // Returns the content that a name holds.
  Content content(SymbolId id) const { return (*this)[id].stamp.type; }
  const std::vector<ShardedValue>& parts(Content content) const {
    return contents_[content];
  }

  // Returns what the name holds on the ranks, as one value. Empty `ranks` stand
  // for the name without ranks. Returns nothing if the name lacks one of the
  // ranks.
  std::optional<ShardedValue> read(SymbolId id,
                                   const std::vector<int64_t>& ranks,
                                   const AxisNames& names) const {
    return read_parts(parts(content(id)), ranks, names);
  }
  // Returns the content with the value in the place of what its ranks held.
  Content with(Content content, const ShardedValue& value);
  // Does the same for a line "w@1 = copy w@0", which spreads what the name
  // holds on `from` to more ranks. If that value is whole on each of its ranks,
  // it and the copy become one part on all ranks of both.
  Content with_copy(Content content, const std::vector<int64_t>& from,
                    const ShardedValue& copy, const AxisNames& names);
  // Returns the content without what these ranks hold.
  Content without(Content content, const std::vector<int64_t>& ranks);

  // Binds the name to the content.
  void set(SymbolId id, Content content) {
    (*this)[id].stamp.type = content;
    if (content == kNoType) retire(id);
  }
  // Unbinds all names that the glob matches, and passes what each held to
  // `leaves`.
  void release(std::string_view glob,
               const std::function<void(Content)>& leaves);

  // Returns names that hold something, as "x@0-1" or "x", for suggestions.
  std::vector<std::string> some_full_names() const;

  // is_large() is true if so many contents are interned that those which no
  // name holds should be dropped. forget_dead() drops these. Their numbers will
  // stand for other contents, so whoever keeps numbers must forget them first.
  bool is_large() const { return contents_.size() > most_; }
  void forget_dead();

 private:
  struct Hash {
    size_t operator()(const std::vector<ShardedValue>& parts) const;
  };
  static constexpr size_t kContents = size_t{1} << 16;

  Content intern(std::vector<ShardedValue> parts);

  Interner<std::vector<ShardedValue>, Hash> contents_{1};
  size_t most_ = kContents;  // is_large() beyond this many contents
};

}  // namespace gt::check
