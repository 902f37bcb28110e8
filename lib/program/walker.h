// Follows a program line by line: it knows the type of what every name holds,
// and derives from these what each line computes. A filter that needs types
// makes a Walker and passes each line, in the order of the stream, to take().
// For every line it gets the symbols and types that the line reads and writes,
// and through a Visitor the bound Call. A line that cannot be typed is no error
// here: its results then have no type.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/call.h"
#include "program/piece_types.h"
#include "program/symbol_table.h"
#include "program/type_ids.h"
#include "spmd/mesh.h"
#include "spmd/placed.h"
#include "stream/line.h"

namespace gt {

// A value that a line reads or writes. If the name has ranks, it is the piece
// on one rank, which has a symbol of its own ("x@2").
struct WalkedPart {
  uint32_t place = 0;  // the index of the operand, or result, on the line
  int64_t rank = -1;   // -1: the name has no ranks
  SymbolId symbol = kNoSymbol;
  Stamp stamp;  // when read, or after the line; kNoType: the type is unknown
};

// One line's reads and writes, as the Walker found them.
struct WalkedLine {
  Statement statement = Statement::kCompute;
  // True if everything that the line reads has a type, and its op takes these
  // types.
  bool is_typed = false;
  // True if what the line does depends only on its text and on the stamps of
  // its parts, so that still_holds() can tell whether it is still valid. False
  // for declarations of meshes and for a free with a glob.
  bool is_lasting = true;
  std::vector<WalkedPart> reads;  // by operand, then by rank as written
  // The values that it writes, by result, then by rank as written; for a free,
  // what it frees.
  std::vector<WalkedPart> writes;
};

class Walker {
 public:
  // Called with each bound call of a typed line: one if the line has no ranks,
  // else one for each rank. There is no call for a line with ranks that sends
  // between them, prints or saves.
  using Visitor = CallVisitor;

  // Takes the next instruction: read() and then bind(). The result is valid
  // until the next call.
  const WalkedLine& take(const Line& line, const Visitor& visit = {});
  // Finds out what the line reads and writes, given what names hold now.
  void read(const Line& line, const Visitor& visit, WalkedLine& out);
  // Binds the names that the line writes to their new types. A line that was
  // read before, and is_lasting, may be bound again without read() as long as
  // still_holds() is true and version() is unchanged.
  void bind(const WalkedLine& line);
  // True if the parts of the line have the stamps that read() found.
  bool still_holds(const WalkedLine& line) const;
  // True if they will never have them again, since a name's number has got
  // another name.
  bool is_past(const WalkedLine& line) const;

  // Returns the type with that number, which must not be kNoType. Valid until
  // version() changes.
  const Type& type(TypeId id) const { return types_[id]; }
  // Returns the type of what the name holds, or null. For a placed name it is
  // the type of the piece on its first rank.
  const Type* type_of(const Name& name) const;
  // Changes when a line may mean something else though its stamps are equal:
  // when a mesh is declared or ended, and when all names and types had to be
  // forgotten, after which they have new numbers. It only grows.
  uint64_t version() const { return meshes_.version() + forgotten_; }

 private:
  // With more names or types than this, all are forgotten: a program that frees
  // nothing may never end, and memory must stay bounded.
  static constexpr size_t kMaxNames = size_t{1} << 22;
  static constexpr size_t kMaxTypes = size_t{1} << 20;

  void read_unplaced(const Line& line, const Visitor& visit, WalkedLine& out);
  void read_placed(const Line& line, const Visitor& visit, WalkedLine& out);
  Status infer_ranks(const Line& line, const LineRanks& where,
                     const Visitor& visit, WalkedLine& out);
  SymbolId obtain(std::string_view name, int64_t rank);
  void add_read(std::string_view name, size_t operand, int64_t rank,
                WalkedLine& out);
  void add_write(std::string_view name, size_t result, int64_t rank,
                 TypeId type, WalkedLine& out);
  void free_names(const Line& line, WalkedLine& out) const;
  void limit();

  SymbolTable<StampedValue> symbols_;
  TypeIds types_;
  Meshes meshes_;
  uint64_t forgotten_ = 0;
  WalkedLine walked_;
  Call call_;
  std::vector<const Type*> operand_types_;
};

}  // namespace gt
