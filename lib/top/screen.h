// Screen: the screen of gt-top as lines of text, for a given size of the
// terminal. It uses no terminal, so that it can be tested. It shows a Model;
// which table has the focus, by which column it is sorted, its filter, and
// whether the screen is frozen are changed by keys.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "top/model.h"
#include "top/table_form.h"

namespace gt::top {

enum class Style : uint8_t {
  kPlain,
  kTitle,
  kHead,
  kFocus,
  kGood,
  kWarn,
  kBad,
  kDim
};

struct ScreenLine {
  // A part of the text, in bytes, that has a style of its own.
  struct Span {
    size_t begin, size;
    Style style;
  };
  std::string text;  // printable, with at most as many characters as columns
  Style style = Style::kPlain;
  std::vector<Span> spans{};  // in order
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
  // Takes a key that was typed; for kCharacter, `character` is the character in
  // UTF-8. Returns false if the key means to quit.
  bool take(Key key, std::string_view character = {});
  // Takes a new state of the run, which is shown unless the screen is frozen.
  void show(const Model& model);
  // Sets for how long gt-route was silent, if that is to be shown; else 0.
  void silent(int64_t ms) { silent_ms_ = ms; }

  // Returns the lines for a terminal of this size, at most `rows` of them.
  std::vector<ScreenLine> draw(size_t rows, size_t columns) const;

 private:
  static constexpr size_t kTables = 3;
  struct Look {
    size_t sort = 0;  // index of the table's column
    bool is_reversed = false;
    std::string filter;
    size_t first = 0;  // the row at the top of the table
  };

  bool take_character(std::string_view character);
  void take_filter(Key key, std::string_view character);
  void move_sort(bool forward);
  std::vector<Row> rows_of(size_t table) const;
  void add_header(std::vector<ScreenLine>& out, size_t rows,
                  size_t columns) const;
  void add_history(std::vector<ScreenLine>& out, size_t columns) const;
  void add_cell(ScreenLine& line, const Row& row,
                const PlacedField& field) const;
  void add_table(std::vector<ScreenLine>& out, size_t table, size_t rows,
                 size_t columns) const;
  std::string footer() const;
  std::vector<ScreenLine> help(size_t rows) const;
  Look& look() { return looks_[focus_]; }

  Model model_;   // the state that is shown
  Model latest_;  // the newest state, while frozen
  std::array<Look, kTables> looks_ = {Look{}, Look{1, false, "", 0}, Look{}};
  size_t focus_ = 0;
  bool is_frozen_ = false;
  bool is_typing_ = false;  // a filter is being typed
  bool shows_help_ = false;
  int64_t silent_ms_ = 0;
};

}  // namespace gt::top
