// The key part=START/WHOLE, which says that a tensor is a block of a larger
// one: part=64,0/128,10 is the block that begins at [64,0] of a whole of
// [128,10]. gt writes it where the split= of a placed line was replaced by what
// one rank computes.
#pragma once

#include <optional>
#include <string_view>

#include "ops/call.h"

namespace gt {

struct Part {
  Shape start;  // where the block begins
  Shape whole;  // the sizes of the whole

  // True if a block of that shape is all of the whole.
  bool is_whole(const Shape& block) const { return whole == block; }
  // Returns the row-major index, in the whole, of the block's first element.
  int64_t first() const;
};

// Reads "64,0/128,10", or "/" for a scalar. Returns nothing if the text is not
// of that form.
std::optional<Part> parse_part(std::string_view text);

// True if the op has a required key shape=, as reshape does: then shape= is a
// constant of the op's own. For other ops shape= only states the whole's sizes,
// beside split=.
bool states_sizes(const Op& op);

// Returns the shape of the tensor that part= is about: result 0, or the operand
// that Row::part_operand names.
const Shape& part_block(const Call& call);

// Returns the part= of a call; without the key the block is the whole. Errors:
// another number of dimensions than the block has, or a block that does not lie
// within the whole.
Result<Part> part_of(const Call& call);

}  // namespace gt
