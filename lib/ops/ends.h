// The types that src= and dst= of an op between ranks name, and which pairs of
// them each op connects.
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

// "R", "I", "V", "P", "S0", "S-1".
struct End {
  char letter = 'R';
  int64_t dim = 0;  // of S
};
Result<End> parse_end(std::string_view text);

// Both are one type of a tensor with so many dimensions.
bool is_same_end(const End& a, const End& b, size_t dims);
// Each rank's piece stays as it is without any op's doing: the ends are one
// type, or both are pieces of the ranks' own, which V does not say where they
// belong and Si does.
bool keeps_pieces(const End& src, const End& dst, size_t dims);

// What an op does with a pair of ends.
enum class EndsUse : uint8_t {
  kConnected,
  kKept,       // the pieces stay, and the op lets them
  kGated,      // connected, but so rarely meant that it needs expert=1
  kUndefined,  // by another op alone: this one keeps each rank to itself
  kForeign     // not by this op
};
EndsUse use_of_ends(const Op& op, const End& src, const End& dst, size_t dims);

// "P or V to R or I": what the op connects.
std::string connected_ends(const Op& op);
// The op that connects the ends where another cannot.
std::string_view op_between(const End& src, const End& dst);

}  // namespace gt
