#include "emit/line_writer.h"

namespace gt::emit {

void LineWriter::write(const LineState& state, std::string& out) const {
  append_instruction(out, state.line);
  write_tail(state, out);
}

void LineWriter::write_tail(const LineState& state, std::string& out) const {
  for (const Note& note : state.line.notes) append_note(out, note);
  append_at(state.origin, state.line.note("at") != nullptr, out);
  if (!state.line.remark.empty()) {
    out += ' ';
    out += state.line.remark;
  }
  out += '\n';
}

void LineWriter::append_at(Origin origin, bool has_at, std::string& out) const {
  if (!has_at && files_.has_at(origin.file()) && !ledger_.emitted) {
    files_.append_at(out, origin);
  }
}

std::string LineWriter::at_note(const LineState& state) const {
  std::string note;
  append_at(state.origin, state.line.note("at") != nullptr, note);
  return note;
}

}  // namespace gt::emit
