// The one list of op families. A family is a file of rows (op.h); a new one
// needs its file and its two lines here.
#pragma once

#include "ops/op.h"

namespace gt {

extern const Family kCreation;
extern const Family kPointwise;
extern const Family kElementary;
extern const Family kComparisons;
extern const Family kActivations;
extern const Family kReductions;
extern const Family kStatistics;
extern const Family kOrdering;
extern const Family kProducts;
extern const Family kLayout;
extern const Family kIndexing;
extern const Family kLookups;
extern const Family kWindows;
extern const Family kPools;
extern const Family kLosses;
extern const Family kNetworks;
extern const Family kNorms;
extern const Family kAttention;
extern const Family kPositions;
extern const Family kOptimizers;
extern const Family kRanks;
extern const Family kOutput;

inline constexpr const Family* kFamilies[] = {
    &kCreation,   &kPointwise,  &kElementary, &kComparisons, &kActivations,
    &kReductions, &kStatistics, &kOrdering,   &kProducts,    &kLayout,
    &kIndexing,   &kLookups,    &kWindows,    &kPools,       &kNetworks,
    &kLosses,     &kNorms,      &kAttention,  &kPositions,   &kOptimizers,
    &kRanks,      &kOutput,
};

// The indices that many rows have.
inline constexpr char kOneIndex[] = "...->...";
inline constexpr char kTwoIndex[] = "...,...->...";
inline constexpr char kReduceIndex[] = "...r->...";

}  // namespace gt
