// Remembers what gt-emit found out about lines of a pattern (stream/pattern.h:
// a line without its names), to answer later lines of that pattern without
// binding and checking them again.
//
// A line is answered from a memo if all of this holds:
//   - two plain lines of the pattern came before (LineState::is_plain: nothing
//     was added to the line, and it only computes), the second of which was
//     recorded here;
//   - each operand holds a value, not a failure, of the type that the operand
//     had then;
//   - no two results have one name;
//   - if usage is counted (usage.h), the results fit into the quota though
//     nothing is taken off for what their names held before;
//   - the input file is the same, and whether the stream was emitted before;
//   - and if names have ranks: all names are in the name space of the recorded
//     line, no mesh was declared or closed since, and the types still have the
//     numbers that they had.
// A line that a memo does not answer is checked in full, so a line that exceeds
// the quota is refused there, with its message. A pattern has a memo for each
// of the types that it comes with, up to a few.
#pragma once

#include <string>
#include <vector>

#include "emit/ledger.h"
#include "emit/line_state.h"
#include "program/line_cache.h"
#include "stream/pattern.h"

namespace gt::emit {

class Memos {
 public:
  explicit Memos(Ledger& ledger) : ledger_(ledger) {}

  // Defines the results of a line if a memo answers it: puts them on the tape,
  // binds their names, and counts the line's cost if usage is counted. Aliases
  // that must stand before the line go to `before`; the caller must write the
  // line itself. Returns false, and does nothing, if no memo holds.
  bool define(const Pattern& pattern, Origin origin, std::string& before);
  // Makes a memo of a plain line that was checked and put on the tape. The
  // first line of a pattern gets none, since a pattern that comes once is not
  // worth the room.
  void note(const Pattern& pattern, const LineState& state);

 private:
  // The results that a line of one pattern defines, and when it may be used.
  struct Memo {
    std::string text;  // the pattern's key
    bool emitted = false;
    uint32_t file = 0;
    // For a placed line: ValueTypes::rounds(), Meshes::version() and the name
    // space under which the memo was made.
    uint64_t type_rounds = 0;
    uint64_t mesh_version = 0;
    std::string space;
    std::vector<bool> is_name;          // by operand
    std::vector<TypeId> operand_types;  // of the names among them
    std::vector<TypeId> result_types;
    std::vector<uint8_t> differentiable;  // by result
    std::vector<Ranks> ranks;             // by result; none: no ranks
    uint64_t cost = 0;                    // of the line, see usage.h
    uint64_t bytes = 0;                   // of its results
    grad::HeldForm form;                  // none: the line has no history
  };

  // True if the memo holds for the line; sets `operands` to the values that its
  // operands hold.
  bool holds(const Memo& memo, const Pattern& pattern, Origin origin,
             std::vector<ValueId>& operands) const;

  Ledger& ledger_;
  LineCache<Memo> memos_{size_t{1} << 10};
  // Scratch for the values of one line, kept for its memory.
  std::vector<ValueId> operands_, results_;
};

}  // namespace gt::emit
