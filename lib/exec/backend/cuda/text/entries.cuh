// Names of entries of Args (common.cuh): those that kernels over lines, kernels
// over rows and reductions read, and that their plans write. Both sides include
// this file, which is C++ and CUDA C++ alike.
#pragma once

namespace gt::entry {

// Of Args::n, where a tensor is taken as lines along an axis, see Lines of
// view.h. They come first in all kernels over lines or rows.
enum Line : int { kLines, kLineSize, kLineStep, kBehindLines };

// Of Args::n, in sorting: the length of the runs that are merged.
enum Sort : int { kRunLength = kBehindLines };

// Of Args::n, in reductions and in kernels over rows: what a total, or a
// gradient, is divided by.
enum Divisor : int { kDivisor = 4 };

// Of Args::n, in norms.
enum Norm : int {
  kEps = kBehindLines,          // the bits of an f64
  kRowsOfBlock = kDivisor + 1,  // of gradients alone, as the next one
  kRowBlocks,                   // how many blocks have so many rows
};

// Of Args::in, in kernels over rows that may be computed: the first kForRows are
// for what the rows are computed from, and the others are those of norms.
enum RowOperand : int { kForRows = 6, kWeight = kForRows, kBias };

// Of Args::n, in reductions.
enum Reduction : int {
  kResults,                 // not by columns
  kBlocks = kResults,       // by columns
  kReduced,                 // the elements that each result is made of
  kParts,                   // that these are cut into
  kPartSize,                // elements of a part
  kIsWhole = kDivisor + 1,  // whether all packs are whole
  // Not by columns: the places of a result's first element and of an element
  // within it, as place() reads them.
  kPlaces,
  // By columns.
  kLanes = kPlaces,
  kWidth,  // results side by side
  kTiles,  // that these are cut into
  // The places of the first of the results side by side, and of a row.
  kColumnPlaces,
};

}  // namespace gt::entry
