// A line while it is rewritten, and all that is known of it.
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

// The notes of a line that go on all lines which are written for it.
inline std::vector<Note> shared_notes(const Line& line) {
  std::vector<Note> out;
  std::copy_if(line.notes.begin(), line.notes.end(), std::back_inserter(out),
               [](const Note& note) {
                 return note.key == "signal" || note.key == "mb" ||
                        note.key == "bwd" || note.key == "at";
               });
  return out;
}

// What a line shares with the lines that are written for it.
struct LineContext {
  std::string space;                 // "c1/": the name space
  std::string notes;                 // " #signal=mlp #bwd", on all of them
  std::string place;                 // "model.s:3", for people
  size_t depth = 0;                  // of expansions within each other
  bool regathers = false;            // copies that it fetches are not kept
  std::vector<std::string> passing;  // registers of copies for this line only
  // What is said of the line in place of what the config says; null: that.
  const Scope* scope = nullptr;
  // The layout that its result gets if it is summands; null: it stays so.
  const Layout* summed = nullptr;
};

struct LineWork {
  const Line& line;
  std::string_view text;  // as it came; "": it is a step of an expansion
  Claims claims;          // of its notes
  LineContext at;
  Call call = {};
  Scope scope = {};                     // what the config says of it
  std::optional<CutSetting> wish = {};  // what its claims say, after the config
  bool is_backward = false;
  bool is_named = false;  // its shard: is from the config's tensors
  uint32_t set = 0;       // the ranks on which it runs (Cluster::ranks)
  std::vector<ShardValuePtr> values = {};  // by operand of the line
  // How the config or a claim wants result 0, and which line of the config says
  // so; 0: none, it is a claim.
  std::optional<Layout> pin = {};
  size_t pin_line = 0;
  PlanCache::Entry* planned = nullptr;  // once its layouts are chosen

  // The line as text, for people and for lines that wait.
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
