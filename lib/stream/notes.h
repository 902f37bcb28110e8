// A line split at its notes, without a parse.
#pragma once

#include <string_view>

namespace gt {

struct NotedText {
  std::string_view text;   // up to the notes, without blanks at its end
  std::string_view notes;  // from the first '#' on, a remark included
  bool is_clean = true;    // false: the notes do not begin after a blank
};

NotedText split_notes(std::string_view line);

}  // namespace gt
