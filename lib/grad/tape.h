// The history of live values: what reverse mode walks back.
//
// A value is what one instruction defined. A node is an instruction that can be
// differentiated. The tape keeps exactly what a later `grad` could use:
//   - a node is kept while something live follows from it (a held value, or a
//     kept node that reads its results), and
//   - while it can reach a target: a value that a user's name holds.
// Both are reference counts, so upkeep is constant time a line and what loops
// leave behind goes by itself.
//
// Whoever names values holds them: a user's name or one of our own (internal).
// Internal names are no targets; when nobody needs the data of an internally
// held value any more it turns up in take_idle(), and the holder frees it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grad/cells.h"

namespace gt::grad {

// The pseudo-op of a value whose pieces several values hold: "r@0-3 = pieces
// x@0-1 x@2-3" on the tape, nothing in the stream.
const Op& pieces_op();

class Tape : public HistoryCells {
 public:
  // A value without history.
  using HistoryCells::add_leaf;

  // Records an instruction; results get their values in `results`. Without a
  // live input there is no node, only leaves. `origin` is in the form's file.
  void record(FormId form, std::span<const ValueId> operands, Origin origin,
              std::vector<ValueId>& results);
  // The value that others are the pieces of: floats, on record in a form of the
  // op `pieces` whose line, mesh and text for people are given.
  ValueId join(Form form, TypeId type, std::span<const ValueId> pieces,
               Origin origin);

  // Names. A value has at most one holder.
  void hold(ValueId value, SymbolId name, bool internal);
  // The holder's name is bound to something else or freed. `why` goes to the
  // histories that end by it.
  void let_go(ValueId value, const Lost& why);
  // The user's name means it on fewer ranks from here, under another symbol.
  void rename(ValueId value, SymbolId name) { cells_[value].name = name; }
  // A name of ours holds the data beside the user's name, until it is idle.
  void hold_alias(ValueId value, SymbolId name);
  void drop_alias(ValueId value);
  // A value that no name is going to hold.
  void let_be(ValueId value);
  // A name of ours becomes a user's.
  void make_users(ValueId value);
  // The user's name that the value had, and where that was bound again.
  void note_gone(ValueId value, const Lost& gone);

  // Pending lines that read the data.
  void add_read(ValueId value) { ++facts(value).pending; }
  void drop_read(ValueId value);

  // Forgets nodes: `grad` consumed them (all of a history, newest first), or
  // the history is too long.
  void consume(std::span<const NodeId> nodes, const Lost& why);
  void forget(NodeId node, const Lost& why);
  NodeId oldest();  // kNil: there is none

  // Values that a name of ours holds and whose data nobody needs any more,
  // since the last call; one may stand there twice.
  std::vector<ValueId> take_idle();

 private:
  void remove(NodeId node, const Lost* why);
  void settle();
  void lose_inputs(ValueId value, const Lost& why);
  void consider(ValueId value);
  bool has_wanted_result(NodeId id) const;

  ValueId walked_ = kNil;  // whose uses are being gone through
  std::vector<ValueId> idle_;
  // The nodes by age as they were once, for oldest().
  std::vector<NodeId> aged_;
  size_t next_aged_ = 0;
  uint64_t aged_at_ = 0;  // the next serial number then
  // Work that a change left to do; settle() does it.
  struct Unreached {
    ValueId value;
    Lost why;
  };
  std::vector<Unreached> unreached_;
  std::vector<ValueId> maybe_dead_;
};

}  // namespace gt::grad
