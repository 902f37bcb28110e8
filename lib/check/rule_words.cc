#include "check/rule_words.h"

#include <cstddef>
#include <iterator>

namespace gt::check {
namespace {

constexpr RuleWords kWords[] = {
    {Rule::kUnknownAxis, "axis-unknown", "{text}"},
    {Rule::kNoMesh, "no-mesh", "{text}"},
    {Rule::kRanksUnfit, "ranks", "{text}"},
    {Rule::kGroupRanks, "ranks", "{text}",
     "a rank of a group does not take part, and the others would wait for it"},
    {Rule::kShapesUnfit, "shape", "{text}"},

    {Rule::kSumPartlyRead, "part-nonlin",
     "{x} is a pending sum (P), and only some of its summands are read"},
    {Rule::kExtremePartlyRead, "partial-op",
     "{x} awaits the extreme of all ranks"},
    {Rule::kShardsPartlyRead, "shard-prop",
     "only some of the shards of {x} are read"},
    {Rule::kLocalInside, "local-prefix", "a local axis inside of {to}",
     "local axes are the outermost ones of the mesh"},

    {Rule::kRemeshSizes, "remesh-region",
     "axes {from} and {to} do not cover the same ranks{missing}"},
    {Rule::kRemeshLetters, "remesh-mixed",
     "axes {from} become {to}, but have different types: {seen}"},
    {Rule::kRemeshRanks, "remesh-region",
     "axes {from} and {to} are not the same ranks"},
    {Rule::kRemeshSpec, "remesh-spec",
     "spec {seen-spec} is no sequence of whole groups of {axes}"},
    {Rule::kRemeshClaim, "assert", "claimed {wanted}, but it is {is}"},

    {Rule::kLacksType, "axis-missing", "{X} has no type on it{elsewhere}"},
    {Rule::kExtremeRead, "partial-op", "{x} is the extreme of a shard",
     "all_reduce op=max (min) over the axis must read it first"},
    {Rule::kVaryingUnsaid, "vary-global",
     "{x} is V, but no dimension of it is sharded",
     "claim Si, or reinterpret V>P, or use #local"},

    {Rule::kInvariantMixed, "inv-mix",
     "I goes with nothing but I, found {found}",
     "the gradient of an I is one computation's, that of the others has to be "
     "added up over the ranks"},
    {Rule::kSumVaries, "part-vary",
     "a pending sum (P) beside values of each rank's own, found {found}",
     "what differs by rank is no factor or summand of the whole sum"},
    {Rule::kSumNonlinear, "part-nonlin", "takes whole values, found {found}",
     "f(a + b) is not f(a) + f(b): the sum has to be taken before"},
    {Rule::kSumAffine, "part-affine", "every summand must be P, found {found}",
     "the summand that is not P would be added once per rank, {ranks} times in "
     "all"},
    {Rule::kSumProduct, "part-multi", "one factor may be P, found several",
     "the product of two sums is not the sum of the ranks' products"},
    {Rule::kSumDivides, "part-divisor",
     "the divisor must not be P, found {found}",
     "a / (b + c) is not a / b + a / c"},

    {Rule::kSplitUnlike, "spec-conflict",
     "split= cuts by {stated-spec}, but the tensor is {seen}",
     "pieces would be put together in another way than they were cut"},
    {Rule::kSumWritten, "part-nonlin",
     "{x} is a pending sum (P): what is written is a summand",
     "its ranks hold summands of the value"},
    {Rule::kPiecesUnlike, "uneven",
     "the pieces of {r} are not those of {seen}"},

    {Rule::kClaimParts, "spec-len",
     "the claim {text} speaks of {n} results, the line has {m}"},
    {Rule::kAxisTwice, "overlap", "the axis is typed twice"},
    {Rule::kAxesOverlap, "overlap",
     "axes of one type share ranks without being independent: {text}"},
    {Rule::kClaimRange, "shard-range", "S{d} of a tensor of {n} dimensions"},
    {Rule::kClaimedTwice, "shard-dup",
     "dimension {d} is claimed by two axes; #spec= says which is the outer"},
    {Rule::kSpecLength, "spec-len",
     "the spec has {n} entries, the tensor {m} dimensions"},
    {Rule::kSpecBoth, "spec-both", "S{d} stands beside #spec="},
    {Rule::kClaimUnlike, "assert",
     "claimed {claimed}, but it is {is}{sharded}{cutter}"},
    {Rule::kClaimOtherDim, "spec-conflict",
     "claimed to shard dimension {d}, but it shards {n}"},
    {Rule::kClaimTaken, "spec-conflict",
     "dimension {d} is sharded already, by {seen-spec}"},
    {Rule::kSpecLetter, "spec-type", "#spec= names the axis, which is {is}"},
    {Rule::kSpecTwice, "shard-dup", "#spec= names the axis twice"},
    {Rule::kSpecOtherDim, "spec-conflict",
     "#spec= has it on dimension {d}, but it shards {n}"},
    {Rule::kSpecUnlike, "spec-conflict",
     "#spec= contradicts what is known, {seen-spec}"},
    {Rule::kPartialCopies, "partial-repl",
     "no sharded dimension was contracted: the result is {seen}"},
    {Rule::kPartialOneCopy, "partial-inv",
     "no sharded dimension was contracted: the result is {seen}"},

    {Rule::kOptimizerUnlike, "dual",
     "the parameter is {seen}, its gradient {types}",
     "a collective over {axis} is missing or too many"},
    {Rule::kGradientUnlike, "dual",
     "{target} is {seen}, but its gradient is {stated}", "wanted {gradient}"},
    {Rule::kNarrowSum, "low-prec",
     "the gradient is summed over {n} ranks in less than 32 bits, and bwd= "
     "does not say so",
     "write bwd=f32, or the dtype that is meant"},
    {Rule::kLossCopies, "loss",
     "{x} is R, and a loss must be I or P on every axis",
     "reduce to I instead, or skip the reduction"},
    {Rule::kLossVaries, "loss",
     "{x} is V, and a loss must be I or P on every axis",
     "reinterpret V>P: the losses add up"},

    {Rule::kEndUnread, "src-dst", "{text}"},
    {Rule::kEndsForeign, "src-dst", "{ends}: {op} connects {connected}"},
    {Rule::kEndsGated, "expert", "{ends}: {gate}"},
    {Rule::kEndsUndefined, "undefined", "{ends}: use {between}",
     "the value cannot be known without communication"},
    {Rule::kEndRange, "shard-range", "{ends}: dimension {d} of {n}"},
    {Rule::kDimConflict, "dim-conflict",
     "{text}={stated-key} contradicts {ends}",
     "Si says the dimension; leave the key out"},
    {Rule::kSplitSizes, "splits",
     "split_sizes= are lengths along a dimension, and {ends} names none that "
     "they fit",
     "say which, as S0 in place of V"},
    {Rule::kSplitExchange, "splits",
     "split_sizes= are lengths along a dimension, and {ends} names none that "
     "they fit",
     "they go with src=S0 dst=S0"},
    {Rule::kOtherExtreme, "partial-op",
     "{x} is the extreme of a shard: only all_reduce op={extreme} may read it"},
    {Rule::kExtremeOfShard, "partial-op",
     "op={text} reads V, and {X} is sharded"},
    {Rule::kExtremeOfOther, "src-type", "op={text} reads V, and {X} is {is}",
     "{only-sum}"},
    {Rule::kShardsSummed, "src-type",
     "{X} is sharded on dimension {d}, and shards are no summands",
     "if each rank's piece is meant as a summand of its own, say src=V"},
    {Rule::kSourceUnlike, "src-type", "src={src}, but {X} is {is}",
     "{added-up}"},
    {Rule::kRetypeUnlike, "retype", "src={src}, but {X} is {is}", "{added-up}"},
    {Rule::kMixedPolicy, "mixed-policy",
     "some axes of the group are local and some are global"},
    {Rule::kShardsOverSeveral, "vary-global",
     "over several axes only sums are taken; shards move axis by axis",
     "go axis by axis, the innermost first"},
    {Rule::kTargetUnsaid, "vary-global",
     "dst=V says of no dimension that it is sharded", "say which, as dst=S0"},
    {Rule::kSourceOtherDim, "shard-src",
     "src={src-end}, but {X} is sharded on dimension {d}"},
    {Rule::kNotInnermost, "not-innermost",
     "dimension {d} is sharded by {x-spec}, innermost by {to}",
     "only the innermost axis of a dimension may move"},
    {Rule::kCutUneven, "uneven",
     "dimension {d} of size {n} is no multiple of {m}",
     "say split= and shape=, or split_sizes="},
    {Rule::kPiecesUneven, "uneven", "the pieces differ along dimension {d}",
     "say split= and shape=, or split_sizes="},
    {Rule::kGroupOrder, "shard-order",
     "the group's ranks are {group}, and pieces would come in that order, not "
     "in the axis's",
     "without over= a group has its ranks as they are written"},
    {Rule::kBroadcastsOther, "src-type",
     "{op} spreads the root's own piece, but {X} is {letter}"},
    {Rule::kReducesOther, "src-type",
     "{op} adds up summands, but {X} is {letter}"},
    {Rule::kCopyDrops, "src-type",
     "{X} is {is} on an axis along which the copy does not extend",
     "reduce or gather it before"},
    {Rule::kCopyReorders, "src-type",
     "{X} changes the order of its {parts} along the axis"},
    {Rule::kSpecTextLength, "spec-len", "{text}"},
    {Rule::kSpecSource, "shard-src", "src_spec={src-spec}, but {X}"},
    {Rule::kSpecLetters, "src-type", "{X} is {is}"},

    {Rule::kWholesUnlike, "shard-prop",
     "the operands' wholes do not go together: {wholes}"},
    {Rule::kOneGoes, "reshape-ambig",
     "dimension {d} of {x} is sharded with one element a rank, which goes"},
    {Rule::kOneStays, "reshape-ambig",
     "dimension {d} of {x} is sharded with one element a rank, and which of "
     "the result's it becomes is not said",
     "say split= and shape= of the whole"},
    {Rule::kNotAdditive, "partial-op",
     "dimension {d} of {x} is sharded, and the shards' results do not add up",
     "take the sum, reduce it, and divide by the global count; or gather "
     "first"},
    {Rule::kMustBeWhole, "shard-prop",
     "dimension {d} of {x} is sharded, but it must be whole here",
     "gather it before (all_gather src=S{d} dst=R), or shard another dimension "
     "(all_to_all)"},
    {Rule::kOtherShards, "shard-prop",
     "the operands are sharded on different dimensions: {wholes}",
     "all_to_all moves one of them"},
    {Rule::kAddedWhole, "shard-prop",
     "{x} would be added to a pending sum once per rank",
     "add it after the reduction, or convert it R>P and add"},
    {Rule::kReadWhole, "shard-prop",
     "{x} has the sharded dimension whole: {wholes}",
     "convert src=R dst=S{d} cuts it without communication, all_gather makes "
     "the other whole"},
    {Rule::kSplitUnsaid, "reshape-split",
     "the sharded dimension {d} of {x} is split",
     "state the result's cut, as in split={axis}:{d} with the whole shape"},
    {Rule::kResultWhole, "shard-prop",
     "result {r} needs the sharded dimension whole: {wholes}"},
    {Rule::kPartialUnsaid, "partial-implicit",
     "a sharded dimension is contracted and nothing says so",
     "write #partial={axis}"},
    {Rule::kTableCut, "shard-prop",
     "the table is sharded on the dimension that is indexed: {wholes}",
     "say split= and shape= of the table, so that indices of other ranks' rows "
     "give zeros"},
    {Rule::kPlaceUnsaid, "shard-prop",
     "what is computed depends on which part of the whole a rank has: "
     "{wholes}",
     "say split= and shape= of the whole; without them each rank takes its "
     "piece for all there is{heads}"},
    {Rule::kSplitUnmatched, "spec-conflict",
     "split= cuts dimension {d} of the result, but no operand is sharded so: "
     "{wholes}"},
    {Rule::kNestedBothWays, "shard-order",
     "{axis}+{to} and {to}+{axis} nest differently: {wholes}"},
    {Rule::kNestingUnsaid, "shard-order",
     "axes {axis} and {to} meet on one dimension, and nothing says which is "
     "the outer"},
    {Rule::kPieceDims, "shard-prop",
     "a piece comes out with other dimensions than the whole: {wholes}"},
    {Rule::kCutUnlike, "uneven",
     "rank {n} has {m} of dimension {d} of {text}, {match}",
     "operands that are sharded alike must be cut alike"},
    {Rule::kRegroupUnlike, "reshape-split",
     "rank {n} has {m} of dimension {d} of {text}, {match}",
     "operands that are sharded alike must be cut alike"},
};

constexpr bool is_in_order() {
  for (size_t i = 0; i < std::size(kWords); ++i) {
    if (kWords[i].rule != static_cast<Rule>(i)) return false;
  }
  return std::size(kWords) == static_cast<size_t>(kLastRule) + 1;
}
static_assert(is_in_order(), "each rule has words, in the order of the rules");

}  // namespace

const RuleWords& rule_words(Rule rule) {
  return kWords[static_cast<size_t>(rule)];
}

}  // namespace gt::check
