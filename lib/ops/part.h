// Blocks of a whole, as part=START/WHOLE states them: part=64,0/128,10 is the
// block of a [128,10] that begins at [64,0].
#pragma once

#include <optional>
#include <string_view>

#include "ops/call.h"

namespace gt {

struct Part {
  Shape start;  // where the block begins
  Shape whole;  // the sizes of the whole

  // The block is all there is.
  bool is_whole(const Shape& block) const { return whole == block; }
  // Row-major index in the whole of the block's first element.
  int64_t first() const;
};

// "64,0/128,10"; "/" of a scalar.
std::optional<Part> parse_part(std::string_view text);

// Whether the op states its result's sizes by a shape= of its own: beside
// split= these are the whole's.
bool states_sizes(const Op& op);

// The shape that the key part= of a call speaks of: its result's or, where the
// row says so, an operand's.
const Shape& part_block(const Call& call);

// The call's part=; without the key the block is the whole. Errors: another
// number of dimensions, a block that leaves the whole.
Result<Part> part_of(const Call& call);

}  // namespace gt
