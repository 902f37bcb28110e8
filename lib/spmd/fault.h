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
// names the members of TypeFault that it sets besides `axes`: x stands for
// `operand`, d for `dim`, "result" for `result`; n, m, `size`, `is` and the
// others are members of these names. check/rule_words.cc has the words for each
// rule.
enum class Rule : uint8_t {
  // Names and shapes; `text` is the message of the code that reads them.
  kUnknownAxis,
  kNoMesh,
  kRanksUnfit,
  kGroupRanks,
  kShapesUnfit,

  // An operand is read on some of its ranks; x.
  kSumPartlyRead,
  kExtremePartlyRead,
  kShardsPartlyRead,
  kLocalInside,  // a local axis within a global one, `to`

  // A type is moved to another mesh; `axes` are those that go, `to` those that
  // come. For one group of axes, `from` and `to` are those of the group.
  kRemeshSizes,
  kRemeshLetters,  // `seen`
  kRemeshRanks,
  kRemeshSpec,   // `seen`
  kRemeshClaim,  // `wanted`, `is`

  // Operands before the line joins them; x.
  kLacksType,
  kExtremeRead,
  kVaryingUnsaid,

  // The local join (join.h).
  kInvariantMixed,
  kSumVaries,
  kSumNonlinear,
  kSumAffine,
  kSumProduct,
  kSumDivides,

  // split= of a line, and what is written.
  kSplitUnlike,   // `stated`, `seen`
  kSumWritten,    // x
  kPiecesUnlike,  // result, `seen`

  // Claims.
  kClaimParts,     // `text`, n parts, m results
  kAxisTwice,      // `more`: the axis's name
  kAxesOverlap,    // `text`: the claim, `more`: the name of its first axis
  kClaimRange,     // d of n
  kClaimedTwice,   // d
  kSpecLength,     // n entries, m dimensions
  kSpecBoth,       // d
  kClaimUnlike,    // `wanted` d, `is` sharded on m; n: 1 for a source
  kClaimOtherDim,  // d, which is n
  kClaimTaken,     // d, `seen`
  kSpecLetter,     // `is`
  kSpecTwice,
  kSpecOtherDim,    // d, which is n
  kSpecUnlike,      // `seen`
  kPartialCopies,   // `seen`
  kPartialOneCopy,  // `seen`

  // Gradients.
  kOptimizerUnlike,  // x: the gradient, `seen`: the parameter
  kGradientUnlike,   // `seen`: what #grad= names, `stated`: the gradient
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
  kSplitSizes,      // the ends have no dimension
  kSplitExchange,   // the exchange is not from S0 to S0
  kOtherExtreme,    // `is` pending: 'x' max, 'n' min
  kExtremeOfShard,  // `text`: op=
  kExtremeOfOther,  // `text`: op=, `is`
  kShardsSummed,    // d
  kSourceUnlike,    // `is`, d: the dimension that is sharded; -1: none
  kRetypeUnlike,    // as kSourceUnlike
  kMixedPolicy,
  kShardsOverSeveral,
  kTargetUnsaid,
  kSourceOtherDim,  // d
  kNotInnermost,    // d, `to`: the innermost axis
  kCutUneven,       // d of size n over m ranks
  kPiecesUneven,    // d
  kGroupOrder,
  kBroadcastsOther,  // `is`, 'S' for shards
  kReducesOther,     // as kBroadcastsOther
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
  kOtherShards,  // d, which would have to be n; -1: none
  kAddedWhole,   // `is`
  kReadWhole,    // d, `is`
  kSplitUnsaid,  // d
  kResultWhole,  // result
  kPartialUnsaid,
  kTableCut,        // x: the table, or -1 and `seen`: the result
  kPlaceUnsaid,     // as kTableCut
  kSplitUnmatched,  // d
  kNestedBothWays,  // `to`: the other axis, `stated`
  kNestingUnsaid,   // `to`: the other axis
  kPieceDims,
  // Rank n has m indices of dimension d of `text`; `size` of them would match
  // `more`. If `more` is `text` itself, m is no multiple of `size`.
  kCutUnlike,
  kRegroupUnlike,
};
inline constexpr Rule kLastRule = Rule::kRegroupUnlike;

// One fault. Which members are set depends on the rule.
struct TypeFault {
  Rule rule;
  std::vector<Axis> axes = {};  // the axes that it is on; may be empty
  int operand = -1;             // its index on the line
  int result = -1;
  int64_t dim = -1;
  int64_t n = -1, m = -1, size = -1;
  char is = 0, wanted = 0;  // letters
  std::vector<Axis> from = {}, to = {};
  Placement seen = {}, stated = {};
  std::string text = {}, more = {};
  size_t column = 0;  // where in the line `text` applies; 0: unknown
};

// The faults of a line, in the order in which they are found.
class TypeFaults {
 public:
  // Adds a fault. Returns false, so that a rule can return the result and so
  // stop.
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
