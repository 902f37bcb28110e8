// Names of one stream: what each is bound to.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grad/tape.h"

namespace gt {

struct Symbol {
  std::string text;  // with its ranks, "x@0-3"
  uint64_t hash = 0;
  ValueId value = kNil;  // kNil: unbound, or failed
  // Values that are older (Tape::serial) had another name in this slot.
  uint64_t since = 0;
  bool failed = false;  // bound to a fail value
  Origin bound;         // where it was bound
  std::string message;  // of a failed one
  Ranks ranks;          // ascending; none of an unplaced one
  bool is_bound() const { return value != kNil || failed; }
};

// A hash table of names, open addressing, with a stable id for each.
class Symbols {
 public:
  Symbols();

  // kNil if the name was never seen, or was long since freed.
  SymbolId find(std::string_view name) const;
  SymbolId intern(std::string_view name);
  // Slots of unbound names are given to others once there are many of them, for
  // values from that serial number on.
  void note_unbound(uint64_t next_serial);

  Symbol& operator[](SymbolId id) { return symbols_[id]; }
  const Symbol& operator[](SymbolId id) const { return symbols_[id]; }
  const std::vector<Symbol>& all() const { return symbols_; }

  // Registers are (name, rank). The bound symbols of a name with ranks, which
  // have no rank in common.
  const std::vector<SymbolId>& pieces(std::string_view name) const;
  // By value: the ranks of another symbol move when there is a new one.
  SymbolId intern_piece(std::string_view name, Ranks ranks);
  void drop_piece(SymbolId id);

  // Bound names that users may mean.
  std::vector<std::string_view> bound_names() const;

 private:
  size_t probe(std::string_view name, uint64_t hash) const;
  void rebuild(size_t slots);
  void collect(uint64_t next_serial);

  std::vector<Symbol> symbols_;
  std::vector<SymbolId> free_;
  std::vector<SymbolId> slots_;  // a power of two of them; kNil is empty
  std::map<std::string, std::vector<SymbolId>, std::less<>> pieces_;
  size_t unbound_ = 0;
};

// "x@0-3", and back.
std::string with_ranks(std::string_view name, std::string_view ranks);
std::string_view without_ranks(std::string_view name);

// "_e0" is ours, and "c1/_e0" within name space c1.
bool is_internal_name(std::string_view name);

// Numbers of the names that a filter invents: the smallest one first.
class Numbers {
 public:
  uint32_t take();
  void give_back(uint32_t number);

 private:
  std::vector<uint32_t> free_;  // a heap, smallest on top
  uint32_t next_ = 0;
};

}  // namespace gt
