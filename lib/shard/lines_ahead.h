// The lines of the input behind the one that is rewritten. Most lines are
// written without regard to them. A line is read ahead only where its best plan
// depends on what comes next (LineTrial::look_ahead): then at most 12 lines
// are waited for, and none behind a line that shows something, has ranks,
// or is a mark, so that whoever waits for an answer gets it.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "shard/line_work.h"

namespace gt::shard {

class LinesAhead {
 public:
  // Returns the text of the line that is `index` lines behind the current one,
  // from 0 on. It is valid until the next call. "" stands for the end of the
  // input.
  using Read = std::function<std::string_view(size_t index)>;

  struct Behind {
    std::string text;
    Line line;
    Claims claims;
    LineContext at;
  };

  explicit LinesAhead(Read read) : read_(std::move(read)) {}

  // Returns false if what is behind the line cannot be known.
  bool is_there() const { return read_ != nullptr; }
  // Returns the instruction with that index behind the current line, or null if
  // the look ends before it.
  const Behind* line(size_t index);
  // Returns how many lines of the input were looked at.
  size_t seen() const { return seen_; }

 private:
  static constexpr size_t kMost = 12;
  bool read_next();

  Read read_;
  std::deque<Behind> lines_;  // a deque, since lines point into texts
  size_t seen_ = 0;
  bool is_over_ = false;
};

// Returns what the line has in common with those that are written for it.
LineContext context_of(const Line& line);

}  // namespace gt::shard
