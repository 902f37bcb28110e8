// The form of error messages, which is the same in all programs: program,
// place, what is wrong, then the source line with a caret under the culprit;
// and suggestions for misspelt words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gt {

// For standard input, whatever stands there; and for a stream that many users
// share, whose lines are at other places in what each of them wrote.
inline constexpr std::string_view kStdinName = "<stdin>";
inline constexpr std::string_view kSharedName = "<shared>";

// Where a line stands. `file` is as the user named it, or one of the two above;
// `line` counts from 1, 0 when there is none.
struct Place {
  std::string_view file;
  size_t line = 0;
};

// "model.gt:7", or "model.gt" when there is no line.
std::string to_string(const Place& place);

// "gt-emit: model.gt:7: MESSAGE\n  LINE\n    ^\n", all of it printable
// (printable.h). Of a longer line 72 bytes around the error's column are shown.
// The column counts bytes from 1; without one (0) the caret is left out, and
// without a line both.
std::string format_error(std::string_view program, const Place& place,
                         const Error& error, std::string_view line);

// Text from the input as a message may quote it: printable (printable.h), at
// most 40 bytes, and "..." for the rest.
std::string excerpt(std::string_view text);

// The candidate with the least edit distance from `word`, or "" when none is
// within about a third of the word's length. One that differs in case alone
// comes first.
std::string_view nearest(std::string_view word,
                         const std::vector<std::string_view>& candidates);

// "; did you mean 'matmul'?" with the nearest() candidate, or "".
std::string did_you_mean(std::string_view word,
                         const std::vector<std::string_view>& candidates);

}  // namespace gt
