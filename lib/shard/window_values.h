// Finds the values that the names of a window's lines hold. Each binding of a
// name makes a value. Values that one operand reads under one name must be kept
// under one name, and so must a sum and the sum that it replaces: they share a
// Storage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spmd/rank_set.h"

namespace gt::shard {

struct WindowLine;

struct Storage {
  uint32_t name = 0;  // number of the name in the program
  Ranks ranks;        // the ranks that have it
  // True if one of its values was made before the window, or is the last value
  // of its name. Then all of its values are written under their own name.
  bool keeps_name = false;
  size_t left = 0;    // lines to be written that bind or read it
  std::string text;   // the name under which it is written
  size_t number = 0;  // the number of an invented name
};

// One operand of a free, or a part of it: what is freed of one storage.
struct FreedPart {
  uint32_t storage = 0;
  uint32_t name = 0;
  Ranks ranks;
};

struct WindowValues {
  // Finds the values of all lines. Sets what each line needs (`needs` and
  // `after` of its ScheduledLine).
  explicit WindowValues(std::vector<WindowLine>& lines);

  std::vector<Storage> storages;
  // The storage of each part that a line reads or writes, by line.
  std::vector<std::vector<uint32_t>> read_from, written_to;
  // By line: the storage of the value that its note #grad= names. kNoIndex:
  // there is no note, or it names a value that was freed.
  std::vector<uint32_t> target_of;
  // By line; empty for all but frees.
  std::vector<std::vector<FreedPart>> freed;
};

}  // namespace gt::shard
