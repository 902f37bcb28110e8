// Lines whose pattern was seen before: of them only names and types need a
// look.
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

  // Defines the results of a line whose pattern is known, where its operands
  // are of the types that it is known for; what must stand before the line goes
  // to `before`. False: it is not known so, and nothing was done.
  bool define(const Pattern& pattern, Origin origin, std::string& before);
  // A plain line of that pattern was checked and recorded. A pattern that comes
  // once only is not worth the room.
  void note(const Pattern& pattern, const LineState& state);

 private:
  // What a line of one pattern is, as long as its operands have these types.
  struct Memo {
    std::string text;  // the pattern's key
    bool emitted = false;
    uint32_t file = 0;
    // Under which types have their numbers, and names of a space their mesh.
    uint64_t type_rounds = 0;
    uint64_t mesh_version = 0;
    std::string space;
    std::vector<bool> is_name;          // by operand
    std::vector<TypeId> operand_types;  // of the names among them
    std::vector<TypeId> result_types;
    std::vector<uint8_t> differentiable;  // by result
    std::vector<Ranks> ranks;             // by result; none: no ranks
    grad::HeldForm form;                  // none: it has no history
  };

  // Whether it is of such a line; `operands` become what its operands hold.
  bool holds(const Memo& memo, const Pattern& pattern, Origin origin,
             std::vector<ValueId>& operands) const;

  Ledger& ledger_;
  LineCache<Memo> memos_{size_t{1} << 10};
  // Room for the values of one line.
  std::vector<ValueId> operands_, results_;
};

}  // namespace gt::emit
