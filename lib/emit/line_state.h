// A line while gt-emit works on it: its fields, what its operands hold, what it
// defines, and what is written before it. Session has one and reuses it for
// line after line, so that its vectors keep their memory.
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

  // For a line with ranks: where it runs, in which mesh (null: none), and for
  // each operand which symbols are read there. `reads` is empty for other
  // lines.
  LineRanks where;
  const Mesh* mesh = nullptr;
  std::vector<Ledger::PieceReads> reads;

  // For each operand: its value, kNil if it is no tensor; the number of the
  // value's type (0 if it is no tensor); and, for a line without ranks, that
  // type, else null.
  std::vector<ValueId> values;
  std::vector<TypeId> type_ids;
  std::vector<const Type*> types;
  // Values that were put together from several pieces for this line
  // (Tape::join).
  std::vector<ValueId> joined;

  // The results: their types and values.
  std::vector<TypeId> result_types;
  std::vector<ValueId> results;
  // If usage is counted (usage.h): the line's cost, and the bytes of its
  // results.
  uint64_t cost = 0, bytes = 0;
  // Its form on the tape (grad/forms.h); none for a line without a history.
  grad::HeldForm form;

  // The texts of operands and results that the user left out and gt-emit adds;
  // `line` has views into them. Added results stand after the user's.
  std::deque<std::string> added_texts;
  size_t added_results = 0;
  bool adds_seed = false;
  // has_pattern: the line has a pattern (stream/pattern.h). is_plain: what the
  // line means follows from the pattern and its operands' types alone, and
  // nothing was added to it, so that lines like it can be answered from a memo
  // (memos.h).
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
    cost = bytes = 0;
    form = {};
    added_texts.clear();
    added_results = 0;
    adds_seed = has_pattern = is_plain = false;
    before.clear();
  }
};

}  // namespace gt::emit
