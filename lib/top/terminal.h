// The terminal of gt-top, by ncurses. There is one at a time, and while there
// is, nothing else may write to the terminal.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "top/screen.h"

namespace gt::top {

class Terminal {
 public:
  // Takes the terminal over; `has_color`: colours are wanted. False from ok():
  // it is of a type that ncurses does not know.
  explicit Terminal(bool has_color);
  ~Terminal();  // as it was
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  bool ok() const { return screen_ != nullptr; }

  size_t rows() const;
  size_t columns() const;
  // Takes the keys that were typed; does not wait. False: one said to quit.
  bool take_keys(Screen& screen);
  void draw(const std::vector<ScreenLine>& lines);

 private:
  void* screen_ = nullptr;
  bool has_color_;
};

}  // namespace gt::top
