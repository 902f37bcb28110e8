// What the names of a window's lines hold. Each binding of a name is a value of
// its own; values that lines read under one name, and sums that replace
// themselves, share a place to be kept in, a Storage, which gets a name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spmd/rank_set.h"

namespace gt::shard {

struct WindowLine;

struct Storage {
  uint32_t name = 0;  // of its values in the program
  Ranks ranks;        // where it is
  // One of its values was there before the window, or is the last of its name,
  // so that all must be written under their own name.
  bool keeps_name = false;
  size_t left = 0;    // lines that bind or read it and were not written yet
  std::string text;   // the name that its lines are written with
  size_t number = 0;  // of the name, if it was invented
};

// What a part of a free frees.
struct FreedPart {
  uint32_t storage = 0;
  uint32_t name = 0;
  Ranks ranks;
};

struct WindowValues {
  // Finds the values of all lines, and what each line needs (ScheduledLine's
  // needs and after), which it sets.
  explicit WindowValues(std::vector<WindowLine>& lines);

  std::vector<Storage> storages;
  // By line, by part: its storage.
  std::vector<std::vector<uint32_t>> read_from, written_to;
  // By line: that of the value which its note #grad= names; none: no value of
  // these lines.
  std::vector<uint32_t> target_of;
  std::vector<std::vector<FreedPart>> freed;  // by line; of frees
};

}  // namespace gt::shard
