// Follows a program line by line: the types of what every name holds, and from
// these what each line computes. A filter that needs types gives it the lines
// in their order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/call.h"
#include "program/symbol_table.h"
#include "program/type_ids.h"
#include "spmd/mesh.h"
#include "spmd/placed.h"
#include "stream/line.h"

namespace gt {

// A value that a line reads or makes: of a line with ranks its piece on one of
// them.
struct WalkedPart {
  uint32_t place = 0;  // of the operand, or of the result, on the line
  int64_t rank = -1;   // -1: of a name without ranks
  SymbolId symbol = kNoSymbol;
  Stamp stamp;  // as it was read, or as it is bound; kNoType: nobody knows
};

struct WalkedLine {
  Statement statement = Statement::kCompute;
  // Everything that it reads has a type, and its op takes these.
  bool is_typed = false;
  // What it does depends on its text and on what it reads alone.
  bool is_lasting = true;
  std::vector<WalkedPart> reads;  // by operand, then by rank as written
  // Of a free what it frees; else by result, then by rank.
  std::vector<WalkedPart> writes;
};

class Walker {
 public:
  // Is told of each call that the line makes, one for each rank that runs it by
  // itself; of a line that crosses ranks there is none.
  using Visitor = std::function<void(const Call&)>;

  // The next instruction. Valid until the next call.
  const WalkedLine& take(const Line& line, const Visitor& visit = {});
  // The same in two steps: what the line is, and that it was run. Lines that
  // come again may be bound as they were read before while still_holds().
  void read(const Line& line, const Visitor& visit, WalkedLine& out);
  void bind(const WalkedLine& line);
  bool still_holds(const WalkedLine& line) const;

  // Of one value; not of kNoType.
  const Type& type(TypeId id) const { return types_[id]; }
  // The type of a live name, or null; of a placed one, that of the first piece.
  const Type* type_of(const Name& name) const;
  // What a later line is read under beside the names, which only grows: the
  // meshes, and how often all that was known had to be forgotten.
  uint64_t version() const { return meshes_.version() + forgotten_; }

 private:
  // Names that live and types are forgotten beyond that, since a program that
  // frees nothing may never come to an end.
  static constexpr size_t kMaxNames = size_t{1} << 22;
  static constexpr size_t kMaxTypes = size_t{1} << 20;

  void read_unplaced(const Line& line, const Visitor& visit, WalkedLine& out);
  void read_placed(const Line& line, const Visitor& visit, WalkedLine& out);
  Status infer_ranks(const Line& line, const LineRanks& where,
                     const Visitor& visit, WalkedLine& out);
  Status infer_locally(const Line& line, const LineRanks& where,
                       const PieceType& types, const Visitor& visit,
                       WalkedLine& out);
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
