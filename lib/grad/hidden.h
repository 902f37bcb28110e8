// What a history that was consumed led to: of each value that outlives it, the
// targets that stood behind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/shared.h"
#include "grad/ids.h"

namespace gt::grad {

// Rows of bits, one for each line of the history: the targets behind its
// results, by their serial numbers. One consumed history is one table.
struct HiddenTable {
  std::vector<uint64_t> serials;  // ascending
  std::vector<uint64_t> bits;     // row by row
  size_t words = 0;               // of a row

  // Bit 0 says that nobody knows; the targets' follow.
  bool at(size_t row, size_t bit) const {
    return (bits[row * words + bit / 64] >> (bit % 64) & 1) != 0;
  }
  void set(size_t row, size_t bit) {
    bits[row * words + bit / 64] |= uint64_t{1} << (bit % 64);
  }
  void add_row(size_t row, size_t other) {
    for (size_t w = 0; w < words; ++w) {
      bits[row * words + w] |= bits[other * words + w];
    }
  }
  // The bit of a target; 0 for one that is not behind anything here.
  size_t bit_of(uint64_t serial) const {
    const auto it = std::lower_bound(serials.begin(), serials.end(), serial);
    if (it == serials.end() || *it != serial) return 0;
    return static_cast<size_t>(it - serials.begin()) + 1;
  }
};

// A row of a table; without one nobody knows.
struct Hidden {
  Shared<HiddenTable> table;
  uint32_t row = 0;

  bool may_be(uint64_t serial) const {
    if (!table || table->at(row, 0)) return true;
    const size_t bit = table->bit_of(serial);
    return bit != 0 && table->at(row, bit);
  }
  bool is_same(const Hidden& other) const {
    return row == other.row && &*table == &*other.table;
  }
};

class HistoryCells;

// The table of a history that is about to be consumed: row i is of nodes[i],
// which come newest first. None when that would be a large table.
Shared<HiddenTable> find_hidden(const HistoryCells& tape,
                                std::span<const NodeId> nodes);
// What stands behind operands of which some have lost their history. It is not
// known where these are several, unless they have the same behind them.
Hidden merge_hidden(const HistoryCells& tape,
                    std::span<const ValueId> operands);

}  // namespace gt::grad
