// One line of the stream, parsed. All text is a view into the parsed line, and
// a Line is reused from line to line, so parsing does not allocate once its
// vectors have grown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stream/number.h"
#include "stream/type.h"

namespace gt {

struct Operand {
  enum class Kind : uint8_t {
    kName,
    kNumber,
    kRange,
    kType,
    kDtype,
    kString,
    kGlob
  };
  Kind kind = Kind::kName;
  uint32_t column = 0;     // 1-based
  std::string_view text;   // as written; of a name without its ranks
  std::string_view ranks;  // of a name: what follows '@'
};

struct Name {
  std::string_view text;   // without its ranks
  std::string_view ranks;  // what follows '@', or ""
  uint32_t column = 0;
};

struct Key {
  std::string_view key;
  std::string_view value;  // as written, quotes included
  uint32_t column = 0;
};

struct Note {
  std::string_view key;
  std::string_view value;  // as written; "" when there is none
};

// An operand takes 40 bytes until its line is done, so that their number bounds
// memory.
inline constexpr size_t kMaxOperands = size_t{1} << 20;

struct Line {
  enum class Kind : uint8_t { kBlank, kComment, kInstruction };
  Kind kind = Kind::kBlank;
  std::vector<Name> results;
  std::string_view op;
  uint32_t op_column = 0;
  std::vector<Operand> operands;
  std::vector<Key> keys;
  std::vector<Note> notes;
  std::string_view remark;  // after "# ", or the whole of a comment line

  // The value of a note or key, or null.
  const std::string_view* note(std::string_view key) const;
  const std::string_view* key(std::string_view key) const;
};

// Parses one line (no LF) into `line`, whatever bytes it holds. `line` keeps
// views into `text`. The error's column points at the culprit.
Status parse_line(std::string_view text, Line& line);

// Appends the canonical text: single blanks, no LF. Parsing it gives the same
// line again.
void append_line(std::string& out, const Line& line);

// The parts of append_line, for writers that put a line together.
// Up to the keys; returns the index in `out` at which the op stands.
size_t append_instruction(std::string& out, const Line& line);
void append_notes(std::string& out, const Line& line);  // notes and remark
void append_note(std::string& out, const Note& note);   // " #mb=2"

// What kind of operand a word is, as it would stand in a line.
Operand::Kind kind_of_word(std::string_view word);

// Words of the language.
bool is_name(std::string_view text);  // without ranks
// An identifier that stands for something else: inf, nan, true, false, dtypes.
bool is_reserved(std::string_view identifier);
bool is_glob(std::string_view text);  // a name with '*' in it
bool glob_matches(std::string_view glob, std::string_view name);
// Double quotes and backslash escapes, "#" as \x23 so that notes can be
// stripped by sed; and back. Unquoting a bare word returns it.
std::string quote(std::string_view text);
// Bytes of the escape that `text` begins with, 0 if it is none.
size_t escape_length(std::string_view text);
std::string unquote(std::string_view text);

// A range "1:10:2", each part optional.
struct Range {
  std::optional<int64_t> start, stop, step;
};
Result<Range> parse_range(std::string_view text);

}  // namespace gt
