// The tables of a backend's files as one, in which the row of an op is found.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

namespace gt::exec {

// A Row names its op: row.op. The rows outlive the table.
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

  // Null if there is no row of that op.
  const Row* find(std::string_view op) const {
    const auto it = rows_.find(op);
    return it == rows_.end() ? nullptr : it->second;
  }

 private:
  std::unordered_map<std::string_view, const Row*> rows_;
};

}  // namespace gt::exec
