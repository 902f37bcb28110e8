// Selection: the lines that gt-log is asked for (--op, --name, --signal,
// --rank, --client).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/input.h"
#include "stream/line.h"

namespace gt::log {

// Each string is the value of one option: either globs separated by commas, one
// of which must match; or a rank set, with which the line must have a rank in
// common. All given options must match. A line's client is the one that its row
// names, or else the name space of any of its names.
struct SelectOptions {
  std::vector<std::string> ops;
  std::vector<std::string> names;
  std::vector<std::string> signals;
  std::vector<std::string> ranks;
  std::vector<std::string> clients;
  bool invert = false;  // choose the lines that do not match
  bool any() const {
    return !ops.empty() || !names.empty() || !signals.empty() ||
           !ranks.empty() || !clients.empty();
  }
};

// The line that a selection is applied to: an instruction, and the row that it
// is in.
struct Subject {
  const Line* line = nullptr;  // null: the line cannot be parsed
  std::string_view signal;     // without quotes; "" if there is none
  std::string_view client;     // "" if it is unknown
  std::string_view ranks;      // the ranks of a trace's row; else ""
};

// Returns the instruction that the input is at. It has views into `line` and
// `text`, which are overwritten.
Subject subject_of(const Input& input, Line& line, std::string& text);

class Selection {
 public:
  // Error: the value of an option is malformed; the message names the option.
  static Result<Selection> make(const SelectOptions& options);

  // True if the line is chosen. A line that cannot be parsed is chosen only by
  // an inverted selection.
  bool matches(const Subject& subject) const;

 private:
  using Globs = std::vector<std::string>;  // one of them must match

  bool matches_all(const Subject& subject) const;

  std::vector<Globs> ops_, names_, signals_, clients_;
  std::vector<std::vector<int64_t>> ranks_;
  bool invert_ = false;
};

}  // namespace gt::log
