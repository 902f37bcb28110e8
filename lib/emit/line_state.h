// A line while gt-emit works on it: what it says, what its operands hold, what
// it defines, and what is written for it. One is reused from line to line, so
// that its vectors keep their room.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "emit/ledger.h"
#include "grad/forms.h"
#include "ops/call.h"
#include "spmd/placed.h"
#include "stream/line.h"

namespace gt::emit {

struct LineState {
  std::string_view text;  // as it came, for messages
  Origin origin;
  Line line;
  Call call;

  // Of a line with ranks: where it runs, in which mesh (null: none), and what
  // each operand's name holds there.
  LineRanks where;
  const Mesh* mesh = nullptr;
  std::vector<Ledger::PieceReads> reads;

  // By operand: the value, kNil where there is no tensor, and its number among
  // types; of a line without ranks its type, else null.
  std::vector<ValueId> values;
  std::vector<TypeId> type_ids;
  std::vector<const Type*> types;
  // Values that were made of several pieces for this line.
  std::vector<ValueId> joined;

  // By result.
  std::vector<TypeId> result_types;
  std::vector<ValueId> results;
  // Its form on the tape; none of a line without a history.
  grad::HeldForm form;

  // Operands and results that the user left out stand in `line` as views into
  // these texts: results of ours come last.
  std::deque<std::string> added_texts;
  size_t added_results = 0;
  bool adds_seed = false;
  // A pattern was found in it (stream/pattern.h); and what the line means
  // follows from that and from the types of its operands.
  bool has_pattern = false;
  bool is_plain = false;

  std::string before;  // lines that must stand before it

  void begin(std::string_view line_text, Origin line_origin) {
    text = line_text;
    origin = line_origin;
    mesh = nullptr;
    where = {};
    reads.clear();
    values.clear();
    type_ids.clear();
    types.clear();
    joined.clear();
    result_types.clear();
    results.clear();
    form = {};
    added_texts.clear();
    added_results = 0;
    adds_seed = has_pattern = is_plain = false;
    before.clear();
  }
};

}  // namespace gt::emit
