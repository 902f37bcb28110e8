// Terminal: the terminal of gt-top, by ncurses. There is one object at a time,
// and while it exists, nothing else may write to the terminal.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "top/screen.h"

namespace gt::top {

class Terminal {
 public:
  // Takes over the terminal; `has_color` says that colours are wanted. If
  // ncurses does not know the type of the terminal, ok() is false.
  explicit Terminal(bool has_color);
  ~Terminal();  // restores the terminal
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  bool ok() const { return screen_ != nullptr; }

  size_t rows() const;
  size_t columns() const;
  // Takes the keys that were typed, without waiting. Returns false if one of
  // them means to quit.
  bool take_keys(Screen& screen);
  void draw(const std::vector<ScreenLine>& lines);

 private:
  void* screen_ = nullptr;
  bool has_color_;
};

}  // namespace gt::top
