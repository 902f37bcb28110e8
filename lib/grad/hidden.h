// What a history that was consumed led to: for each value that outlives it, the
// targets that stood behind. A later grad through such a value is refused if
// one of its targets may be among them, since that gradient would be wrong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/shared.h"
#include "grad/ids.h"

namespace gt::grad {

// One consumed history is one table: a row of bits for each of its lines, with
// a bit for each target, which says whether that stands behind the line's
// results.
struct HiddenTable {
  std::vector<uint64_t> serials;  // of the targets, ascending
  std::vector<uint64_t> bits;     // row by row
  size_t words = 0;               // of a row

  // Bit 0 of a row says that it is not known what stands behind; then come the
  // targets' bits.
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

// A row of a table; without a table it is not known what stands behind.
struct Hidden {
  Shared<HiddenTable> table;
  uint32_t row = 0;

  // Whether the target of that serial number may stand behind.
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
// What stands behind a line some of whose operands have lost their history. If
// these are several that have not the same behind them, that is not known.
Hidden merge_hidden(const HistoryCells& tape,
                    std::span<const ValueId> operands);

}  // namespace gt::grad
