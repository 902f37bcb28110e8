// The columns that the tables of the screen have, and those for which a line of
// a given width has room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "top/table.h"

namespace gt::top {

// A column of a table on the screen, with room for its title and for the mark
// of the column that the table is sorted by. If the screen is narrow, columns
// with the greatest `rank` are left out.
struct Field {
  // How a value is shown: as text; as a bar with the text behind it, for the
  // share of a worker's time; or as the history of that.
  enum class Look : uint8_t { kText, kBar, kHistory };
  Column column;
  const char* title;
  size_t width;
  int rank;
  bool is_left = false;
  Look look = Look::kText;
};

struct TableForm {
  Row::Kind kind;
  // The last takes the rest of the line, if it is_left.
  std::vector<Field> fields;
};

// Returns the tables: workers, ops, clients.
const std::vector<TableForm>& table_forms();

struct PlacedField {
  const Field* field;
  size_t width;
};
// Returns the fields for which a line of that many columns has room, in order.
std::vector<PlacedField> fit(const TableForm& form, size_t columns);

// Returns parts of a line as lines of at most that many columns, joined by
// `between` where there is room, and indented behind the first. Of more than
// `most` lines the last is cut.
std::vector<std::string> wrap(const std::vector<std::string>& parts,
                              std::string_view between, size_t columns,
                              size_t most);

// Makes a text printable, and cuts it to that many columns; "..." says that
// there is more.
std::string cut(std::string_view text, size_t columns);
// Does the same, and pads the text with blanks to the width.
std::string padded(std::string_view text, size_t width, bool is_left);

}  // namespace gt::top
