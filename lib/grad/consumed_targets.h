// The targets that a consumed history led to: for each value that outlives it,
// those that were behind it. A later grad through such a value is refused if
// one of its targets may be among them, since that gradient would be wrong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/shared.h"
#include "grad/ids.h"

namespace gt::grad {

// The table of one consumed history: a row of bits for each of its lines, with
// a bit for each target, which says whether the target was behind the line's
// results.
struct ConsumedTable {
  std::vector<uint64_t> serials;  // of the targets, ascending
  std::vector<uint64_t> bits;     // row by row
  size_t words = 0;               // words in a row

  // Bit 0 of a row says that it is not known what was behind; the targets' bits
  // follow.
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
  // Returns the bit of a target; 0 for one that is not behind anything here.
  size_t bit_of(uint64_t serial) const {
    const auto it = std::lower_bound(serials.begin(), serials.end(), serial);
    if (it == serials.end() || *it != serial) return 0;
    return static_cast<size_t>(it - serials.begin()) + 1;
  }
};

// The targets that were behind one value, as a row of a table. Without a table
// it is not known what was behind it.
struct ConsumedTargets {
  Shared<ConsumedTable> table;
  uint32_t row = 0;

  // True if the target with that serial number may have been behind.
  bool may_be(uint64_t serial) const {
    if (!table || table->at(row, 0)) return true;
    const size_t bit = table->bit_of(serial);
    return bit != 0 && table->at(row, bit);
  }
  bool is_same(const ConsumedTargets& other) const {
    return row == other.row && &*table == &*other.table;
  }
};

class HistoryCells;

// Returns the table of a history that is about to be consumed: row i is for
// nodes[i], which come newest first. Returns none if the table would be large.
Shared<ConsumedTable> find_consumed_targets(const HistoryCells& tape,
                                            std::span<const NodeId> nodes);
// Returns what is behind a line some of whose operands have lost their history.
// If there are several such operands and not all have the same behind them, it
// is not known.
ConsumedTargets merge_consumed_targets(const HistoryCells& tape,
                                       std::span<const ValueId> operands);

}  // namespace gt::grad
