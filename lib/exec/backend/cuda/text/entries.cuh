// Names for entries of Args (common.cuh): those that are read by kernels over
// lines, kernels over rows and reductions, and written by their plans. Both
// sides include this file, which is both C++ and CUDA C++.
#pragma once

namespace gt::entry {

// Entries of Args::n for a tensor that is taken as lines along an axis, see
// Lines of view.h. They come first in all kernels over lines or rows.
enum Line : int { kLines, kLineSize, kLineStep, kBehindLines };

// Entry of Args::n in sorting: the length of the runs that are merged.
enum Sort : int { kRunLength = kBehindLines };

// Entry of Args::n in reductions and in kernels over rows: the number that a
// total, or a gradient, is divided by.
enum Divisor : int { kDivisor = 4 };

// Entries of Args::n in running sums, which are divided by nothing.
enum Scan : int {
  kScanParts = kDivisor + 1,  // parts that a line is cut into
  kScanPartSize,              // elements of a part, but for the last
  kScanIsWhole,               // whether all packs are whole
};

// Entries of Args::n in norms.
enum Norm : int {
  kEps = kBehindLines,          // the bits of an f64
  kRowsOfBlock = kDivisor + 1,  // only in gradients, like the next entry
  kRowBlocks,                   // number of blocks
};

// Entries of Args::in in kernels whose rows may be computed: the first kForRows
// are for the operands that the rows are computed from, and the others are
// those of norms.
enum RowOperand : int { kForRows = 6, kWeight = kForRows, kBias };

// Entries of Args::n in reductions.
enum Reduction : int {
  kResults,                 // unless by columns
  kBlocks = kResults,       // by columns
  kReduced,                 // elements that each result is made of
  kParts,                   // parts that these elements are cut into
  kPartSize,                // elements of a part
  kIsWhole = kDivisor + 1,  // whether all packs are whole
  // Unless by columns: two places, as place() reads them, for a result's first
  // element and for an element within a result.
  kPlaces,
  // By columns:
  kLanes = kPlaces,
  kWidth,  // number of results side by side
  kTiles,  // tiles that these results are cut into
  // Two places, for the first of the results that are side by side, and for a
  // row.
  kColumnPlaces,
};

}  // namespace gt::entry
