// A line that is being rewritten, and all that is known of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/call.h"
#include "shard/config.h"
#include "shard/plan_cache.h"
#include "shard/values.h"
#include "stream/line.h"

namespace gt::shard {

// Notes of a line that those have, too, which are written for it.
inline std::vector<Note> shared_notes(const Line& line) {
  std::vector<Note> out;
  std::copy_if(line.notes.begin(), line.notes.end(), std::back_inserter(out),
               [](const Note& note) {
                 return note.key == "signal" || note.key == "mb" ||
                        note.key == "bwd" || note.key == "at";
               });
  return out;
}

// What a line shares with those that are written for it.
struct LineContext {
  std::string space;                 // "c1/": its names' and theirs
  std::string notes;                 // " #signal=mlp #bwd", on all of them
  std::string place;                 // "model.s:3", for people
  size_t depth = 0;                  // of expansions within each other
  bool regathers = false;            // what it gathers is not kept
  std::vector<std::string> passing;  // registers for this line only
};

struct LineWork {
  const Line& line;
  std::string_view text;  // as it came; "": it stands for another
  Claims claims;          // of its notes
  LineContext at;
  Call call = {};
  Scope scope = {};
  std::optional<CutSetting> wish = {};  // of its own notes, after the config's
  bool is_backward = false;
  bool is_named = false;  // its shard: is of the tensor's name
  uint32_t set = 0;
  std::vector<ShardValuePtr> values = {};  // by operand of the line
  std::optional<Layout> pin = {};          // of the result,
  size_t pin_line = 0;                     // in this line of the config
  PlanCache::Entry* planned = nullptr;

  // For people.
  std::string shown() const {
    std::string out(text);
    if (out.empty()) append_line(out, line);
    return out;
  }
  const Plan& plan() const { return planned->plan; }
  // The value that an argument, a tensor, reads.
  const ShardValuePtr& value(size_t argument) const {
    return values[static_cast<size_t>(call.arguments[argument].operand)];
  }
};

}  // namespace gt::shard
