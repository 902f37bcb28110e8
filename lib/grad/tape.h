// The history of live values, which reverse mode walks back.
//
// A value is what one instruction defined; a node is an instruction that can be
// differentiated. The tape keeps exactly what a later `grad` could use:
//   - a node is kept while something live follows from it (a held value, or a
//     kept node that reads its results), and
//   - while it can reach a target: a value that a user's name holds.
// Both are reference counts, so the upkeep takes constant time a line, and what
// loops leave behind is dropped without a search.
//
// A value is held by the name that is bound to it: a user's, or one that
// gt-emit invented (internal). A value that only an internal name holds is no
// target. When no gradient needs the data of such a value any more, take_idle()
// returns it, and gt-emit frees the name. cells.h describes how values and
// nodes are stored.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grad/cells.h"

namespace gt::grad {

// Returns the pseudo-op of a value whose pieces several values hold: "r@0-3 =
// pieces x@0-1 x@2-3" on the tape, nothing in the stream.
const Op& pieces_op();

class Tape : public HistoryCells {
 public:
  // Adds a value without history.
  using HistoryCells::add_leaf;

  // Records an instruction and sets `results` to the values of its results.
  // They are leaves if no target can be reached from any operand, and otherwise
  // belong to a new node. `origin` must be in the form's file.
  void record(FormId form, std::span<const ValueId> operands, Origin origin,
              std::vector<ValueId>& results);
  // Joins values of floats, each on ranks of its own, into one, which is
  // recorded as a node of pieces_op(). The caller sets the line, the mesh and
  // the text for people of `form`.
  ValueId join(Form form, TypeId type, std::span<const ValueId> pieces,
               Origin origin);

  // Binds a name to the value, which no name may hold yet.
  void hold(ValueId value, SymbolId name, bool internal);
  // Notes that the name that holds the value is bound to something else, or
  // freed. `why` becomes the lost() of values whose history ends because of it.
  void let_go(ValueId value, const Lost& why);
  // Notes that the user's name holds the value on fewer ranks from now on,
  // under the symbol `name`.
  void rename(ValueId value, SymbolId name) { cells_[value].name = name; }
  // Notes that a name of gt's own holds the data beside the user's name, until
  // the value is idle.
  void hold_alias(ValueId value, SymbolId name);
  void drop_alias(ValueId value);  // that name was freed
  // Says that no user's name will hold the new value. It is not kept for one
  // any more, and stays only while it is needed.
  void end_fresh(ValueId value);
  // Makes the internal name that holds the value count as a user's from now on.
  void make_users(ValueId value);
  // Sets what gone() returns: the user's name that held the value, and where
  // that was bound again or freed.
  // It becomes one of former_names() when the value loses another name.
  void note_gone(ValueId value, const Lost& gone);

  // add_read() notes that a line that is still to be written reads the data;
  // drop_read() notes that such a line was written.
  void add_read(ValueId value) { ++facts(value).pending; }
  void drop_read(ValueId value);

  // End nodes: consume() those that a grad consumed (all behind its loss,
  // newest first), forget() one because the history is too long.
  void consume(std::span<const NodeId> nodes, const Lost& why);
  void forget(NodeId node, const Lost& why);
  NodeId oldest();  // kNil: there is none

  // Returns the values that a name of gt's own holds and whose data became
  // unneeded since the last call. A value may be listed twice, or be needed
  // again.
  std::vector<ValueId> take_idle();

 private:
  void remove(NodeId node, const Lost* why);
  void settle();
  void lose_inputs(ValueId value, const Lost& why);
  void consider(ValueId value);
  bool has_wanted_result(NodeId id) const;
  NameSets::Ref names_behind(std::span<const ValueId> operands);
  void add_former(ValueId value, NameSet names);

  NameSets name_sets_;
  NameSet names_;          // scratch for names_behind(), kept for its memory
  ValueId walked_ = kNil;  // the value whose uses are being visited
  std::vector<ValueId> idle_;
  // For oldest(): the nodes by age as they were when aged_ was made.
  std::vector<NodeId> aged_;
  size_t next_aged_ = 0;
  uint64_t aged_at_ = 0;  // the next serial number then
  // What a change left to do, for settle(): values from which no target can be
  // reached any more, and values that may have to go.
  struct Unreached {
    ValueId value;
    Lost why;
  };
  std::vector<Unreached> unreached_;
  std::vector<ValueId> maybe_dead_;
};

}  // namespace gt::grad
