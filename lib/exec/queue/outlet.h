// Lets results leave in their order among saves: one that is printed behind a
// save leaves once the file is there, so that who reads it finds that.
//
// Used by the thread of the compute queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/writer.h"

namespace gt::exec {

class Outlet {
 public:
  // `out` outlives it, and is its alone.
  explicit Outlet(Writer& out)
      : out_(out), held_([this](std::string_view b) {
          text_.append(b);
          return 0;
        }) {}

  // Where a result is written now.
  Writer& writer() { return saves_.empty() ? out_ : held_; }
  // What is written from now on is behind the save of that ticket (Saves), of
  // the instruction of that number.
  void meet(uint64_t ticket, uint64_t seq);
  // Lets leave what is before the first save that is not written.
  void let_out(uint64_t first_waiting);
  // The instruction of the first save that is not known to be written; 0:
  // there is none.
  uint64_t first_seq() const { return saves_.empty() ? 0 : saves_.front().seq; }
  bool holds() const { return !saves_.empty(); }
  // The bytes that wait.
  size_t held_bytes() const { return text_.size(); }

  const Writer& out() const { return out_; }

 private:
  struct Met {
    uint64_t ticket, seq;
    size_t at;  // where in the text
  };

  Writer& out_;
  std::string text_;  // behind the first of saves_
  Writer held_;
  std::deque<Met> saves_;
};

}  // namespace gt::exec
