// Outlet writes results in their order among saves: a result that is printed
// after a save is held back until the saved file is written, so that whoever
// reads the result finds the file.
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
  // `out` must outlive it and be used by nobody else.
  explicit Outlet(Writer& out)
      : out_(out), held_([this](std::string_view b) {
          text_.append(b);
          return 0;
        }) {}

  // Returns the writer for the next result.
  Writer& writer() { return saves_.empty() ? out_ : held_; }
  // Results written from now on wait for the save with that ticket (Saves),
  // which belongs to instruction `seq`.
  void meet(uint64_t ticket, uint64_t seq);
  // Writes out the results that wait only for saves with tickets below
  // `first_waiting`.
  void let_out(uint64_t first_waiting);
  // Returns the instruction of the first save that is not known to be written;
  // 0 if there is none.
  uint64_t first_seq() const { return saves_.empty() ? 0 : saves_.front().seq; }
  bool holds() const { return !saves_.empty(); }
  // Returns the bytes of results that are held back.
  size_t held_bytes() const { return text_.size(); }

  const Writer& out() const { return out_; }

 private:
  struct Met {
    uint64_t ticket, seq;
    size_t at;  // results from this offset in text_ on wait for the save
  };

  Writer& out_;
  std::string text_;  // results held back behind the first of saves_
  Writer held_;
  std::deque<Met> saves_;
};

}  // namespace gt::exec
