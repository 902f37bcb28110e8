// A fault of a line's types (R, I, V, P, S), as a value: which rule the line
// breaks, on which axis and with which operand. gt-check words it and suggests
// remedies (check/words.h, check/remedies.h); other programs only ask whether
// there is a fault.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spmd/placement.h"

namespace gt {

// The rules, grouped by the stage that applies them. The comment behind a rule
// names the members of TypeFault that it sets beside `axes`: x stands for
// `operand`, d for `dim`, "result" for `result`; n, m, `size`, `is` and the
// others are members of these names. The words for each rule are in
// check/words.h.
enum class Rule : uint8_t {
  // Names and shapes; `text` is the error of who reads them.
  kUnknownAxis,
  kNoMesh,
  kRanksUnfit,
  kGroupRanks,
  kShapesUnfit,

  // An operand on some of its ranks; x.
  kSumPartlyRead,
  kExtremePartlyRead,
  kShardsPartlyRead,
  kLocalInside,  // a local axis within a global one, which is `to`

  // A type moved to another mesh; `axes`: those that go, `to`: those that
  // come, or, of one group, `from` and `to`.
  kRemeshSizes,
  kRemeshLetters,  // `seen`
  kRemeshRanks,
  kRemeshSpec,   // `seen`
  kRemeshClaim,  // `wanted`, `is`

  // What operands are before the line joins them; x.
  kLacksType,
  kExtremeRead,
  kVaryingUnsaid,

  // The local join.
  kInvariantMixed,
  kSumVaries,
  kSumNonlinear,
  kSumAffine,
  kSumProduct,
  kSumDivides,

  // split= of what is put together, and what is written.
  kSplitUnlike,   // `stated`, `seen`
  kSumWritten,    // x
  kPiecesUnlike,  // result, `seen`

  // Claims.
  kClaimParts,     // `text`, n parts, m results
  kAxisTwice,      // `text`: the axis's name
  kAxesOverlap,    // `text`: the axis's name, `more`: the claim
  kClaimRange,     // d of n
  kClaimedTwice,   // d
  kSpecLength,     // n entries, m dimensions
  kSpecBoth,       // d
  kClaimUnlike,    // `wanted` d, `is` sharded on m; n: 1 of a source
  kClaimOtherDim,  // d, which is n
  kClaimTaken,     // d, `seen`
  kSpecLetter,     // `is`
  kSpecTwice,
  kSpecOtherDim,    // d, which is n
  kSpecUnlike,      // `seen`
  kPartialCopies,   // `seen`
  kPartialOneCopy,  // `seen`

  // Gradients.
  kOptimizerUnlike,  // x the gradient, `seen` the parameter
  kGradientUnlike,   // `seen` what #grad= names, `stated` the gradient
  kNarrowSum,        // n ranks
  kLossCopies,       // x
  kLossVaries,       // x

  // Collectives; x is their operand.
  kEndUnread,  // `text`
  kEndsForeign,
  kEndsGated,
  kEndsUndefined,
  kEndRange,        // d of n
  kDimConflict,     // `text`: the key
  kSplitSizes,      // of an end without a dimension
  kSplitExchange,   // of an exchange that is not S0 to S0
  kOtherExtreme,    // `is` pending: 'x' max, 'n' min
  kExtremeOfShard,  // `text`: op=
  kExtremeOfOther,  // `text`: op=, `is`
  kShardsSummed,    // d
  kSourceUnlike,    // `is`, d that is sharded; -1: none
  kRetypeUnlike,    // likewise
  kMixedPolicy,
  kShardsOverSeveral,
  kTargetUnsaid,
  kSourceOtherDim,  // d
  kNotInnermost,    // d, `to`: the innermost axis
  kCutUneven,       // d of size n over m ranks
  kPiecesUneven,    // d
  kGroupOrder,
  kBroadcastsOther,  // `is`, 'S' of shards
  kReducesOther,     // likewise
  kCopyDrops,        // `is`
  kCopyReorders,     // `is`
  kSpecTextLength,   // `text`
  kSpecSource,
  kSpecLetters,  // `is`

  // Where shards go; x.
  kWholesUnlike,
  kOneGoes,      // d
  kOneStays,     // d
  kNotAdditive,  // d
  kMustBeWhole,  // d
  kOtherShards,  // d, which would be n; -1: none
  kAddedWhole,   // `is`
  kReadWhole,    // d, `is`
  kSplitUnsaid,  // d
  kResultWhole,  // result
  kPartialUnsaid,
  kTableCut,        // x the table, or -1 and `seen` the result
  kPlaceUnsaid,     // likewise
  kSplitUnmatched,  // d
  kNestedBothWays,  // `to`: the other axis, `stated`
  kNestingUnsaid,   // `to`: the other axis
  kPieceDims,
  // Rank n has m of d of `text`; `size` of it would match `more`, or it is no
  // multiple of `size` where that is `text` itself.
  kCutUnlike,
  kRegroupUnlike,
};
inline constexpr Rule kLastRule = Rule::kRegroupUnlike;

struct TypeFault {
  Rule rule;
  std::vector<Axis> axes = {};  // the axis that it is on, if it is on one
  int operand = -1;             // of the line
  int result = -1;
  int64_t dim = -1;
  int64_t n = -1, m = -1, size = -1;
  char is = 0, wanted = 0;  // letters
  std::vector<Axis> from = {}, to = {};
  Placement seen = {}, stated = {};
  std::string text = {}, more = {};
  size_t column = 0;  // of the line, where `text` is about; 0: not known
};

// The faults of a line, in the order in which they are found.
class TypeFaults {
 public:
  // Always false, so that a rule can return it and so stop.
  bool add(TypeFault fault) {
    found_.push_back(std::move(fault));
    return false;
  }
  bool any() const { return !found_.empty(); }
  auto begin() const { return found_.begin(); }
  auto end() const { return found_.end(); }

 private:
  std::vector<TypeFault> found_;
};

}  // namespace gt
