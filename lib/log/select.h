// Which lines gt-log is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/input.h"
#include "stream/line.h"

namespace gt::log {

// Each is a list of globs with commas, one of which must match, or a rank set;
// all that are given must hold.
struct SelectOptions {
  std::vector<std::string> ops;
  std::vector<std::string> names;
  std::vector<std::string> signals;
  std::vector<std::string> ranks;
  std::vector<std::string> clients;
  bool invert = false;
  bool any() const {
    return !ops.empty() || !names.empty() || !signals.empty() ||
           !ranks.empty() || !clients.empty();
  }
};

// What there is to know of the instruction at hand: by itself, and by the row
// that it stands in.
struct Subject {
  const Line* line = nullptr;  // null: it cannot be parsed
  std::string_view signal;     // without quotes; "" if there is none
  std::string_view client;     // "" if nobody says
  std::string_view ranks;      // of a trace's row
};

// `line` is reused from call to call, `text` keeps the signal.
Subject subject_of(const Input& input, Line& line, std::string& text);

class Selection {
 public:
  // The error names the option.
  static Result<Selection> make(const SelectOptions& options);

  // A line that cannot be parsed matches nothing.
  bool matches(const Subject& subject) const;

 private:
  using Globs = std::vector<std::string>;  // one of them must match

  bool matches_all(const Subject& subject) const;

  std::vector<Globs> ops_, names_, signals_, clients_;
  std::vector<std::vector<int64_t>> ranks_;
  bool invert_ = false;
};

}  // namespace gt::log
