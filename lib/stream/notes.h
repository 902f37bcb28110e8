// Finds the notes of a line without parsing the line, and reads the values of
// the notes #at=, #type= and #spec=. Tables of known lines (LineCache,
// program/line_cache.h) use it: they look a line up by its text without notes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gt {

struct NotedText {
  std::string_view text;   // the line up to its notes, without trailing blanks
  std::string_view notes;  // from the first '#' on, with the remark
  // True if a blank stands before the notes. If not, the line has an error,
  // which parse_line() would report.
  bool is_clean = true;
};

NotedText split_notes(std::string_view line);
// Returns the value, as written, of the line's first note with that key; "" if
// it has none. The line need not be one that parse_line() takes.
std::string_view find_note(std::string_view line, std::string_view key);

// Returns the index at which the decimal number at the end of the notes begins,
// or their size if they do not end with one. When a line comes again, its notes
// often differ from the last time in this number alone: the line in
// #at=FILE:LINE.
size_t number_at_end(std::string_view notes);
// True if `notes` equal `known` except for the number at their end, which
// begins at the index `number` in both.
bool are_moved(std::string_view notes, std::string_view known, size_t number);

// Returns the part of a note's value, of #type= or #spec=, that is about one
// result of the line. Parts are separated by ';' and in the order of the
// results; a value without ';' is about all results. "" if the value has too
// few parts.
std::string_view part_of_result(std::string_view value, size_t result);
// True if the value has a part for each result: if there is a ';' in it.
bool tells_results_apart(std::string_view value);

// The place that a note #at=model.gt:7 states: where gt-emit read the line.
struct NotedPlace {
  std::string file;
  uint64_t line = 0;  // 0: the note has none
};
// Parses a note's value as written, which may be quoted.
NotedPlace parse_place(std::string_view note);
// Returns where the line comes from: the place that its note #at= states, or
// else line `number` of `file`, where it was read.
NotedPlace place_of(std::string_view line, std::string_view file,
                    uint64_t number);

}  // namespace gt
