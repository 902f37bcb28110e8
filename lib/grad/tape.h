// The history of live values: what reverse mode walks back.
//
// A value is what one instruction defined; a node is an instruction that can be
// differentiated. The tape keeps exactly what a later `grad` could use:
//   - a node is kept while something live follows from it (a held value, or a
//     kept node that reads its results), and
//   - while it can reach a target: a value that a user's name holds.
// Both are reference counts, so upkeep is constant time a line and what loops
// leave behind goes by itself.
//
// A value is held by the name that is bound to it: a user's, or one that
// gt-emit invented (internal). What only an internal name holds is no target.
// When no gradient needs the data of such a value any more, it turns up in
// take_idle(), and gt-emit frees the name. How values and nodes are kept:
// cells.h.
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

  // Records an instruction; `results` become the values of its results. They
  // are leaves if no target can be reached from any operand, and else a new
  // node's. `origin` must be in the form's file.
  void record(FormId form, std::span<const ValueId> operands, Origin origin,
              std::vector<ValueId>& results);
  // Puts values of floats, each on ranks of its own, together into one, which
  // is recorded as a node of pieces_op(). Of `form` the line, the mesh and the
  // text for people are given.
  ValueId join(Form form, TypeId type, std::span<const ValueId> pieces,
               Origin origin);

  // A name is bound to the value, which none holds yet.
  void hold(ValueId value, SymbolId name, bool internal);
  // The name that holds it is bound to something else, or freed. `why` becomes
  // the lost() of values whose history ends by that.
  void let_go(ValueId value, const Lost& why);
  // The user's name holds it on fewer ranks from here on, which is another
  // symbol.
  void rename(ValueId value, SymbolId name) { cells_[value].name = name; }
  // A name of ours holds the data beside the user's name, until it is idle.
  void hold_alias(ValueId value, SymbolId name);
  void drop_alias(ValueId value);  // that name was freed
  // No user's name is going to hold the new value: it is not kept for one any
  // more, and stays only while it is needed.
  void end_fresh(ValueId value);
  // The name of ours that holds it counts as a user's from here on.
  void make_users(ValueId value);
  // Sets what gone() tells: the user's name that held the value, and where that
  // was bound again or freed.
  void note_gone(ValueId value, const Lost& gone);

  // A line that is yet to be written reads the data; it was written.
  void add_read(ValueId value) { ++facts(value).pending; }
  void drop_read(ValueId value);

  // Ends nodes: those that a grad consumed (all behind its loss, newest first),
  // or one since the history is too long.
  void consume(std::span<const NodeId> nodes, const Lost& why);
  void forget(NodeId node, const Lost& why);
  NodeId oldest();  // kNil: there is none

  // Values that a name of ours holds and whose data came to be needed by nobody
  // since the last call. One may stand there twice, or be needed again.
  std::vector<ValueId> take_idle();

 private:
  void remove(NodeId node, const Lost* why);
  void settle();
  void lose_inputs(ValueId value, const Lost& why);
  void consider(ValueId value);
  bool has_wanted_result(NodeId id) const;

  ValueId walked_ = kNil;  // whose uses are being gone through
  std::vector<ValueId> idle_;
  // For oldest(): the nodes by age as they were when aged_ was made.
  std::vector<NodeId> aged_;
  size_t next_aged_ = 0;
  uint64_t aged_at_ = 0;  // the next serial number then
  // What a change left to do, by settle(): values from which no target can be
  // reached any more, and values that may have to go.
  struct Unreached {
    ValueId value;
    Lost why;
  };
  std::vector<Unreached> unreached_;
  std::vector<ValueId> maybe_dead_;
};

}  // namespace gt::grad
