// What each line costs, out of the text alone: the types of live names are
// kept, and the op table does the rest. Works on any stream, and says of a line
// that cannot be typed that it cannot.
//
// A line that was seen before, its operands of the same types, is looked up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/seen.h"
#include "ops/call.h"
#include "spmd/mesh.h"
#include "spmd/placed.h"
#include "stream/line.h"

namespace gt {

struct Priced {
  std::string op;      // "" if the line cannot be parsed
  std::string signal;  // without quotes; "" if there is none
  bool typed = false;
  double bytes = 0;  // of operands and results, on all ranks
  double flops = 0;
};

class Typing {
 public:
  // The next instruction of the stream. Valid until the next call.
  const Priced& take(std::string_view text);

  // The type of a live name, or null; of a placed one, that of the first piece.
  const Type* type_of(const Name& name) const;

 private:
  using TypeId = uint32_t;
  static constexpr TypeId kNone = 0;
  // More than that are forgotten, the names of a program that frees none and
  // never comes to an end among them.
  static constexpr size_t kMaxNames = size_t{1} << 22;
  static constexpr size_t kMaxTypes = size_t{1} << 20;
  static constexpr size_t kMaxKnown = size_t{1} << 16;
  static constexpr size_t kDead = size_t{1}
                                  << 14;  // names kept for their slots
  static constexpr size_t kMaxText = 1024;

  struct Slot {
    TypeId type = kNone;
  };
  struct Use {
    Slot* slot;
    TypeId type;
  };
  struct Entry {
    Priced priced;
    std::vector<Use> reads;   // what it was made under
    std::vector<Use> writes;  // what the line does
    bool once = false;        // depends on more than that
  };
  // What a placed line's names are on each rank.
  struct Pieces {
    std::vector<std::vector<Slot*>> operands;  // by where.operands
    std::vector<std::vector<Slot*>> results;   // by result, then where.ranks
  };
  struct TypeHash {
    size_t operator()(const Type& type) const {
      return hash_bytes({reinterpret_cast<const char*>(type.shape.begin()),
                         type.shape.size() * sizeof(int64_t)}) ^
             static_cast<size_t>(type.dtype);
    }
  };

  static bool holds(const Entry& entry);
  void price(std::string_view text, Entry& entry);
  void price_op(Entry& entry);
  void price_placed(Entry& entry);
  Status price_ranks(const LineRanks& where, const Pieces& pieces,
                     Entry& entry);
  Status price_locally(const LineRanks& where, const PieceType& types,
                       const Pieces& pieces, Entry& entry);
  void release(Entry& entry);
  void type_gradients(Entry& entry);
  void write_results(Entry& entry, const std::vector<Type>& types);
  Slot* slot_of(std::string_view name);
  Slot* piece_of(std::string_view name, int64_t rank);
  TypeId intern(const Type& type);
  void limit();

  std::unordered_map<std::string, Slot, TextHash, std::equal_to<>> slots_;
  size_t live_ = 0;  // slots with a type
  std::unordered_map<std::string, Entry, TextHash, std::equal_to<>> known_;
  Seen seen_;
  std::unordered_map<Type, TypeId, TypeHash> type_ids_;
  std::vector<const Type*> types_{nullptr};  // by id, in type_ids_
  Meshes meshes_;
  Entry entry_;
  Line line_;
  Call call_;
  std::vector<const Type*> operand_types_;
  std::string key_;
};

}  // namespace gt
