#include "log/table.h"

#include <algorithm>

#include "base/printable.h"
#include "stream/line.h"

namespace gt::log {

void append_columns(std::string& out, const std::vector<Cells>& rows) {
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const Cells& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (const Cells& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      out += i == 0 ? row[i] + pad : "  " + pad + row[i];
    }
    out += '\n';
  }
}

std::string cell(std::string_view name) {
  return printable(name) == name ? std::string(name) : printable(quote(name));
}

}  // namespace gt::log
