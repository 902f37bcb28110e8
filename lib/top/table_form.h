// Which columns the tables of the screen have, and which of them a line of so
// many characters has room for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "top/table.h"

namespace gt::top {

// A column of a table on the screen, with room for its title and the mark of
// the column that is sorted by. Where the screen is narrow those with the
// greatest `rank` are left out.
struct Field {
  Column column;
  const char* title;
  size_t width;
  int rank;
  bool is_left = false;
};

struct TableForm {
  Row::Kind kind;
  std::vector<Field> fields;  // the last takes what is left, if it is is_left
};

// Workers, ops, clients.
const std::vector<TableForm>& table_forms();

struct PlacedField {
  const Field* field;
  size_t width;
};
// The fields that a line of so many columns has room for, in their order.
std::vector<PlacedField> fit(const TableForm& form, size_t columns);

// Of a text, made printable, as many characters as there are columns; "..."
// says that there are more.
std::string cut(std::string_view text, size_t columns);
// The same with blanks up to the width.
std::string padded(std::string_view text, size_t width, bool is_left);

}  // namespace gt::top
