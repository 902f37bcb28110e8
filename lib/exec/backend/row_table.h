// One table, looked up by op, of the rows that a backend's source files each
// define for their own ops.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

namespace gt::exec {

// A Row has a member `op`, the name of its op. The rows must outlive the table.
template <typename Row>
class RowTable {
 public:
  RowTable(std::initializer_list<std::span<const Row>> tables) {
    for (const auto& rows : tables) {
      for (const Row& row : rows) {
        const bool fresh = rows_.emplace(row.op, &row).second;
        GT_CHECK(fresh);
      }
    }
  }

  // Returns the row of `op`, or null if there is none.
  const Row* find(std::string_view op) const {
    const auto it = rows_.find(op);
    return it == rows_.end() ? nullptr : it->second;
  }

 private:
  std::unordered_map<std::string_view, const Row*> rows_;
};

}  // namespace gt::exec
