// Tables for people, in columns of characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gt::log {

using Cells = std::vector<std::string>;

// Appends a line for each row, with the first column aligned left and the
// others right. All rows must have the same number of cells, at least one.
void append_columns(std::string& out, const std::vector<Cells>& rows);

// Returns a name as it is written in a table: quoted if, for example, a tab
// would spoil the table.
std::string cell(std::string_view name);

}  // namespace gt::log
