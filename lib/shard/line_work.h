// Everything that is known about a line while gt-shard rewrites it.
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

// Returns the notes of a line that every line written for it gets as well.
inline std::vector<Note> shared_notes(const Line& line) {
  std::vector<Note> out;
  std::copy_if(line.notes.begin(), line.notes.end(), std::back_inserter(out),
               [](const Note& note) {
                 return note.key == "signal" || note.key == "mb" ||
                        note.key == "bwd" || note.key == "at";
               });
  return out;
}

class LinesAhead;

// What a line has in common with the lines that are written for it.
struct LineContext {
  std::string space = {};  // the name space, such as "c1/"
  std::string notes = {};  // shared notes as text, " #signal=mlp #bwd"
  std::string place = {};  // such as "model.s:3", for explanations
  size_t depth = 0;        // how many expansions the line is within
  bool regathers = false;  // copies fetched for it are not kept
  // It makes an operand for the line of this signal; what the config says of
  // results is not said of it.
  bool is_operand = false;
  // It computes with the parts of sums that lie in the values' own registers;
  // their rests are added apart (sum_rests.h).
  bool takes_own_part = false;
  std::vector<std::string> passing = {};  // copies that only this line reads
  LinesAhead* ahead = nullptr;  // the lines behind it; null: they are unknown
};

struct LineWork {
  const Line& line;
  std::string_view text;  // as read; "": the line was made here
  Claims claims;          // from its notes
  LineContext at;
  Call call = {};
  Scope scope = {};                     // the config's settings for it
  std::optional<CutSetting> wish = {};  // cuts that its claims name
  bool is_backward = false;
  bool is_named = false;  // tensors: says shard: for it
  uint32_t set = 0;       // ranks on which it runs (Cluster::ranks)
  std::vector<ShardValuePtr> values = {};  // by operand; null: no name
  // The layout in which the config or a claim wants result 0; empty: neither
  // says how. pin_line is the line of the config that says so, or 0 for a
  // claim.
  std::optional<Layout> pin = {};
  size_t pin_line = 0;
  // The layout to which result 0 is brought at once if the line makes summands
  // of it; empty: it stays summands.
  std::optional<Layout> sum = {};
  // True if result 0 is summands that a line behind adds to others, so that one
  // sum is taken of all.
  bool joins_sum = false;
  // The dtype in which sums of the results are sent, if the config wants fewer
  // digits there than in f32.
  std::optional<Dtype> sum_dtype = {};
  std::string why_ahead = {};  // why the plan suits lines behind this one
  PlanCache::Entry* planned = nullptr;  // null until layouts are chosen

  // Returns the line as text, for explanations and for lines that wait.
  std::string shown() const {
    std::string out(text);
    if (out.empty()) append_line(out, line);
    return out;
  }
  const Plan& plan() const { return planned->plan; }
  // Returns the value that an argument reads. The argument must be a tensor.
  const ShardValuePtr& value(size_t argument) const {
    return values[static_cast<size_t>(call.arguments[argument].operand)];
  }
};

}  // namespace gt::shard
