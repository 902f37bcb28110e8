// The targets that a consumed history led to: for each value that outlives it,
// those that were behind it, and the names that values behind it had. A later
// grad through such a value is refused if one of its targets may be among them,
// since that gradient would be wrong; or if the name of one is, since the loss
// depends on what that name held before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/shared.h"
#include "grad/ids.h"
#include "grad/name_set.h"

namespace gt::grad {

// Rows of bits. Bit 0 of a row says that it is not known what was behind.
struct BitRows {
  std::vector<uint64_t> bits;  // row by row
  size_t words = 0;            // words in a row

  void resize(size_t rows, size_t columns) {
    words = columns / 64 + 1;
    bits.resize(words * rows);
  }
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
};

// The table of one consumed history. It has a row for each line, with a bit for
// each target, which says whether the target was behind the line's results, and
// a bit for each name, which says whether a value behind them had it. Bit 0
// comes before those of the targets, and of the names.
struct ConsumedTable {
  std::vector<uint64_t> serials;  // of the targets, ascending
  BitRows targets;
  std::vector<NamedSince> names;  // ascending
  BitRows behind;                 // the names; no rows: they are not known

  // Returns the bit of a target; 0 for one that is not behind anything here.
  size_t bit_of(uint64_t serial) const {
    const auto it = std::lower_bound(serials.begin(), serials.end(), serial);
    if (it == serials.end() || *it != serial) return 0;
    return static_cast<size_t>(it - serials.begin()) + 1;
  }
};

// The targets that were behind one value, and the names, as a row of a table.
// Without a table it is not known which targets were behind it.
struct ConsumedTargets {
  Shared<ConsumedTable> table;
  uint32_t row = 0;

  // True if the target with that serial number may have been behind.
  bool may_be(uint64_t serial) const {
    if (!table || table->targets.at(row, 0)) return true;
    const size_t bit = table->bit_of(serial);
    return bit != 0 && table->targets.at(row, bit);
  }
  // Adds the names to the set.
  void add_names(NameSet& set) const;
  bool is_same(const ConsumedTargets& other) const {
    return row == other.row && &*table == &*other.table;
  }
};

class HistoryCells;

// Returns the table of a history that is about to be consumed: row i is for
// nodes[i], which come newest first. Returns none if the table would be large;
// if only that of the names would be, it has none.
Shared<ConsumedTable> find_consumed_targets(const HistoryCells& tape,
                                            std::span<const NodeId> nodes);
// Returns what is behind a line some of whose operands have lost their history.
// If there are several such operands and not all have the same behind them, it
// is not known.
ConsumedTargets merge_consumed_targets(const HistoryCells& tape,
                                       std::span<const ValueId> operands);

}  // namespace gt::grad
