// One line of the stream, taken apart into its fields, and put together again.
//
// Words are told apart by their spelling alone, before the op is looked up:
// kind_of_word() decides which kind of operand a word is. What an op makes of
// its operands is decided later, by bind() (ops/call.h).
//
// Every string_view in a Line points into the text that was parsed, which must
// outlive it. A Line is reused from line to line, so that parsing does not
// allocate once its vectors have grown.
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
  uint32_t column = 0;     // in bytes, from 1
  std::string_view text;   // as written; a name's without "@ranks"
  std::string_view ranks;  // what follows '@' in a name, else ""
};

struct Name {
  std::string_view text;   // without "@ranks"
  std::string_view ranks;  // what follows '@', or ""
  uint32_t column = 0;
};

// A constant of the op, "axis=1".
struct Key {
  std::string_view key;
  std::string_view value;  // as written, quotes included
  uint32_t column = 0;
};

// A hint that changes no value, "#mb=2".
struct Note {
  std::string_view key;
  std::string_view value;  // as written; "" when there is none
};

// The most operands of a line; parse_line() refuses more. Each takes 40 bytes
// while its line is worked on, so the limit bounds memory.
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

  // Return the value of a note or key, or null.
  const std::string_view* note(std::string_view key) const;
  const std::string_view* key(std::string_view key) const;
};

// Parses one line, without its LF, into `line`. The text may hold any bytes,
// and must outlive `line`. Checks what the text alone decides: the form of
// names, rank sets, strings, keys and notes; that no key stands twice; that
// fields stand in their order; that a word of no other kind is a name. Does not
// check that the op exists. The error's column points at the culprit; `line`
// then holds the fields before it.
Status parse_line(std::string_view text, Line& line);

// Appends the line's canonical text: single blanks, no LF. Parsing it gives the
// same line again.
void append_line(std::string& out, const Line& line);

// append_line() in parts, for writers that add notes of their own. Appends
// results, op, operands and keys; returns the index in `out` of the op's first
// byte.
size_t append_instruction(std::string& out, const Line& line);
void append_notes(std::string& out, const Line& line);  // notes and remark
void append_note(std::string& out, const Note& note);   // " #mb=2"

// Returns which kind of operand a word is. The first that fits counts: a string
// begins with a quote; then number, dtype, type (an identifier with brackets,
// whose dtype and sizes are checked by bind()), range, and glob (a '*' among
// the bytes of names). All other words count as names, whose form parse_line()
// checks.
Operand::Kind kind_of_word(std::string_view word);

// True if the text is a valid name, without ranks.
bool is_name(std::string_view text);
// True if the identifier is a word of the language, which no name can be: inf,
// nan, true, false, the dtypes.
bool is_reserved(std::string_view identifier);
// True if the text is a pattern of names, "act/*": '*' stands for any bytes.
bool is_glob(std::string_view text);
bool glob_matches(std::string_view glob, std::string_view name);
// Returns the text as a string of the language: in double quotes, with
// backslash escapes. "#" is written \x23, so that sed can strip notes.
std::string quote(std::string_view text);
// True if a text can only stand in a note in quotes: it has a blank, a quote,
// '#', a backslash, or a control character.
bool needs_quotes(std::string_view value);
// Returns the size in bytes of the escape that `text` begins with, or 0 if it
// begins with none.
size_t escape_length(std::string_view text);
// Returns the text that a string of the language stands for; a word without
// quotes is returned as it is.
std::string unquote(std::string_view text);

// A range "1:10:2", each part optional.
struct Range {
  std::optional<int64_t> start, stop, step;
};
// Errors: not a range.
Result<Range> parse_range(std::string_view text);

}  // namespace gt
