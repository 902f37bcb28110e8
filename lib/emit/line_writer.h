// How lines are written: the instruction, its notes, its place, its remark.
#pragma once

#include <string>

#include "emit/line_state.h"
#include "emit/messages.h"

namespace gt {

class LineWriter {
 public:
  LineWriter(const InputFiles& files, const Ledger& ledger)
      : files_(files), ledger_(ledger) {}

  void write(const LineState& state, std::string& out) const;
  // What follows the instruction, to the end of the line.
  void write_tail(const LineState& state, std::string& out) const;
  // " #at=model.gt:12", or "" where the line has one already, its file gets
  // none, or the stream was emitted before.
  std::string at_note(const LineState& state) const;

 private:
  const InputFiles& files_;
  const Ledger& ledger_;
};

}  // namespace gt
