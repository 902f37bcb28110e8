// Tables for people, in columns of characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gt::log {

using Cells = std::vector<std::string>;

// Appends a line for each row, with the first column set to the left and the
// others to the right. All rows have as many cells, and there is one at least.
void append_columns(std::string& out, const std::vector<Cells>& rows);

// A name as it stands in a table: quoted if a tab, say, would spoil that.
std::string cell(std::string_view name);

}  // namespace gt::log
