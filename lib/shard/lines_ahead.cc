#include "shard/lines_ahead.h"

#include "ops/table.h"
#include "spmd/labels.h"
#include "spmd/placed.h"

namespace gt::shard {
namespace {

// Returns true if nobody who sent this line waits for an answer.
bool may_look_behind(const Line& line) {
  const Statement statement = statement_of(line.op);
  return line.kind == Line::Kind::kInstruction && !is_placed(line) &&
         !is_output(statement) && !is_declaration(statement);
}

}  // namespace

LineContext context_of(const Line& line) {
  const std::string_view name = space_name(line);
  LineContext at{.space = std::string(name.substr(0, name.rfind('/') + 1))};
  for (const Note& note : shared_notes(line)) append_note(at.notes, note);
  return at;
}

const LinesAhead::Behind* LinesAhead::line(size_t index) {
  while (index >= lines_.size()) {
    if (is_over_ || !read_next()) {
      is_over_ = true;
      return nullptr;
    }
  }
  return &lines_[index];
}

// Reads the next instruction. Returns false if the look ends here.
bool LinesAhead::read_next() {
  while (seen_ < kMost) {
    const std::string_view text = read_(seen_++);
    if (text.starts_with("# ")) continue;  // no mark
    Behind& behind = lines_.emplace_back();
    behind.text = text;
    if (text.empty() || !parse_line(behind.text, behind.line).ok() ||
        !may_look_behind(behind.line)) {
      lines_.pop_back();
      return false;
    }
    behind.at = context_of(behind.line);
    behind.claims = take_claims(behind.line);
    return true;
  }
  return false;
}

}  // namespace gt::shard
