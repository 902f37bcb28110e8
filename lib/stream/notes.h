// A line split at its notes, without a parse.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gt {

struct NotedText {
  std::string_view text;   // up to the notes, without blanks at its end
  std::string_view notes;  // from the first '#' on, a remark included
  bool is_clean = true;    // false: the notes do not begin after a blank
};

NotedText split_notes(std::string_view line);

// Where the number begins that ends the notes; their size without one. A line
// that comes again often has the notes that it had, but for that number, as
// #at=FILE:LINE moves.
size_t number_at_end(std::string_view notes);
// Whether the notes are those known but for the number that begins at `number`
// in both.
bool are_moved(std::string_view notes, std::string_view known, size_t number);

// What #type= and #spec= say of one of a line's results: parts between ';', in
// the results' order. A value without ';' speaks of all of them.
std::string_view part_of_result(std::string_view value, size_t result);
bool tells_results_apart(std::string_view value);

// What #at= says: "model.gt:7", where gt-emit read the line. Line 0: none.
struct NotedPlace {
  std::string file;
  uint64_t line = 0;
};
NotedPlace parse_place(std::string_view note);  // the value, as written

}  // namespace gt
