// An end is the type on a mesh axis (R, I, V, P or S; spmd/placement.h) that an
// op between ranks takes or gives: what its keys src= and dst= name. This file
// has the table of the pairs of ends that each op connects.
//
// Source: spmd_types 0.2 (meta-pytorch/spmd_types), its table of collectives
// and conversions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ops/op.h"

namespace gt {

// "R", "I", "V", "P", "S0", "S-1" (the last dimension).
struct End {
  char letter = 'R';
  int64_t dim = 0;  // for S: the sharded dimension; negative: from the end
};
// Parses the text of an end. Errors: it is none of these.
Result<End> parse_end(std::string_view text);

// True if both ends are the same type of a tensor with `dims` dimensions.
bool is_same_end(const End& a, const End& b, size_t dims);
// True if each rank's piece can stay as it is: the ends are the same, or one is
// V and the other S, which both mean that each rank has a piece of its own.
bool keeps_pieces(const End& src, const End& dst, size_t dims);

// The treatment that an op gives a pair of ends.
enum class EndsUse : uint8_t {
  kConnected,  // the op makes the one from the other
  kKept,       // the pieces stay as they are, which the op allows
  kGated,      // as kConnected, but rarely meant: needs expert=1
  kUndefined,  // for an op such as convert, in which no rank reads another's
               // piece: this pair needs an op that communicates
  kForeign     // the op does not connect these ends
};
EndsUse use_of_ends(const Op& op, const End& src, const End& dst, size_t dims);

// Returns the pairs that the op connects, in words: "P or V to R or I".
std::string connected_ends(const Op& op);
// Returns the op that connects the ends, for a message about one that does not;
// "" if there is none.
std::string_view op_between(const End& src, const End& dst);

}  // namespace gt
