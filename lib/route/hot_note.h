// The note #hot=ID, by which gt-route tells who reads its stream that a block
// of lines begins which came before (stream/block_finder.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stream/notes.h"

namespace gt::route {

inline constexpr std::string_view kHotNote = " #hot=";

// Returns the line with the note, as its first; a line that has one stays as it
// is.
inline std::string with_hot(const NotedText& line, uint32_t block) {
  std::string text(line.text);
  if (line.notes.find(kHotNote.substr(1)) == std::string_view::npos) {
    text.append(kHotNote).append(std::to_string(block));
  }
  if (!line.notes.empty()) text.append(" ").append(line.notes);
  return text;
}

// Returns the line without the note.
inline std::string without_hot(std::string_view line) {
  std::string text(line);
  const size_t begin = text.find(kHotNote);
  if (begin == std::string::npos) return text;
  return text.erase(begin, text.find(' ', begin + 1) - begin);
}

}  // namespace gt::route
