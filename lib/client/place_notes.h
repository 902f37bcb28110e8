// PlaceNotes: the ends of lines: the notes of the scopes that a thread has
// opened, and the place in the user's source, "#at=model.cc:42". A program
// writes most of its lines at few places, in loops, so the text of a place is
// kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "client/include/gt/c.h"

namespace gt::client {

class PlaceNotes {
 public:
  // Appends the notes of the thread's scopes, #at=, and the LF.
  void append_end(const gt_place& place, std::string& out);

 private:
  struct Known {
    // A copy, since the text at the caller's address may change.
    std::string path;
    uint32_t line = 0;
    std::string end;  // " #at=model.cc:42\n"
  };
  static constexpr size_t kKept = 64;

  std::array<Known, kKept> known_;  // indexed by line number modulo kKept
};

}  // namespace gt::client
