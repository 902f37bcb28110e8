// The form of error messages, which is the same in all programs: program,
// place, what is wrong, then the source line with a caret under the culprit;
// and suggestions for misspelt words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gt {

// The names of two inputs that have no file name: standard input, and a stream
// that many users share, whose lines stand elsewhere in what each user wrote.
inline constexpr std::string_view kStdinName = "<stdin>";
inline constexpr std::string_view kSharedName = "<shared>";

// The place of a line. `file` is as the user named it, or one of the two names
// above; `line` counts from 1, and is 0 when there is none.
struct Place {
  std::string_view file;
  size_t line = 0;
};

// Returns "model.gt:7", or "model.gt" when there is no line.
std::string to_string(const Place& place);

// Returns "gt-emit: model.gt:7: MESSAGE\n  LINE\n    ^\n", all of it printable
// (printable.h). Of a line longer than 72 bytes only the part around the
// error's column is shown. The column counts bytes from 1. The caret is left
// out when the column is 0, and LINE and the caret when `line` is empty.
std::string format_error(std::string_view program, const Place& place,
                         const Error& error, std::string_view line);

// Returns text from the input as a message may quote it: printable
// (printable.h), at most 40 bytes of it, and "..." for the rest.
std::string excerpt(std::string_view text);

// Returns the candidate with the least edit distance from `word`, or "" when
// none is within about a third of the word's length. A candidate that differs
// in case alone comes first.
std::string_view nearest(std::string_view word,
                         const std::vector<std::string_view>& candidates);

// Returns "; did you mean 'matmul'?" with the nearest() candidate, or "".
std::string did_you_mean(std::string_view word,
                         const std::vector<std::string_view>& candidates);

}  // namespace gt
