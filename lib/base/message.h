// How every program words an error: program, place, what is wrong, then the
// line and a caret.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gt {

// Where a line stands. `file` is as the user named it, "<stdin>" for standard
// input; `line` counts from 1, 0 when there is none.
struct Place {
  std::string_view file;
  size_t line = 0;
};

// "model.gt:7", or "model.gt" when there is no line.
std::string to_string(const Place& place);

// "gt-emit: model.gt:7: MESSAGE\n  LINE\n    ^\n", all of it printable
// (printable.h). The line is cut to 72 bytes around the column, which counts
// bytes, too; the caret is left out when the column is 0.
std::string format_error(std::string_view program, const Place& place,
                         const Error& error, std::string_view line);

// Text of the user's as a message may quote it: printable (printable.h), and
// "..." for what goes beyond 40 bytes.
std::string excerpt(std::string_view text);

// The candidate nearest to `word` by edit distance, or "" when none is near
// enough to be what was meant.
std::string_view nearest(std::string_view word,
                         const std::vector<std::string_view>& candidates);

// "; did you mean 'matmul'?" or "".
std::string did_you_mean(std::string_view word,
                         const std::vector<std::string_view>& candidates);

}  // namespace gt
