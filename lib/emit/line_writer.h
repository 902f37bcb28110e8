// Writes lines: the instruction, its notes, its place, its remark.
#pragma once

#include <string>

#include "emit/line_state.h"
#include "emit/messages.h"

namespace gt::emit {

class LineWriter {
 public:
  LineWriter(const InputFiles& files, const Ledger& ledger)
      : files_(files), ledger_(ledger) {}

  // Writes the whole line, with LF.
  void write(const LineState& state, std::string& out) const;
  // Writes what follows the instruction: notes, place, remark, LF.
  void write_tail(const LineState& state, std::string& out) const;
  // Appends " #at=model.gt:12" for a line that has no such note, unless its
  // file gets none or the stream was emitted before.
  void append_at(Origin origin, bool has_at, std::string& out) const;
  // Returns what append_at() appends for the line.
  std::string at_note(const LineState& state) const;

 private:
  const InputFiles& files_;
  const Ledger& ledger_;
};

}  // namespace gt::emit
