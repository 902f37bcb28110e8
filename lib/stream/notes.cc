#include "stream/notes.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "stream/line.h"

namespace gt {
// No string holds a '#', so the first one begins the notes.
NotedText split_notes(std::string_view line) {
  NotedText out{line, {}, true};
  const void* mark = std::memchr(line.data(), '#', line.size());
  if (mark != nullptr) {
    const auto at =
        static_cast<size_t>(static_cast<const char*>(mark) - line.data());
    out.is_clean = at == 0 || is_blank(line[at - 1]);
    out.text = line.substr(0, at);
    out.notes = line.substr(at);
  }
  while (!out.text.empty() && is_blank(out.text.back())) {
    out.text.remove_suffix(1);
  }
  return out;
}

size_t number_at_end(std::string_view notes) {
  return notes.find_last_not_of("0123456789") + 1;
}

bool are_moved(std::string_view notes, std::string_view known, size_t number) {
  return number < known.size() && number < notes.size() &&
         notes.substr(0, number) == known.substr(0, number) &&
         number_at_end(notes) <= number;
}

bool tells_results_apart(std::string_view value) {
  return value.find(';') != std::string_view::npos;
}

std::string_view part_of_result(std::string_view value, size_t result) {
  if (!tells_results_apart(value)) return value;
  for (; result > 0; --result) {
    value.remove_prefix(std::min(value.find(';'), value.size() - 1) + 1);
    if (value.empty()) return value;
  }
  return value.substr(0, value.find(';'));
}

std::string_view find_note(std::string_view line, std::string_view key) {
  const std::string_view notes = split_notes(line).notes;
  size_t end = 0;
  for (size_t i = 0; i < notes.size(); i = end + 1) {
    bool is_quoted = false;
    for (end = i; end < notes.size(); ++end) {
      if (notes[end] == '"') is_quoted = !is_quoted;
      if (is_quoted && notes[end] == '\\') ++end;
      if (!is_quoted && notes[end] == ' ') break;
    }
    std::string_view note = notes.substr(i, end - i);
    if (note == "#") break;  // the remark begins here
    if (!note.starts_with('#') || !note.substr(1).starts_with(key)) continue;
    note.remove_prefix(1 + key.size());
    if (note.starts_with('=')) return note.substr(1);
  }
  return {};
}

NotedPlace parse_place(std::string_view note) {
  NotedPlace place{unquote(note), 0};
  const size_t colon = place.file.rfind(':');
  if (colon == std::string::npos) return place;
  if (read_number(std::string_view(place.file).substr(colon + 1), place.line)) {
    place.file.resize(colon);
  } else {
    place.line = 0;
  }
  return place;
}

NotedPlace place_of(std::string_view line, std::string_view file,
                    uint64_t number) {
  NotedPlace noted = parse_place(find_note(line, "at"));
  if (noted.line == 0) return {std::string(file), number};
  return noted;
}

}  // namespace gt
