// Names of one stream: what each is bound to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grad/tape.h"

namespace gt {

struct Symbol {
  std::string text;
  uint64_t hash = 0;
  ValueId value = kNil;     // kNil: unbound, or failed
  uint32_t generation = 0;  // grows when the slot gets another name
  bool failed = false;      // bound to a fail value
  Origin bound;             // where it was bound
  std::string message;      // of a failed one
  bool is_bound() const { return value != kNil || failed; }
};

// A hash table of names, open addressing, with a stable id for each.
class Symbols {
 public:
  Symbols();

  // kNil if the name was never seen, or was long since freed.
  SymbolId find(std::string_view name) const;
  SymbolId intern(std::string_view name);
  // Slots of unbound names are given to others once there are many of them.
  void note_unbound();

  Symbol& operator[](SymbolId id) { return symbols_[id]; }
  const Symbol& operator[](SymbolId id) const { return symbols_[id]; }
  const std::vector<Symbol>& all() const { return symbols_; }

  // Bound names that users may mean.
  std::vector<std::string_view> bound_names() const;

 private:
  size_t probe(std::string_view name, uint64_t hash) const;
  void rebuild(size_t slots);
  void collect();

  std::vector<Symbol> symbols_;
  std::vector<SymbolId> free_;
  std::vector<SymbolId> slots_;  // a power of two of them; kNil is empty
  size_t unbound_ = 0;
};

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
