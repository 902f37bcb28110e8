#include "emit/line_writer.h"

namespace gt {

void LineWriter::write(const LineState& state, std::string& out) const {
  append_instruction(out, state.line);
  write_tail(state, out);
}

void LineWriter::write_tail(const LineState& state, std::string& out) const {
  for (const Note& note : state.line.notes) append_note(out, note);
  out += at_note(state);
  if (!state.line.remark.empty()) {
    out += ' ';
    out += state.line.remark;
  }
  out += '\n';
}

std::string LineWriter::at_note(const LineState& state) const {
  std::string note;
  const uint32_t file = state.origin.file();
  if (files_.has_at(file) && !ledger_.emitted &&
      state.line.note("at") == nullptr) {
    files_.append_at(note, state.origin);
  }
  return note;
}

}  // namespace gt
