// Tables for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gt::log {

using Cells = std::vector<std::string>;

// The first column to the left, the others to the right. Rows of one length.
void append_columns(std::string& out, const std::vector<Cells>& rows);

// A name as it stands in a table: quoted if a tab, say, would spoil that.
std::string cell(std::string_view name);

}  // namespace gt::log
