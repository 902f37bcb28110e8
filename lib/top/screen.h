// The screen of gt-top as lines of text, for a size of the terminal: knows no
// terminal, so that it can be tested. What is to be seen is a Model; how it is
// looked at (which table, sorted by what, filtered, frozen) is the view, which
// keys change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "top/model.h"

namespace gt::top {

enum class Style : uint8_t { kPlain, kTitle, kHead, kFocus, kGood, kBad, kDim };

struct ScreenLine {
  std::string text;  // printable, of at most as many characters as columns
  Style style = Style::kPlain;
};

enum class Key : uint8_t {
  kCharacter,
  kTab,
  kUp,
  kDown,
  kLeft,
  kRight,
  kPageUp,
  kPageDown,
  kHome,
  kEnter,
  kEscape,
  kErase,
};

class Screen {
 public:
  // A key that was typed; `character` of kCharacter, in UTF-8. False: to quit.
  bool take(Key key, std::string_view character = {});
  // A new state of the run; shown unless frozen.
  void show(const Model& model);
  // For how long gt-route was silent, if that is worth a word; else 0.
  void silent(int64_t ms) { silent_ms_ = ms; }
  bool is_frozen() const { return is_frozen_; }

  // Lines for so many rows and columns, as many as rows at most.
  std::vector<ScreenLine> draw(size_t rows, size_t columns) const;

 private:
  static constexpr size_t kTables = 3;
  struct Look {
    size_t sort = 0;  // which of the table's columns
    bool is_reversed = false;
    std::string filter;
    size_t first = 0;  // the row at its top
  };

  bool take_character(std::string_view character);
  void take_filter(Key key, std::string_view character);
  void move_sort(bool forward);
  std::vector<Row> rows_of(size_t table) const;
  void add_header(std::vector<ScreenLine>& out, size_t columns) const;
  void add_table(std::vector<ScreenLine>& out, size_t table, size_t rows,
                 size_t columns) const;
  std::string footer() const;
  std::vector<ScreenLine> help(size_t rows) const;
  Look& look() { return looks_[focus_]; }

  Model model_;   // what is shown
  Model latest_;  // what came, while frozen
  std::array<Look, kTables> looks_ = {Look{}, Look{1, false, "", 0}, Look{}};
  size_t focus_ = 0;
  bool is_frozen_ = false;
  bool is_typing_ = false;  // a filter
  bool shows_help_ = false;
  int64_t silent_ms_ = 0;
};

}  // namespace gt::top
