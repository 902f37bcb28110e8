// Writes lines as text.
#include "stream/line.h"

namespace gt {
namespace {

void append_ranks(std::string& out, std::string_view ranks) {
  if (ranks.empty()) return;
  out += '@';
  out += ranks;
}

}  // namespace

size_t append_instruction(std::string& out, const Line& line) {
  for (const Name& name : line.results) {
    out += name.text;
    append_ranks(out, name.ranks);
    out += ' ';
  }
  if (!line.results.empty()) out += "= ";
  const size_t op = out.size();
  out += line.op;
  for (const Operand& operand : line.operands) {
    out += ' ';
    out += operand.text;
    append_ranks(out, operand.ranks);
  }
  for (const Key& key : line.keys) {
    out += ' ';
    out += key.key;
    out += '=';
    out += key.value;
  }
  return op;
}

void append_note(std::string& out, const Note& note) {
  out += " #";
  out += note.key;
  if (note.value.empty()) return;
  out += '=';
  out += note.value;
}

void append_notes(std::string& out, const Line& line) {
  for (const Note& note : line.notes) append_note(out, note);
  if (line.remark.empty()) return;
  out += ' ';
  out += line.remark;
}

void append_line(std::string& out, const Line& line) {
  if (line.kind == Line::Kind::kComment) {
    out += line.remark;
    return;
  }
  if (line.kind == Line::Kind::kBlank) return;
  append_instruction(out, line);
  append_notes(out, line);
}

}  // namespace gt
